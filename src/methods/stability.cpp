#include "methods/stability.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "demix/random.hpp"

namespace demix {
namespace {

// 0, 1, 2, ... with mean 1: how often one of many is drawn when as many are drawn as there are.
double poisson(Random& random) {
  double left = random.uniform();
  double p = std::exp(-1);
  int k = 0;
  for (; k < 20 && left >= p; ++k, p /= k) left -= p;
  return k;
}

Vector<double> drawn_again(const Recording& X, Index frames, Random& random) {
  constexpr Index stretches = 1000;
  const Index length = std::max<Index>(1, frames / stretches);
  Vector<double> w(frames);
  for (Index start = 0; start < frames; start += length) {
    const Index now = std::min(length, frames - start);
    w.segment(start, now).setConstant(poisson(random));
    if (X.weights()) w.segment(start, now).array() *= X.weights()->segment(start, now).array();
  }
  return w;
}

// Rows of `similar` to columns, the most alike first.
std::vector<Index> matched(Matrix<double> similar) {
  std::vector<Index> row_of(static_cast<std::size_t>(similar.cols()));
  for (Index k = 0; k < similar.cols(); ++k) {
    Index row = 0;
    Index column = 0;
    similar.maxCoeff(&row, &column);
    row_of[static_cast<std::size_t>(column)] = row;
    similar.row(row).setConstant(-1);
    similar.col(column).setConstant(-1);
  }
  return row_of;
}

}  // namespace

void find_stability(const Method& method, const Recording& X, const MethodOptions& o, Model& model) {
  const Index d = model.components();
  const Index frames = X.weights() ? X.weights()->size() : model.samples;
  // In the model's own coordinates, where its outputs are white, an output is a vector, of length 1, and the
  // correlation of two is the product of theirs.
  std::vector<Matrix<double>> runs = {Matrix<double>::Identity(d, d)};
  for (Index r = 0; r < o.stability; ++r) {
    Random random(o.seed + static_cast<std::uint64_t>(r) + 1);
    MethodOptions again = o;
    again.stability = 0;
    again.progress = {};
    again.components = d;
    again.share = 0;
    again.start = random.normal(d, model.channels());
    const WeightedRecording part(X, drawn_again(X, frames, random));
    const Outcome out = method.batch(part, again);
    if (!out.ok || out.model.components() != d) continue;
    const Matrix<double> outputs = (out.model.unmixing * model.mixing).rowwise().normalized();
    const std::vector<Index> row_of = matched(outputs.cwiseAbs());
    Matrix<double> in_order(d, d);
    for (Index i = 0; i < d; ++i) in_order.row(i) = outputs.row(row_of[static_cast<std::size_t>(i)]);
    runs.push_back(in_order);
  }
  Matrix<double> alike = Matrix<double>::Zero(d, d);
  double pairs = 0;
  for (std::size_t a = 0; a < runs.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b, ++pairs) alike += (runs[a] * runs[b].transpose()).cwiseAbs();
  }
  if (pairs == 0) return;
  alike /= pairs;
  model.stability.resize(d);
  for (Index i = 0; i < d; ++i) {
    const double own = alike(i, i);
    const double other =
        d > 1 ? ((alike.row(i).sum() + alike.col(i).sum()) / 2 - own) / static_cast<double>(d - 1) : 0;
    model.stability(i) = own - other;
  }
}

}  // namespace demix
