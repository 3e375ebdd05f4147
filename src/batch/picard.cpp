#include "demix/picard.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <stdexcept>
#include <string>

#include "batch/contrast_sums.hpp"
#include "batch/fobi_start.hpp"
#include "demix/linear_algebra.hpp"

namespace demix {
namespace {

constexpr double least_curvature = 1e-2;  // of the preconditioner

double dot(const Matrix<double>& A, const Matrix<double>& B) { return A.cwiseProduct(B).sum(); }

// What one pass over the data tells of W.
struct Statistics {
  Matrix<double> W;
  Matrix<double> C;                    // E[tanh(y) y^T]
  Vector<double> slope, value, power;  // E[tanh'(y)], E[log cosh y], E[y^2]
  double frames = 0;

  // Super-Gaussian outputs: E[tanh'(y)] E[y^2] > E[tanh(y) y]
  Vector<double> peakedness() const { return slope.array() * power.array() - C.diagonal().array(); }
  // +1 for peaked outputs, -1 for flat ones. Those as good as Gaussian (`noise`) keep the sign they have:
  // they would go to and fro.
  Vector<double> signs(const Vector<double>& k) const {
    const double noise = 3 / std::sqrt(frames);
    return k.binaryExpr(peakedness(),
                        [&](double sign, double c) { return sign * c < -noise ? -sign : sign; });
  }
};

// The function to minimise, at W and for given signs.
struct Point {
  double loss = 0;
  Matrix<double> gradient;   // G_ij = dL / dE_ij
  Matrix<double> curvature;  // of the Hessian for independent sources: h_ij
};

// The likelihood on some frames, whose h has the second moment R: I, if they are those it was whitened by.
class Likelihood {
 public:
  Likelihood(const Recording& X, const Whitening& white, bool orthogonal, Matrix<double> R,
             bool in_float = false)
      : X_(X), white_(white), orthogonal_(orthogonal), R_(std::move(R)), in_float_(in_float) {}

  Statistics look(const Matrix<double>& W) const {
    const Matrix<double> B = W * white_.whitener;
    const ContrastSums sums = sum_over(X_, ContrastRequest{white_.mean, B, Contrast::logcosh, in_float_});
    const double n = sums.frames;
    return {W, sums.product * B.transpose() / n, sums.slope / n, sums.value / n, sums.square / n, n};
  }

  Point at(const Statistics& s, const Vector<double>& k) const {
    const Matrix<double> kC = k.asDiagonal() * s.C;
    if (orthogonal_) {
      const Vector<double> own = (k.array() * s.peakedness().array()).max(0);
      const auto d = own.size();
      return {k.dot(s.value), (kC - kC.transpose()) / 2,
              (own.rowwise().replicate(d) + own.transpose().colwise().replicate(d)) / 2};
    }
    return {k.dot(s.value) + s.power.sum() / 2 - std::log(std::abs(determinant(s.W))),
            kC + s.W * R_ * s.W.transpose() - Matrix<double>::Identity(kC.rows(), kC.cols()),
            (1 + k.array() * s.slope.array()).matrix() * s.power.transpose()};
  }

  // -H^-1 G, H made positive where it is not
  Matrix<double> preconditioned(const Point& p, const Matrix<double>& G) const {
    if (orthogonal_) return -(G.array() / p.curvature.array().max(least_curvature)).matrix();
    // For each pair, [h_ij 1; 1 h_ji]; on the diagonal, h_ii + 1.
    Matrix<double> E(G.rows(), G.cols());
    for (Index i = 0; i < G.rows(); ++i) {
      E(i, i) = -G(i, i) / (std::max(p.curvature(i, i), 0.0) + 1);
      for (Index j = 0; j < i; ++j) {
        const double a = p.curvature(i, j);
        const double b = p.curvature(j, i);
        const double least = (a + b) / 2 - std::hypot((a - b) / 2, 1);  // eigenvalue
        const double more = std::max(0.0, least_curvature - least);
        const double determinant = (a + more) * (b + more) - 1;
        E(i, j) = -((b + more) * G(i, j) - G(j, i)) / determinant;
        E(j, i) = -((a + more) * G(j, i) - G(i, j)) / determinant;
      }
    }
    return E;
  }

