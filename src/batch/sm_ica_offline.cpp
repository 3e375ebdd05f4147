#include "demix/sm_ica_offline.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

#include "batch/closed_form.hpp"
#include "demix/linear_algebra.hpp"
#include "demix/moments.hpp"
#include "demix/random.hpp"
#include "demix/rotation.hpp"

namespace demix {
namespace {

constexpr double published_eta = 5e-3;  // table 1

// The rotation still to go: Q C_z Q^T is diagonal at the optimum, descending where lambda ascends. To first
// order the angle left in the plane (i, j) is the off-diagonal element over the gap of the diagonal.
double rotation_left(const Matrix<double>& Q, const Matrix<double>& Cz, const Vector<double>& lambda2) {
  const Matrix<double> S = Q * Cz * Q.transpose();
  double worst = 0;
  for (Index i = 0; i < S.rows(); ++i) {
    for (Index j = 0; j < i; ++j) {
      const double gap = (S(j, j) - S(i, i)) * (lambda2(i) > lambda2(j) ? 1 : -1);
      worst = std::max(worst, gap > 0 ? std::min(1.0, std::abs(S(i, j)) / gap) : 1.0);
    }
  }
  return worst;
}

// In whitened coordinates C = I and Gamma^-1 = C_z, and the map back is W P: the steps do not see the mixing
// at all.
void natural(SmIcaOffline& run, const Whitening& white, const Matrix<double>& Cz,
             const SmIcaOfflineOptions& options, const Vector<double>& lambda2) {
  const Index d = white.components();
  const double eta = options.eta > 0 ? options.eta : 1;
  const Cholesky solve_Cz(Cz);
  Matrix<double> W = Random(options.seed).normal(d, d);
  Matrix<double> Q(d, d);
  for (run.iterations = 0;; ++run.iterations) {
    const Eigenpairs eig = symmetric_eigen(W * W.transpose());  // M = (W W^T)^1/2,  Q = M^-1 W
    const Vector<double> root = eig.values.cwiseMax(0).cwiseSqrt();
    run.M = eig.vectors * root.asDiagonal() * eig.vectors.transpose();
    Q = eig.vectors * root.cwiseInverse().asDiagonal() * eig.vectors.transpose() * W;
    if (options.watch) options.watch(run.iterations, W * white.whitener, run.M);

    run.residual = rotation_left(Q, Cz, lambda2);
    if (run.residual <= options.tolerance) run.status = OfflineStatus::converged;
    if (run.residual <= options.tolerance || run.iterations >= options.max_iterations) break;

    const Matrix<double> target = solve_Cz.solve(Q.transpose() * lambda2.asDiagonal()).transpose();
    W += eta * (target - W);  // W <- W + eta (Lambda^2 Q C_z^-1 - W)
  }
  run.W = W * white.whitener;
}

// What the published steps need of the data: C = (1/T) X X^T and, for any B, (1/T) sum ||B x||^2 x x^T. Of
// few channels the latter is a contraction of the fourth moments, so that a step costs the same for any T:
//
//   F_pq = (1/T) sum x_a x_b x_c x_d,   p = (a, b), a <= b,   q = (c, d), c <= d
//   (1/T) sum ||B x||^2 x_a x_b = sum_q F_pq g_q,   g_q = (2 - delta_cd) (B^T B)_cd
//
// Of many channels the moments would be larger than the data, which is then passed over in every step; and so
// it is for other weights than the square, w(||B x||^2) in place of ||B x||^2. N: the number of channels, if
// it is known when compiled.
template <int N>
class Statistics {
 public:
  using Square = Eigen::Matrix<double, N, N>;

  Statistics(Matrix<double> centred, Weight weight)
      : weight_(weight),
        X_(std::move(centred)),
        n_(X_.rows()),
        C_(X_ * X_.transpose() / static_cast<double>(X_.cols())) {
    if (!by_moments()) return;
    constexpr Index block = 1024;
    const Index pairs = n_ * (n_ + 1) / 2;
    Matrix<double> sum = Matrix<double>::Zero(pairs, pairs);
    Matrix<double> products(pairs, block);
    for (Index from = 0; from < X_.cols(); from += block) {
      const Index frames = std::min(block, X_.cols() - from);
      for (Index a = 0, p = 0; a < n_; ++a) {
        for (Index b = a; b < n_; ++b, ++p) {
          products.row(p).head(frames) =
              X_.row(a).segment(from, frames).cwiseProduct(X_.row(b).segment(from, frames));
        }
      }
      sum += products.leftCols(frames) * products.leftCols(frames).transpose();
    }
    F_ = sum / static_cast<double>(X_.cols());
    g_.resize(pairs);
    f_.resize(pairs);
  }

