#pragma once

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
template <typename T>
constexpr T lateral_plasticity(T y_i, T y_j, bool same_neuron, T eta, T tau) {
  return eta / tau * (y_i * y_j - (same_neuron ? T(1) : T(0)));
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