  // exp(E) to second order, exactly orthogonal; or I + E
  Matrix<double> moved(const Matrix<double>& W, const Matrix<double>& E) const {
    const Matrix<double> I = Matrix<double>::Identity(E.rows(), E.cols());
    if (!orthogonal_) return (I + E) * W;
    return inverse(I - E / 2) * ((I + E / 2) * W);
  }

 private:
  const Recording& X_;
  const Whitening& white_;
  bool orthogonal_;
  Matrix<double> R_;
  bool in_float_;
};

// L-BFGS: the last steps and how the gradient changed in them.
class Memory {
 public:
  explicit Memory(Index most) : most_(most) {}
  void clear() { pairs_.clear(); }
  bool empty() const { return pairs_.empty(); }
  void add(const Matrix<double>& step, const Matrix<double>& change) {
    const double curvature = dot(step, change);
    if (curvature <= 0) return;
    pairs_.push_back({step, change, 1 / curvature});
    if (std::ssize(pairs_) > most_) pairs_.pop_front();
  }
  // -H^-1 G by the two loops, `precondition` in their middle
  template <typename Precondition>
  Matrix<double> direction(const Matrix<double>& G, const Precondition& precondition) const {
    Matrix<double> q = G;
    std::vector<double> a(pairs_.size());
    for (std::size_t m = pairs_.size(); m-- > 0;) {
      a[m] = pairs_[m].rho * dot(pairs_[m].step, q);
      q -= a[m] * pairs_[m].change;
    }
    Matrix<double> r = precondition(q);
    for (std::size_t m = 0; m < pairs_.size(); ++m) {
      const double b = pairs_[m].rho * dot(pairs_[m].change, r);
      r -= (a[m] + b) * pairs_[m].step;
    }
    return r;
  }

