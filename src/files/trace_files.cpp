#include "demix/trace_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace demix {
namespace {

namespace fs = std::filesystem;
using Rows = std::vector<NetworkTrace::Row>;
using Panel = report::CurvesFigure::Panel;

constexpr Index most_outputs = 7;    // as many as there are colours
constexpr std::size_t points = 256;  // of a curve

void append(std::vector<double>& values, const Matrix<double>& A) {  // row by row
  for (Index i = 0; i < A.rows(); ++i) {
    for (Index j = 0; j < A.cols(); ++j) values.push_back(A(i, j));
  }
}

Rows thinned(const Rows& rows) {
  const std::size_t stride = (rows.size() + points - 1) / points;
  Rows out;
  for (std::size_t k = 0; k < rows.size(); k += stride) out.push_back(rows[k]);
  return out;
}

// value(row, i) of each output, under its name.
template <typename Value>
void add_curves(Panel& panel, const Rows& rows, Index outputs, bool dots, const Value& value) {
  for (Index i = 0; i < std::min(outputs, most_outputs); ++i) {
    report::CurvesFigure::Curve curve{fmt::format("output {}", i + 1), {}, {}, {}, {}, dots};
    for (const NetworkTrace::Row& row : rows) {
      curve.x.push_back(static_cast<double>(row.frame));
      curve.y.push_back(value(row, i));
    }
    panel.curves.push_back(curve);
  }
}

// Without extension, of picture k of so many.
fs::path picture_base(const fs::path& file, std::size_t k, std::size_t pictures) {
  const fs::path base = fs::path(file).replace_extension();
  return pictures == 1 ? base : fs::path(base.string() + fmt::format("-{}", k + 1));
}

Panel panel_of(const std::string& title, const std::string& y) {
  return {title, "frame", y, false, false, {}, {}};
}

}  // namespace

std::vector<io::Array> trace_arrays(const NetworkTrace& trace, const std::string& prefix) {
  const Rows rows = trace.rows();
  const auto n = static_cast<Index>(rows.size());
  const NetworkMoment first = n > 0 ? rows[0].moment : NetworkMoment{};
  const Index d = first.y.size();
  io::Array frame{prefix + "frame", {n}, {}};
  io::Array W{prefix + "W", {n, d, first.W.cols()}, {}};
  io::Array M{prefix + "M", {n, d, d}, {}};
  io::Array c{prefix + "c", {n, d}, {}};
  io::Array y{prefix + "y", {n, d}, {}};
  io::Array modulator{prefix + "modulator", {n}, {}};
  io::Array ltp{prefix + "ltp", {n}, {}};
  for (const NetworkTrace::Row& row : rows) {
    frame.values.push_back(static_cast<double>(row.frame));
    append(W.values, row.moment.W);
    append(M.values, row.moment.M);
    append(c.values, row.moment.c);
    append(y.values, row.moment.y);
    modulator.values.push_back(row.moment.modulator);
    ltp.values.push_back(row.ltp);
  }
  return {frame, {prefix + "stride", {}, {static_cast<double>(trace.stride())}}, W, M, c, y, modulator, ltp};
}

report::CurvesFigure trace_figure(const NetworkTrace& trace, const std::string& title) {
  const Rows all = trace.rows();
  if (all.empty()) throw std::invalid_argument("trace: expected at least one frame, got none");
  const Rows rows = thinned(all);
  const Index d = rows[0].moment.y.size();
  const Index inputs = std::min(rows[0].moment.W.cols(), most_outputs);

  Panel W = panel_of("feedforward weights", "Wᵢⱼ");
  Panel M = panel_of("lateral weights", "Mᵢⱼ");
  for (Index j = 0; j < inputs; ++j) {
    add_curves(W, rows, d, false, [j](const NetworkTrace::Row& r, Index i) { return r.moment.W(i, j); });
  }
  for (Index j = 0; j < std::min(d, most_outputs); ++j) {
    add_curves(M, rows, d, false, [j](const NetworkTrace::Row& r, Index i) { return r.moment.M(i, j); });
  }
  Panel c = panel_of("dendritic currents", "cᵢ");
  Panel y = panel_of("outputs", "yᵢ");
  add_curves(c, rows, d, true, [](const NetworkTrace::Row& r, Index i) { return r.moment.c(i); });
  add_curves(y, rows, d, true, [](const NetworkTrace::Row& r, Index i) { return r.moment.y(i); });
  Panel modulator = panel_of("modulator", "w(‖y‖²)");
  Panel ltp = panel_of("potentiation", "share of LTP");
  report::CurvesFigure::Curve all_outputs{"whole network", {}, {}, {}, {}, true};
  report::CurvesFigure::Curve shares = all_outputs;
  for (const NetworkTrace::Row& row : rows) {
    all_outputs.x.push_back(static_cast<double>(row.frame));
    all_outputs.y.push_back(row.moment.modulator);
    shares.y.push_back(row.ltp);
  }
  shares.x = all_outputs.x;
  modulator.curves = {all_outputs};
  ltp.curves = {shares};
  return {.title = title, .panels = {W, M, c, y, modulator, ltp}};
}

std::vector<fs::path> trace_paths(const fs::path& file, std::size_t pictures) {
  if (file.empty()) return {};
  std::vector<fs::path> paths{file};
  for (std::size_t k = 0; k < pictures; ++k) {
    const fs::path base = picture_base(file, k, pictures);
    paths.emplace_back(base.string() + ".png");
    paths.emplace_back(base.string() + ".svg");
  }
  return paths;
}

std::vector<fs::path> draw_traces(const fs::path& file, const std::vector<TitledTrace>& traces) {
  std::vector<fs::path> drawn;
  for (std::size_t k = 0; k < traces.size(); ++k) {
    const auto& [title, trace] = traces[k];
    const std::string stride = trace->stride() == 1 ? "" : fmt::format(", every {} frames", trace->stride());
    for (const fs::path& picture :
         report::draw(trace_figure(*trace, title + stride), picture_base(file, k, traces.size()))) {
      drawn.push_back(picture);
    }
  }
  return drawn;
}

}  // namespace demix
