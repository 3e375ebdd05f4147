#pragma once

#include <cstdint>

#include "demix/lambda.hpp"
#include "demix/network_trace.hpp"
#include "demix/types.hpp"
#include "demix/weight.hpp"

/// The SM-ICA network, Algorithm 1 of the paper as published: eta and tau constant, no whitening, no
/// averaging.
///
///   c = W x                              dendritic currents
///   dy/dgamma = c - M y                  somatic outputs, at rest y = M^-1 c
///   a = ||y||^2                          total activity
///   W <- W + 2 eta (y - w(a) Lambda^-2 c) x^T     modulated by w(a); the paper's is w(a) = a
///   M <- M + (eta/tau)(y y^T - I)
///
/// It does not always converge (docs/mathematics.md says when); it always says so.
namespace demix {

struct SmIcaNetworkOptions {
  enum class Dynamics {
    solve,    ///< y = M^-1 c at once
    iterate,  ///< y <- y + gamma (c - M y) from rest until it settles
  };

  double eta = 2e-5;       ///< learning rate (table 1, online)
  double tau = 1.5;        ///< ratio of the learning rates of W and M, more than eta (which is not enough to
                           ///< keep M positive definite)
  Vector<double> lambda2;  ///< lambda_i^2, one per output; empty = default_lambda2
  Weight weight = Weight::square;  ///< w, the modulator as a function of total activity
  Dynamics dynamics = Dynamics::solve;
  bool autapses =
      true;  ///< false: M_ii is the neuron's own leak (its gain is 1/M_ii), not a synapse: y_i relaxes to
             ///< (c_i - sum_{j != i} M_ij y_j)/M_ii. Same rest, other way there (iterate only).
  double gamma = 0;      ///< step of the dynamics; 0 = 1/max row sum of |M|, which always converges
  double tolerance = 0;  ///< settled when ||c - M y|| <= tolerance ||c||; 0 = 64 epsilon of T
  int max_iterations = 10000;
  std::uint64_t seed = 0;  ///< of the initial W ~ N(0, 1)

  void validate() const;
};

enum class NetworkStatus {
  ok,
  bad_input,                      ///< NaN or Inf in x: frame refused, nothing learned, y = 0
  not_settled,                    ///< dynamics stopped at max_iterations; y is where it was then
  lateral_not_positive_definite,  ///< M lost it: y = 0, the network stays as it was and refuses to go on
  weights_not_finite,             ///< a weight would leave the range of T: as above
};

const char* describe(NetworkStatus status);

template <typename T>
class SmIcaNetwork {
 public:
  SmIcaNetwork(Index inputs, Index outputs, const SmIcaNetworkOptions& options = {});

  /// One frame: outputs, then learning. Allocates nothing.
  NetworkStatus step(const Eigen::Ref<const Vector<T>>& x, Eigen::Ref<Vector<T>> y);

  /// step() for every column. Stops at the first failure (bad input and unsettled frames are no failure); the
  /// outputs from there on are 0.
  NetworkStatus process(const Frames<T>& X, Eigen::Ref<Matrix<T>> Y);

  Index inputs() const { return W_.cols(); }
  Index outputs() const { return d_; }
  Matrix<T> feedforward() const { return W_.topRows(d_); }  ///< W
  Matrix<T> lateral() const;                                ///< M
  Matrix<T> unmixing() const;                               ///< M^-1 W
  void set_weights(const Matrix<T>& W, const Matrix<T>& M);

  // What the last step saw.
  Vector<T> dendritic_currents() const { return c_.head(d_); }  ///< c
  T total_activity() const { return activity_; }                ///< ||y||^2
  int iterations() const { return iterations_; }                ///< of the dynamics; 0 when solved
  void note(NetworkTrace& trace) const;                         ///< all of it, into the trace
  T residual() const { return residual_; }                      ///< ||c - M y|| / ||c|| of the dynamics

  NetworkStatus status() const { return status_; }   ///< ok, or the failure that stopped learning
  std::int64_t frames() const { return frames_; }    ///< learned from
  std::int64_t refused() const { return refused_; }  ///< frames with NaN or Inf

 private:
  NetworkStatus settle();
  NetworkStatus iterate();
  double modulate();  ///< u from y and c; ||u||^2
  NetworkStatus fail(NetworkStatus status, Eigen::Ref<Vector<T>> y);

  Index d_;
  SmIcaNetworkOptions options_;
  // Rows padded for the kernels: see online/kernels.hpp.
  Matrix<T> W_;
  Matrix<T> M_;  // lower triangle
  Vector<T> inverse_lambda2_;
  Vector<T> c_, y_, u_, rest_, scratch_;
  double weight_bound_ = 0;  // ||W||_F is not larger
  T activity_ = 0;
  T modulator_ = 0;  // w(a)
  T residual_ = 0;
  int iterations_ = 0;
  NetworkStatus status_ = NetworkStatus::ok;
  std::int64_t frames_ = 0;
  std::int64_t refused_ = 0;
};

extern template class SmIcaNetwork<float>;
extern template class SmIcaNetwork<double>;

}  // namespace demix
