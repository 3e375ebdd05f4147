#include "files/bad_stretches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace demix {
namespace {

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

std::vector<double> row_of(const Matrix<double>& M, Index i) {
  const Vector<double> row = M.row(i).transpose();
  return {row.begin(), row.end()};
}

std::vector<double> medians_of_rows(const Matrix<double>& M) {
  std::vector<double> out;
  for (Index i = 0; i < M.rows(); ++i) out.push_back(median(row_of(M, i)));
  return out;
}

}  // namespace

WindowStatistics window_statistics(const Recording& recording, Index window) {
  WindowStatistics w;
  w.window = std::max<Index>(window, 2);
  const Index n = recording.channels();
  Matrix<double> X(n, w.window);
  Index windows = 0;
  const auto reading = recording.read();
  for (Index got = 0; (got = reading->next(X)) > 1; ++windows) {
    if (windows == w.span.cols()) {
      const Index more = std::max<Index>(64, 2 * windows);
      w.span.conservativeResize(n, more);
      w.deviation.conservativeResize(n, more);
      w.correlation.conservativeResize(n, more);
    }
    Matrix<double> centred = X.leftCols(got).colwise() - X.leftCols(got).rowwise().mean();
    const Vector<double> norm = centred.rowwise().norm();
    w.span.col(windows) = centred.rowwise().maxCoeff() - centred.rowwise().minCoeff();
    w.deviation.col(windows) = norm / std::sqrt(static_cast<double>(got));
    for (Index i = 0; i < n; ++i) centred.row(i) /= norm(i) > 0 ? norm(i) : 1;
    Matrix<double> alike = (centred * centred.transpose()).cwiseAbs();
    alike.diagonal().setZero();
    w.correlation.col(windows) = alike.rowwise().maxCoeff();
  }
  w.span.conservativeResize(n, windows);
  w.deviation.conservativeResize(n, windows);
  w.correlation.conservativeResize(n, windows);
  return w;
}

std::vector<BadChannel> bad_channels(const WindowStatistics& windows) {
  constexpr double flat = 0.01, large = 5, unlike = 0.25;
  constexpr std::size_t few = 8;
  const std::vector<double> sizes = medians_of_rows(windows.deviation);
  const std::vector<double> alike = medians_of_rows(windows.correlation);
  const double usual = median(sizes);
  std::vector<BadChannel> bad;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const auto channel = static_cast<Index>(i);
    if (sizes[i] <= flat * usual) {
      bad.push_back({channel, "flat"});
    } else if (sizes[i] > large * usual) {
      bad.push_back({channel, fmt::format("{:.1f} times as large as most", sizes[i] / usual)});
    } else if (alike[i] < unlike && sizes.size() >= few) {
      bad.push_back({channel, fmt::format("unlike all others (correlation {:.2f})", alike[i])});
    }
  }
  return bad;
}

std::vector<Segment> bad_stretches(const WindowStatistics& windows) {
  constexpr double all_channels = 6, one_channel = 30;
  const std::vector<double> usual = medians_of_rows(windows.span);
  std::vector<Segment> bad;
  for (Index k = 0; k < windows.span.cols(); ++k) {
    std::vector<double> times;
    for (std::size_t i = 0; i < usual.size(); ++i) {
      if (usual[i] > 0) times.push_back(windows.span(static_cast<Index>(i), k) / usual[i]);
    }
    if (times.empty() || (median(times) <= all_channels && std::ranges::max(times) <= one_channel)) continue;
    const Segment segment{k * windows.window, (k + 1) * windows.window};
    if (!bad.empty() && bad.back().end == segment.first) {
      bad.back().end = segment.end;
    } else {
      bad.push_back(segment);
    }
  }
  return bad;
}

}  // namespace demix