 private:
  struct Pair {
    Matrix<double> step, change;
    double rho;
  };
  Index most_;
  std::deque<Pair> pairs_;
};

struct Found {
  Matrix<double> W;
  Convergence convergence;
  double gradient = 0;
};

// No entry of E turns or stretches by more than a half, and the loss must fall; false: it cannot, for
// rounding.
bool line_search(const Likelihood& likelihood, const Point& here, const Vector<double>& k,
                 const Matrix<double>& W, Matrix<double>& E, Statistics& statistics, Point& next) {
  E *= std::min(1.0, 0.5 / E.cwiseAbs().maxCoeff());
  for (int tries = 0; tries < 12; ++tries, E /= 2) {
    statistics = likelihood.look(likelihood.moved(W, E));
    next = likelihood.at(statistics, k);
    if (next.loss <= here.loss + 1e-4 * dot(E, here.gradient)) return true;
    // So near the end the loss is all rounding, the gradient not yet.
    const bool even = next.loss <= here.loss + 1e-13 * (std::abs(here.loss) + 1);
    if (even && next.gradient.norm() < here.gradient.norm()) return true;
  }
  return false;
}

// What an output is taken for that is as good as Gaussian at the start: peaked, as most turn out to be, or,
// near the end, what it is.
enum class Gaussian { peaked, as_it_is };

Found descend(const Likelihood& likelihood, const Matrix<double>& start, double tolerance, Index most,
              Index memory_steps, Gaussian gaussian) {
  Memory memory(memory_steps);
  Statistics statistics = likelihood.look(start);
  Vector<double> k = Vector<double>::Ones(start.rows());
  if (gaussian == Gaussian::as_it_is)
    k = statistics.peakedness().unaryExpr([](double c) { return c < 0 ? -1.0 : 1.0; });
  k = statistics.signs(k);
  Point here = likelihood.at(statistics, k);
  Found out;
  for (;;) {
    out.convergence.objective.push_back(here.loss);
    out.W = statistics.W;
    out.gradient = here.gradient.cwiseAbs().maxCoeff();
    out.convergence.converged = out.gradient <= tolerance;
    if (out.convergence.converged || out.convergence.iterations == most) return out;

    const auto precondition = [&](const Matrix<double>& G) { return likelihood.preconditioned(here, G); };
    Matrix<double> E = memory.direction(here.gradient, precondition);
    if (dot(E, here.gradient) >= 0) {
      memory.clear();
      E = precondition(here.gradient);
    }
    Point next;
    const bool falls = line_search(likelihood, here, k, out.W, E, statistics, next);
    if (!falls && memory.empty()) return out;
    ++out.convergence.iterations;
    if (!falls) {
      memory.clear();  // once more, straight down
      statistics = likelihood.look(out.W);
      continue;
    }
    memory.add(E, next.gradient - here.gradient);
    here = std::move(next);
    // Outputs that turn out to be of the other kind change the function; it begins anew from here.
    if (const Vector<double> signs = statistics.signs(k); signs != k) {
      k = signs;
      memory.clear();
      here = likelihood.at(statistics, k);
    }
  }
}

// Some steps of FastICA, which go far: they find better valleys to descend into than FOBI's start does.
Matrix<double> first_steps(const Likelihood& likelihood, Matrix<double> W) {
  for (int k = 0; k < 20; ++k) {
    const Statistics s = likelihood.look(W);
    const Matrix<double> next = s.C * W - s.slope.asDiagonal() * W;
    const Matrix<double> turned = orthonormal_rows(next);
    if (!turned.allFinite()) break;  // there is nothing to tell directions apart by
    W = turned;
  }
  return W;
}

// E[h h^T] of frames that were not all whitened by
Matrix<double> second_moment(const Recording& X, const Whitening& white) {
  const Moments moments = sum_over(X, CovarianceRequest(X.channels()));
  const Vector<double> off = moments.mean() - white.mean;
  return white.whitener * (moments.covariance() + off * off.transpose()) * white.whitener.transpose();
}

}  // namespace

void PicardOptions::validate() const {
  if (max_iterations < 1) throw std::invalid_argument("max_iterations: expected at least 1");
  if (!(tolerance > 0 && tolerance < 1)) throw std::invalid_argument("tolerance: expected between 0 and 1");
  if (memory < 1) throw std::invalid_argument("memory: expected at least 1");
}

Rotation picard(const WhiteRecording& recording, const PicardOptions& options, const Rotation& start) {
  options.validate();
  const Whitening& white = recording.whitening();
  const TrainingStages& data = recording.stages();
  const Index d = recording.components();
  const Matrix<double> I = Matrix<double>::Identity(d, d);

  Matrix<double> W = start.W.size() > 0 ? start.W : fobi_of_first_stage(recording).W;
  constexpr double roughly = 1e-2;
  W = first_steps({data.first(), white, true, I, data.in_float(roughly)}, W);
  for (const Recording* part : data.stages()) {
    if (part == &data.all()) break;
    W = descend({*part, white, true, I, data.in_float(roughly)}, W, std::max(roughly, options.tolerance), 50,
                options.memory, Gaussian::peaked)
            .W;
  }
  const bool whole = &data.all() == &recording.recording();
  const Matrix<double> R = options.orthogonal || whole ? I : second_moment(data.all(), white);
  // As far as floats lead, which is most of the way.
  constexpr double nearly = 1e-4;
  Found rough{.W = W, .convergence = {false, 0, {0}}};
  if (data.in_float(nearly) && options.tolerance < nearly) {
    rough = descend({data.all(), white, options.orthogonal, R, true}, W, nearly, options.max_iterations,
                    options.memory, Gaussian::peaked);
  }
  Found found =
      descend({data.all(), white, options.orthogonal, R}, rough.W, options.tolerance,
              options.max_iterations - rough.convergence.iterations, options.memory, Gaussian::as_it_is);
  found.convergence.iterations += rough.convergence.iterations;
  // The last of these is of the same W as the first of those; losses in float are all off by about as much.
  std::vector<double>& losses = rough.convergence.objective;
  const double off = found.convergence.objective.front() - losses.back();
  losses.pop_back();
  for (double& loss : losses) loss += off;
  found.convergence.objective.insert(found.convergence.objective.begin(), losses.begin(), losses.end());
  found.W.rowwise().normalize();  // outputs of variance 1

  Rotation r{
      .W = found.W, .method = "picard", .equation = EstimatingEquation{}, .convergence = found.convergence};
  if (!options.orthogonal) r.options["orthogonal"] = "no";
  if (!found.convergence.converged) {
    r.doubt = "the gradient is " + std::to_string(found.gradient) + " after " +
              std::to_string(found.convergence.iterations) +
              " iterations: some components are too close to Gaussian or to each other to tell apart";
  }
  return r;
}

}  // namespace demix
