#pragma once

#include <cmath>

/// The network's learning rules as a synapse sees them: one function per synapse, its arguments the whole of
/// what the synapse can know. The matrix form in SmIcaNetwork::step is tested against these.
namespace demix {

/// Feedforward synapse from input j to output i:
///   Delta W_ij = 2 eta (y_i - ||y||^2 c_i / lambda_i^2) x_j
/// presynaptic x, somatic y and dendritic c of the postsynaptic neuron, and the total activity around them.
template <typename T>
constexpr T feedforward_plasticity(T x_j, T y_i, T c_i, T total_activity, T lambda2_i, T eta) {
  return 2 * eta * (y_i - total_activity * c_i / lambda2_i) * x_j;
}

/// Lateral synapse between outputs i and j:  Delta M_ij = (eta/tau)(y_i y_j - delta_ij)
/// For i = j it is no synapse but the leak of the neuron, whose gain is 1/M_ii, and the rule is homeostatic:
/// a neuron of more than unit power (y_i^2 > 1) leaks more.
template <typename T>
constexpr T lateral_plasticity(T y_i, T y_j, bool same_neuron, T eta, T tau) {
  return eta / tau * (y_i * y_j - (same_neuron ? T(1) : T(0)));
}

/// The same two with natural steps (natural_network.hpp), s = 1/(d + 2). A feedforward synapse hears two
/// numbers, the total activity of the outputs, ||y||^2, and of the whitened inputs, ||h||^2:
///   Delta W_ij = eta s (lambda_i^2 y_i - ||y||^2 c_i) / (1 + eta s ||y||^2 ||h||^2) h_j
template <typename T>
constexpr T natural_feedforward_plasticity(T h_j, T y_i, T c_i, T total_activity, T input_activity,
                                           T lambda2_i, T eta, T s) {
  return eta * s * (lambda2_i * y_i - total_activity * c_i) /
         (1 + eta * s * total_activity * input_activity) * h_j;
}

/// A lateral synapse knows its own weight and the leaks M_ii and M_jj of its two neurons:
///   Delta M_ij = mu (sqrt(M_ii M_jj) y_i y_j - M_ij) / (1 + mu ||y||^2)
template <typename T>
T natural_lateral_plasticity(T y_i, T y_j, T M_ij, T M_ii, T M_jj, T total_activity, T mu) {
  return mu * (std::sqrt(M_ii * M_jj) * y_i * y_j - M_ij) / (1 + mu * total_activity);
}

/// And two more where all of it is local (local_network.hpp). Between two input neurons, with x from the mean
/// before frame t: Delta S_jk = (x_j x_k (t - 1)/t - S_jk)/t, so that S is the covariance of all frames.
template <typename T>
constexpr T covariance_plasticity(T x_j, T x_k, T S_jk, T t) {
  return (x_j * x_k * (t - 1) / t - S_jk) / t;
}

/// A slow synapse follows the fast one beside it: by 3/t, which weighs frame k by k^2.
template <typename T>
constexpr T consolidation(T fast, T slow, T t) {
  return (t > 3 ? 3 / t : T(1)) * (fast - slow);
}

/// The rule near the optimum (equation for Delta W with M close to I): Delta W_ij = eta p(||y||^2) y_i x_j
/// with
///   p(a) = 1 - a / lambda_i^2
/// Positive (LTP for correlated input and output) below the threshold lambda_i^2, negative (LTD) above.
template <typename T>
constexpr T hebbian_factor(T total_activity, T lambda2_i) {
  return 1 - total_activity / lambda2_i;
}

}  // namespace demix
