#include "demix/fastica.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <string>

#include "batch/contrast_sums.hpp"
#include "batch/fobi_start.hpp"
#include "demix/linear_algebra.hpp"

namespace demix {
namespace {

constexpr std::array<std::string_view, 4> contrast_names = {"logcosh", "exp", "cube", "skew"};

// E[G] of a Gaussian: what the objective, the sum of (E[G(y)] - E[G(Gaussian)])^2, is counted from.
constexpr std::array<double, 4> gaussian_values = {0.37456720749, 0.29289321881, 0.75, 0};

// The part of w that is not in the rows of W, of length 1.
Matrix<double> orthogonal_to(const Matrix<double>& W, const Matrix<double>& w) {
  Matrix<double> rest = w - (w * W.transpose()) * W;
  rest -= (rest * W.transpose()) * W;
  return rest / rest.norm();
}

// Rows of W, on their way.
class Search {
 public:
  Search(const Whitening& white, const FastIcaOptions& options, Matrix<double> start)
      : W(std::move(start)), white_(white), options_(options) {}

  Matrix<double> W;
  Index iterations = 0;            // over the last data
  Vector<double> left;             // 1 - |cos| of what each row has still to turn
  std::vector<double> objectives;  // of all steps over the last data

  // Large steps may be computed in float, where small ones may not.
  struct InFloat {
    bool large, small;
  };
  // Steps over these data, until no row has more than this to turn. project(W): orthonormal again.
  template <typename Project>
  void run(const Recording& X, InFloat in_float, double tolerance, Index most, const Project& project) {
    double smallest = 1;
    double before = 1;  // other data: it may turn far at first
    Index since = 0;
    objectives.clear();
    for (iterations = 0; iterations < most;) {
      const bool rough = before > 0.1 ? in_float.large : in_float.small;
      Matrix<double> next = project(step(X, rough));
      ++iterations;
      if (!next.allFinite()) {  // there is nothing to tell directions apart by
        left = Vector<double>::Ones(W.rows());
        break;
      }
      const Vector<double> cosine = (next * W.transpose()).diagonal();
      const Vector<double> turned = 1 - cosine.array().abs();
      const double largest = turned.maxCoeff();
      // Where it goes to and fro near the end instead of coming to rest, half steps do.
      since = largest < 0.5 * smallest || largest > 0.25 ? 0 : since + 1;
      smallest = std::min(smallest, largest);
      const Vector<double> sign = cosine.unaryExpr([](double c) { return c < 0 ? -1.0 : 1.0; });
      next = sign.asDiagonal() * next;
      W = since > 10 ? project(next + W) : next;
      // Angles shrink by the same factor r, more or less, over a part of the data as over all: what is left
      // is r + r^2 + ... of this one. 1 - cos goes with its square.
      if (iterations > 1) rate_ = std::min(0.99, std::sqrt(largest / before));
      left = turned * std::pow(rate_ / (1 - rate_), 2);
      before = largest;
      if (left.maxCoeff() <= tolerance && rough == in_float.small) break;
    }
  }

 private:
  // E[g(y) h^T] - diag(E[g'(y)]) W
  Matrix<double> step(const Recording& X, bool in_float) {
    const ContrastSums sums =
        sum_over(X, ContrastRequest{white_.mean, W * white_.whitener, options_.contrast, in_float});
    const double gaussian = gaussian_values[static_cast<std::size_t>(options_.contrast)];
    objectives.push_back((sums.value.array() / sums.frames - gaussian).square().sum());
    return (sums.product * white_.whitener.transpose() - sums.slope.asDiagonal() * W) / sums.frames;
  }

