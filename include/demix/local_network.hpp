#pragma once

#include <cstdint>

#include "demix/linear_algebra.hpp"
#include "demix/network_trace.hpp"
#include "demix/types.hpp"
#include "demix/weight.hpp"

/// SM-ICA with natural steps, all of it local: the whitening is a recurrent layer of input neurons with
/// Hebbian synapses, and the averaging of the read-out is done by slow synapses.
///
///   S_jk <- S_jk + (x_j x_k - S_jk)/t                lateral synapses of the inputs
///   dq/ds = x - S q                                  input neurons, at rest q = S^-1 x
///   c = W x,  dy/ds = c - M y,  a = ||y||^2,  b = x . q
///   W_ij <- W_ij + eta s (lambda_i^2 y_i - f c_i) / (1 + eta s f b) q_j,              s = 1/(d + 2)
///   M_ij <- M_ij + mu (sqrt(M_ii M_jj) y_i y_j - M_ij) / (1 + mu a),                  mu = .6 eta
///   Ws <- Ws + 3/t (W - Ws),  Ms <- Ms + 3/t (M - Ms)    slow synapses beside the fast ones
///   what is put out: Ms^-1 Ws x
///
/// f and eta are those of NaturalNetwork. In whitened coordinates h = P x with P^T P = S^-1 the rule is that
/// of NaturalNetwork: W q^T is W h^T P, and b = ||h||^2. So it needs no whitener and no eigenvectors: an
/// input neuron has two activities, x_j that it sends and q_j that it learns with. docs/local-network.md says
/// what this costs.
namespace demix {

struct LocalNetworkOptions {
  Vector<double> lambda2;          ///< lambda_i^2, one per output; empty = geometric_lambda2
  Weight weight = Weight::square;  ///< w, the modulator as a function of total activity
  std::uint64_t seed = 0;          ///< of the initial rotation
};

class LocalNetwork {
 public:
  explicit LocalNetwork(Index inputs, const LocalNetworkOptions& options = {});

  /// One frame: y by what has been learned before it, then learning. A frame with NaN or Inf (or whose square
  /// overflows) is refused: y = 0, nothing learned, false. During the first warm_up() frames, and as long as
  /// the inputs depend on each other, y = 0. Allocates nothing.
  bool step(const Vector<double>& x, Vector<double>& y);

  Index inputs() const { return mean_.size(); }
  Index warm_up() const { return warm_up_; }       ///< frames before W and M begin to learn
  bool learning() const { return learned_ > 0; }   ///< it has begun
  std::int64_t frames() const { return frames_; }  ///< learned from or measured
  const Vector<double>& mean() const { return mean_; }
  Matrix<double> unmixing() const;                                ///< Ms^-1 Ws
  const Matrix<double>& feedforward() const { return W_; }        ///< W
  const Matrix<double>& lateral() const { return M_; }            ///< M
  const Matrix<double>& input_lateral() const { return S_; }      ///< S
  const Matrix<double>& slow_feedforward() const { return Ws_; }  ///< Ws
  const Matrix<double>& slow_lateral() const { return Ms_; }      ///< Ms
  void note(NetworkTrace& trace) const;                           ///< the last frame, into the trace

 private:
  void start();
  void learn();

  LocalNetworkOptions options_;
  Index d_;
  Index warm_up_;
  std::int64_t frames_ = 0;
  std::int64_t learned_ = 0;
  double unit_;  // of the modulator: see NaturalNetwork
  double modulator_ = 0;
  Vector<double> mean_, x_, q_, c_, y_, v_;
  Matrix<double> S_, W_, M_, Ws_, Ms_;
  Cholesky<double> of_S_, of_M_, of_Ms_;  // a solution is where the dynamics come to rest
};

}  // namespace demix
