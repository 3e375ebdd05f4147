#include "methods/stability.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/warnings.hpp"
#include "demix/random.hpp"

namespace demix {
namespace {

// The recording in two: each of a thousand stretches of it is in the one half or the other, as chance has it.
std::array<std::vector<Segment>, 2> in_halves(Index frames, Random& random) {
  constexpr Index stretches = 1000;
  const Index length = std::max<Index>(1, frames / stretches);
  std::array<std::vector<Segment>, 2> halves;
  for (Index start = 0; start < frames; start += length) {
    halves[random.uniform() < 0.5 ? 0 : 1].push_back({start, std::min(start + length, frames)});
  }
  return halves;
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

// The outputs of `again`, each where the one it is most alike is in `model`. In the model's own coordinates,
// where its outputs are white, an output is a vector, of length 1, and the correlation of two is the product
// of theirs.
Matrix<double> in_order_of(const Model& model, const Model& again) {
  const Matrix<double> outputs = (again.unmixing * model.mixing).rowwise().normalized();
  const std::vector<Index> row_of = matched(outputs.cwiseAbs());
  return outputs(row_of, Eigen::all);
}

void warn_of_low_stability(Model& model) {
  constexpr double low = 0.5;
  std::vector<Index> which;
  for (Index i = 0; i < model.components(); ++i) {
    if (model.stability(i) >= low) continue;
    which.push_back(i);
  }
  if (which.empty()) return;
  model.warnings.push_back(
      {Warning::Kind::unstable,
       (which.size() == 1 ? "component " : "components ") + list_of(which) +
           (which.size() == 1 ? " is" : " are") +
           " not found again in halves of the recording: record longer, or do not rely on " +
           (which.size() == 1 ? "it" : "them"),
       which});
}

}  // namespace

void find_stability(const Method& method, const Recording& X, const MethodOptions& o, Model& model) {
  const Index d = model.components();
  const Index frames = X.weights() ? X.weights()->size() : model.samples;
  MethodOptions again = o;
  again.stability = 0;
  again.progress = {};
  again.components = d;
  again.share = 0;
  Matrix<double> alike = Matrix<double>::Zero(d, d);
  double pairs = 0;
  for (Index r = 0; r < o.stability; ++r) {
    Random random(o.seed + static_cast<std::uint64_t>(r) + 1);
    std::vector<Matrix<double>> found;
    for (const std::vector<Segment>& other_half : in_halves(frames, random)) {
      again.start = random.normal(d, model.channels());
      try {
        const Outcome out = method.batch(RecordingWithout(X, other_half), again);
        if (out.model.components() == d) found.push_back(in_order_of(model, out.model));
      } catch (const std::invalid_argument&) {  // too few frames in this half, or of this weight
      }
    }
    if (found.size() < 2) continue;
    alike += (found[0] * found[1].transpose()).cwiseAbs();
    ++pairs;
  }
  if (pairs == 0) {
    throw std::invalid_argument("stability: no " + std::to_string(d) + " components in halves of the " +
                                std::to_string(model.samples) + " frames; leave it out or give more");
  }
  alike /= pairs;
  model.stability.resize(d);
  for (Index i = 0; i < d; ++i) {
    const double own = alike(i, i);
    const double other =
        d > 1 ? ((alike.row(i).sum() + alike.col(i).sum()) / 2 - own) / static_cast<double>(d - 1) : 0;
    model.stability(i) = own - other;
  }
  warn_of_low_stability(model);
}

}  // namespace demix