  const Whitening& white_;
  const FastIcaOptions& options_;
  double rate_ = 0.5;  // at which angles shrink
};

// On all stages of the data, each from where the last one ended.
template <typename Project>
void search(Search& s, const TrainingStages& data, const FastIcaOptions& options, const Project& project) {
  const double roughly = std::max(1e-3, options.tolerance);  // a part leads no nearer
  const bool large = data.in_float(1e-2);
  // Of much data, and to the angle that is left, the last steps too.
  constexpr Index much = Index{1} << 18;  // values
  const bool small = data.are_floats() || (data.all().frames() * data.all().channels() >= much &&
                                           data.in_float(std::sqrt(2 * options.tolerance)));
  for (const Recording* part : data.stages()) {
    const bool last = part == &data.all();
    s.run(*part, {large, last ? small : large}, last ? options.tolerance : roughly,
          last ? options.max_iterations : std::min<Index>(50, options.max_iterations), project);
  }
}

struct Found {
  Matrix<double> W;
  Convergence convergence;
  Index turning = 0;  // rows that have not come to rest
};

Found all_at_once(const WhiteRecording& white, const FastIcaOptions& options, const Matrix<double>& start) {
  Search s(white.whitening(), options, start);
  search(s, white.stages(), options, orthonormal_rows);
  const Index turning = (s.left.array() > options.tolerance).count();
  return {s.W, {turning == 0, s.iterations, s.objectives}, turning};
}

Found one_by_one(const WhiteRecording& white, const FastIcaOptions& options, const Matrix<double>& start) {
  const Index d = start.rows();
  Found out{Matrix<double>(0, d), {true, 0, {}}, 0};
  for (Index i = 0; i < d; ++i) {
    // Of what is left of the start the largest part: some row has one of at least 1 / d.
    const Matrix<double> rest = start - (start * out.W.transpose()) * out.W;
    Index row = 0;
    rest.rowwise().norm().maxCoeff(&row);
    Search s(white.whitening(), options, orthogonal_to(out.W, rest.row(row)));
    if (i + 1 < d) {  // the last one has no choice
      search(s, white.stages(), options, [&](const Matrix<double>& w) { return orthogonal_to(out.W, w); });
      out.turning += s.left(0) > options.tolerance ? 1 : 0;
      out.convergence.iterations += s.iterations;
      out.convergence.objective.push_back(s.objectives.back());
    }
    out.W.conservativeResize(i + 1, d);
    out.W.row(i) = s.W;
  }
  out.convergence.converged = out.turning == 0;
  return out;
}

}  // namespace

std::string_view contrast_name(Contrast contrast) {
  return contrast_names[static_cast<std::size_t>(contrast)];
}

Contrast contrast_named(std::string_view name) {
  const auto at = std::find(contrast_names.begin(), contrast_names.end(), name);
  if (at == contrast_names.end()) {
    throw std::invalid_argument("contrast: expected logcosh, exp, cube or skew, got '" + std::string(name) +
                                "'");
  }
  return static_cast<Contrast>(at - contrast_names.begin());
}

void FastIcaOptions::validate() const {
  if (max_iterations < 1) throw std::invalid_argument("max_iterations: expected at least 1");
  if (!(tolerance > 0 && tolerance < 1)) throw std::invalid_argument("tolerance: expected between 0 and 1");
}

Rotation fastica(const WhiteRecording& white, const FastIcaOptions& options, const Rotation& start) {
  options.validate();
  const Matrix<double> from = start.W.size() > 0 ? start.W : fobi_of_first_stage(white).W;
  const Found found =
      options.deflation ? one_by_one(white, options, from) : all_at_once(white, options, from);
  Rotation r{.W = found.W,
             .method = "fastica",
             .options = {{"contrast", std::string(contrast_name(options.contrast))}},
             .equation = EstimatingEquation{EstimatingEquation::Kind::contrast, options.contrast, {}},
             .convergence = found.convergence};
  if (options.deflation) r.options["deflation"] = "yes";
  if (found.turning > 0) {
    r.doubt = std::to_string(found.turning) + " of " + std::to_string(found.W.rows()) +
              " components have not converged after " + std::to_string(found.convergence.iterations) +
              " iterations: too close to Gaussian or to each other to tell apart";
  }
  return r;
}

}  // namespace demix
