#pragma once

#include <cstdint>
#include <functional>

#include "demix/lambda.hpp"
#include "demix/model.hpp"
#include "demix/weight.hpp"
#include "demix/whitening.hpp"

/// Offline SM-ICA: descent in W, ascent in M on the paper's min-max objective, over a whole recording.
///
///   natural (default)    M = (W C W^T)^1/2                                 the maximum over M, so that C_y =
///   I
///                        W <- W + eta (Lambda^2 (1/T) Y X^T Gamma_x - W)   gradient in the metric of Gamma_x
///   published            W <- W + 2 eta ((1/T) Y X^T - Lambda^-2 W (1/T) sum w(||y||^2) x x^T)
///                        M <- M + (eta/tau) ((1/T) Y Y^T - I)
///   both                 Y = M^-1 W X
///
/// Natural steps cannot diverge: with M at its maximum the objective is concave plus quadratic in W, and for
/// any eta in (0, 1] the step minimises a bound that touches it, so the objective falls at every step
/// whatever the mixing.
namespace demix {

struct SmIcaOfflineOptions {
  enum class Steps { natural, published };

  Steps steps = Steps::natural;
  Vector<double> lambda2;   ///< lambda_i^2, distinct; empty = default_lambda2(d)
  double eta = 0;           ///< 0 = 1 for natural, 5e-3 (table 1) for published
  double tau = 0.75;        ///< published only
  double tolerance = 1e-5;  ///< rotation left to go, in radians (natural); relative gradient (published)
  Index max_iterations = 100000;   ///< passes over the statistics (natural) or over the data (published)
  Weight weight = Weight::square;  ///< w, in place of ||y||^2 below
  WhiteningOptions whitening;      ///< natural only: rank and number of components
  std::uint64_t seed = 0;          ///< of the initial W ~ N(0, 1)
  /// Called before each step with the iteration and the current weights, in the coordinates of the channels.
  std::function<void(Index, const Matrix<double>& W, const Matrix<double>& M)> watch;

  void validate() const;
};

enum class OfflineStatus { converged, max_iterations, diverged };

struct SmIcaOffline {
  Model model;
  OfflineStatus status = OfflineStatus::max_iterations;
  Index iterations = 0;
  double residual = 0;  ///< what `tolerance` is compared with
  Matrix<double> W;     ///< feedforward, components x channels; row i belongs to lambda_i
  Matrix<double> M;     ///< lateral, components x components
};

SmIcaOffline sm_ica_offline(const Frames<float>& X, const SmIcaOfflineOptions& options = {});
SmIcaOffline sm_ica_offline(const Frames<double>& X, const SmIcaOfflineOptions& options = {});

}  // namespace demix
