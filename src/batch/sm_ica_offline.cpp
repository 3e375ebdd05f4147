#include "demix/sm_ica_offline.hpp"

#include <cmath>
#include <stdexcept>
#include <string>

#include "demix/linear_algebra.hpp"
#include "demix/moments.hpp"
#include "demix/random.hpp"
#include "demix/rotation.hpp"

namespace demix {
namespace {

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

// The paper's offline algorithm to the letter, on centred data: one pass over X per step for sum ||y||^2 x
// x^T.
template <typename T>
void published(SmIcaOffline& run, const Frames<T>& X, const Moments& moments,
               const SmIcaOfflineOptions& options, const Vector<double>& lambda2) {
  const double eta = options.eta > 0 ? options.eta : 5e-3;
  const Index d = lambda2.size();
  const Index n = X.rows();
  const Matrix<double> C = moments.covariance();
  const Matrix<double> I = Matrix<double>::Identity(d, d);
  Matrix<double> centred_x(n, X.cols());
  for (Index t = 0; t < X.cols(); ++t) centred_x.col(t) = X.col(t).template cast<double>() - moments.mean();

  run.W = Random(options.seed).normal(d, n);
  run.M = I;
  for (run.iterations = 0;; ++run.iterations) {
    if (options.watch) options.watch(run.iterations, run.W, run.M);
    const Cholesky llt(run.M);
    if (!llt.positive_definite() || !run.W.allFinite()) {
      run.status = OfflineStatus::diverged;
      return;
    }
    const Matrix<double> B = llt.solve(run.W);  // y = B x
    const Vector<double> activity = (B * centred_x).colwise().squaredNorm().transpose();
    const Matrix<double> gamma_inv =
        centred_x * activity.asDiagonal() * centred_x.transpose() / static_cast<double>(X.cols());
    const Matrix<double> drive = B * C;
    const Matrix<double> dW = drive - lambda2.cwiseInverse().asDiagonal() * (run.W * gamma_inv);
    const Matrix<double> dM = drive * B.transpose() - I;

    run.residual = std::max(dW.norm() / drive.norm(), dM.norm());
    if (run.residual <= options.tolerance) run.status = OfflineStatus::converged;
    if (run.residual <= options.tolerance || run.iterations >= options.max_iterations) return;

    run.W += 2 * eta * dW;
    run.M += eta / options.tau * dM;
  }
}

// Y = M^-1 W (X - mean) as it stands: what the published rule arrived at, white or not.
Matrix<double> as_rotation(const SmIcaOffline& run, const Whitening& white) {
  return Cholesky(run.M).solve(run.W) * white.dewhitener;
}

template <typename T>
SmIcaOffline run_offline(const Frames<T>& X, const SmIcaOfflineOptions& options) {
  options.validate();
  const MatrixRecording<T> recording(X);
  const WhiteRecording white_recording = whiten(recording, options.whitening);
  const Whitening& white = white_recording.whitening();
  const Index d = white.components();
  const Vector<double> lambda2 = options.lambda2.size() > 0 ? options.lambda2 : default_lambda2(d);
  if (lambda2.size() != d) {
    throw std::invalid_argument("lambda2: expected one value per component (" + std::to_string(d) +
                                "), got " + std::to_string(lambda2.size()));
  }
  SmIcaOffline run;
  if (options.steps == SmIcaOfflineOptions::Steps::natural) {
    WeightedMoments weighted(white.mean, white.whitener, options.weight);
    weighted.add(X);
    natural(run, white, weighted.covariance(), options, lambda2);
  } else {
    Moments moments(X.rows());
    moments.add(X);
    published<T>(run, X, moments, options, lambda2);
    if (run.status == OfflineStatus::diverged) return run;
  }
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
  run.model = describe(white_recording, rotation);
  return run;
}

}  // namespace

void SmIcaOfflineOptions::validate() const {
  const auto require = [](bool ok, const char* what) {
    if (!ok) throw std::invalid_argument(what);
  };
  require(std::isfinite(eta) && eta >= 0, "eta: expected 0 (default) or a positive number");
  require(steps == Steps::published || eta <= 1, "eta: natural steps need a value in (0, 1]");
  require(std::isfinite(tau) && tau > 0, "tau: expected a positive number");
  require(tolerance > 0, "tolerance: expected a positive number");
  require(max_iterations > 0, "max_iterations: expected at least 1");
  require(steps == Steps::natural || weight == Weight::square, "weight: the published steps use the square");
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
