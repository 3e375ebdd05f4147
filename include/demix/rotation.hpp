#pragma once

#include <optional>

#include "demix/contrast.hpp"
#include "demix/model.hpp"
#include "demix/weight.hpp"
#include "demix/white_recording.hpp"

/// What a batch method finds, and what is made of it:
///
///   const WhiteRecording white = whiten(X);
///   Rotation r = fobi(white);
///   r = fastica(white, {}, r);            // goes on from there
///   const Model model = describe(white, r);
namespace demix {

/// The equations a method solves, one for each pair of outputs: E[psi_ij(y)] = 0. Its error follows from
/// them.
///   contrast          psi_ij = k_i g(y_i) y_j - k_j g(y_j) y_i,  k_i = sign(E[g'(y_i)] - E[g(y_i) y_i])
///   squared_contrast  the same with k_i = E[g'(y_i)] - E[g(y_i) y_i]; g = y^3: JADE
///   weighted          psi_ij = w(||y||^2) y_i y_j: FOBI
struct EstimatingEquation {
  enum class Kind { contrast, squared_contrast, weighted };
  Kind kind = Kind::contrast;
  Contrast contrast = Contrast::logcosh;
  Weight weight = Weight::square;

  template <typename Archive>
  void fields(Archive& a) {
    a(kind, contrast, weight);
  }
};

/// y = W h: a rotation of white h, or near one, or some rows of one.
struct Rotation {
  Matrix<double> W = {};
  std::string method = {};                          ///< name in the table of methods
  std::map<std::string, std::string> options = {};  ///< what it was called with
  std::optional<EstimatingEquation> equation = {};  ///< none: its error cannot be told
  Convergence convergence = {};
  std::string doubt = {};  ///< one line, if it has not converged
};

/// The model: kurtoses, order, signs, diagnosis and warnings. One pass.
Model describe(const WhiteRecording& white, const Rotation& rotation, Order order = Order::kurtosis);

/// The rotation next to U P^+, U being an unmixing of the channels: to go on from there.
Rotation rotation_near(const WhiteRecording& white, const Matrix<double>& unmixing);

/// What the one-call forms of all batch methods take.
struct BatchOptions {
  WhiteningOptions whitening = {};
  Order order = Order::kurtosis;
};

}  // namespace demix
