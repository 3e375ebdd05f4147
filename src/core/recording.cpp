#include "demix/recording.hpp"

#include <algorithm>
#include <type_traits>

namespace demix {
namespace {

constexpr Index block = 1 << 12;

}  // namespace

template <typename T>
void MatrixRecording<T>::pass(const Visitor& visit) const {
  for (Index start = 0; start < X_.cols(); start += block) {
    const auto part = X_.middleCols(start, std::min(block, X_.cols() - start));
    if constexpr (std::is_same_v<T, double>) {
      visit(part);
    } else {
      visit(part.template cast<double>());
    }
  }
}
template class MatrixRecording<float>;
template class MatrixRecording<double>;

void pass(const Recording& recording, const ProgressCallback& progress, double from, double to,
          const Recording::Visitor& visit) {
  const auto all = static_cast<double>(recording.frames());
  double done = 0;
  recording.pass([&](const Frames<double>& part) {
    visit(part);
    done += static_cast<double>(part.cols());
    if (progress && all > 0) progress(from + (to - from) * std::min(1.0, done / all));
  });
}

Matrix<double> gather(const Recording& recording) {
  Matrix<double> all(recording.channels(), 0);
  Index frames = 0;
  recording.pass([&](const Frames<double>& part) {
    if (frames + part.cols() > all.cols()) {
      all.conservativeResize(Eigen::NoChange, std::max(2 * all.cols(), frames + part.cols()));
    }
    all.middleCols(frames, part.cols()) = part;
    frames += part.cols();
  });
  all.conservativeResize(Eigen::NoChange, frames);
  return all;
}

}  // namespace demix