  const Square& C() const { return C_; }

  void weighted(const Square& BtB, Square& out) {
    if (!by_moments()) {
      Vector<double> activity = X_.cwiseProduct(BtB * X_).colwise().sum().transpose();
      for (double& a : activity) a = weight_value(weight_, std::max(a, 0.0));
      out = X_ * activity.asDiagonal() * X_.transpose() / static_cast<double>(X_.cols());
      return;
    }
    for (Index c = 0, q = 0; c < n_; ++c) {
      for (Index d = c; d < n_; ++d, ++q) g_(q) = (c == d ? 1 : 2) * BtB(c, d);
    }
    f_.noalias() = F_ * g_;
    for (Index a = 0, p = 0; a < n_; ++a) {
      for (Index b = a; b < n_; ++b, ++p) out(a, b) = out(b, a) = f_(p);
    }
  }

 private:
  bool by_moments() const { return n_ <= 16 && weight_ == Weight::square; }

  static constexpr int pairs_ = N == Eigen::Dynamic ? Eigen::Dynamic : N * (N + 1) / 2;
  Weight weight_;
  Matrix<double> X_;
  Index n_;
  Square C_;
  Eigen::Matrix<double, pairs_, pairs_> F_;
  Eigen::Matrix<double, pairs_, 1> g_, f_;
};

// The paper's offline algorithm to the letter, on centred data.
template <int N>
void published(SmIcaOffline& run, Matrix<double> centred, const SmIcaOfflineOptions& options,
               const Vector<double>& lambda2) {
  using Square = Eigen::Matrix<double, N, N>;
  const double eta = options.eta > 0 ? options.eta : published_eta;
  const Index d = lambda2.size();
  const Index n = centred.rows();
  Statistics<N> data(std::move(centred), options.weight);
  const Square I = Square::Identity(d, d);
  const Eigen::Matrix<double, N, 1> inverse_lambda2 = lambda2.cwiseInverse();
  Square W = Random(options.seed).normal(d, n);
  Square M = I;
  Square gamma_inv(n, n);
  Square B(d, n);
  Square drive(d, n);
  Square dW(d, n);
  Square dM(d, d);
  for (run.iterations = 0;; ++run.iterations) {
    run.W = W;
    run.M = M;
    if (options.watch) options.watch(run.iterations, run.W, run.M);
    const Eigen::LLT<Square> llt(M);
    if (llt.info() != Eigen::Success || !W.allFinite()) {
      run.status = OfflineStatus::diverged;
      return;
    }
    B = llt.solve(W);                             // y = B x
    data.weighted(B.transpose() * B, gamma_inv);  // (1/T) sum w(||y||^2) x x^T
    drive.noalias() = B * data.C();               // (1/T) Y X^T
    dW = drive - inverse_lambda2.asDiagonal() * (W * gamma_inv);
    dM = drive * B.transpose() - I;

    run.residual = std::max(dW.norm() / drive.norm(), dM.norm());
    if (run.residual <= options.tolerance) run.status = OfflineStatus::converged;
    if (run.residual <= options.tolerance || run.iterations >= options.max_iterations) return;

    W += 2 * eta * dW;
    M += eta / options.tau * dM;
  }
}

template <typename T>
void published(SmIcaOffline& run, const Frames<T>& X, const SmIcaOfflineOptions& options,
               const Vector<double>& lambda2) {
  Moments moments(X.rows());
  moments.add(X);
  Matrix<double> centred(X.rows(), X.cols());
  for (Index t = 0; t < X.cols(); ++t) centred.col(t) = X.col(t).template cast<double>() - moments.mean();
  const Index n = X.rows() == lambda2.size() ? X.rows() : 0;
  if (n == 3) return published<3>(run, std::move(centred), options, lambda2);  // the paper's sizes
  if (n == 4) return published<4>(run, std::move(centred), options, lambda2);
  published<Eigen::Dynamic>(run, std::move(centred), options, lambda2);
}

// Y = M^-1 W (X - mean) as it stands: what the published rule arrived at, white or not.
Matrix<double> as_rotation(const SmIcaOffline& run, const Whitening& white) {
  return Cholesky(run.M).solve(run.W) * white.dewhitener;
}

Vector<double> lambda2_for(Index d, const SmIcaOfflineOptions& options) {
  Vector<double> lambda2 = options.lambda2.size() > 0 ? options.lambda2 : default_lambda2(d);
  if (lambda2.size() != d) {
    throw std::invalid_argument("lambda2: expected one value per component (" + std::to_string(d) +
                                "), got " + std::to_string(lambda2.size()));
  }
  return lambda2;
}

Rotation rotation_of(const SmIcaOffline& run, const Whitening& white, const SmIcaOfflineOptions& options) {
  Rotation rotation{
      .W = as_rotation(run, white),
      .method = "sm-ica-offline",
      .options = {{"steps", options.steps == SmIcaOfflineOptions::Steps::natural ? "natural" : "published"},
                  {"seed", std::to_string(options.seed)}},
      .equation = EstimatingEquation{EstimatingEquation::Kind::weighted, {}, options.weight}};
  if (run.status != OfflineStatus::converged) {
    rotation.doubt = "not converged after " + std::to_string(run.iterations) + " iterations: about " +
                     std::to_string(run.residual) + " left where " + std::to_string(options.tolerance) +
                     " was asked for";
  }
  return rotation;
}

template <typename T>
SmIcaOffline run_offline(const Frames<T>& X, const SmIcaOfflineOptions& options) {
  options.validate();
  const MatrixRecording<T> recording(X);
  const WhiteRecording white_recording = whiten(recording, options.whitening);
  const Whitening& white = white_recording.whitening();
  SmIcaOffline run;
  Rotation rotation;
  if (options.steps == SmIcaOfflineOptions::Steps::natural) {
    WeightedMoments weighted(white.mean, white.whitener, options.weight);
    weighted.add(X);
    rotation = sm_ica_of(run, white, weighted.covariance(), options);
  } else {
    published(run, X, options, lambda2_for(white.components(), options));
    if (run.status == OfflineStatus::diverged) return run;
    rotation = rotation_of(run, white, options);
  }
  run.model = describe(white_recording, rotation);
  return run;
}

}  // namespace

Rotation sm_ica_of(SmIcaOffline& run, const Whitening& white, const Matrix<double>& Cz,
                   const SmIcaOfflineOptions& options) {
  natural(run, white, Cz, options, lambda2_for(white.components(), options));
  return rotation_of(run, white, options);
}

void SmIcaOfflineOptions::validate() const {
  const auto require = [](bool ok, const char* what) {
    if (!ok) throw std::invalid_argument(what);
  };
  require(std::isfinite(eta) && eta >= 0, "eta: expected 0 (default) or a positive number");
  require(steps == Steps::published || eta <= 1, "eta: natural steps need a value in (0, 1]");
  require(std::isfinite(tau) && tau > 0, "tau: expected a positive number");
  // The paper's range, not a promise: M may lose positive definiteness all the same.
  require(steps == Steps::natural || tau > (eta > 0 ? eta : published_eta),
          "tau: the published steps need more than eta (which does not yet keep M positive definite)");
  require(tolerance > 0, "tolerance: expected a positive number");
  require(max_iterations > 0, "max_iterations: expected at least 1");
  require(steps == Steps::natural || whitening.components == 0,
          "components: the published steps give one per channel");
  require_distinct(lambda2);
  whitening.validate();
}

SmIcaOffline sm_ica_offline(const Frames<float>& X, const SmIcaOfflineOptions& options) {
  return run_offline<float>(X, options);
}
SmIcaOffline sm_ica_offline(const Frames<double>& X, const SmIcaOfflineOptions& options) {
  return run_offline<double>(X, options);
}

}  // namespace demix
