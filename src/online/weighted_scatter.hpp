#pragma once

#include "demix/types.hpp"

/// What a stream of many channels can keep of fourth order instead of the tensor of fourth_moments.hpp:
///
///   K = sum_t (xi^T G xi) xi xi^T,   xi = x - centre,   G near C^-1
///
/// When the whitener moves, from G to G + D, the frames in K cannot be weighted anew. Their change is put at
/// what it would be if they were Gaussian with the scatter S = n C they have had:
///
///   K <- K + n [tr(D C) C + 2 C D C]
///
/// Exact to first order for the Gaussian part, and the error fades as frames weighted well outnumber the
/// early ones. Unlike the tensor it does mind the order of the frames.
namespace demix {

class WeightedScatter {
 public:
  explicit WeightedScatter(Index d)
      : G_(Matrix<double>::Identity(d, d)),
        K_(Matrix<double>::Zero(d, d)),
        weighted_(d, 0),
        moved_(K_),
        product_(K_) {}

  void reserve(Index block) { weighted_.resize(G_.rows(), block); }

  /// K <- keep K + sum over the block, X centred
  void add(const Frames<double>& X, double keep) {
    auto weighted = weighted_.leftCols(X.cols());
    weighted.noalias() = G_ * X;
    for (Index t = 0; t < X.cols(); ++t) weighted.col(t) = X.col(t) * X.col(t).dot(weighted.col(t));
    K_ *= keep;
    K_.noalias() += weighted * X.transpose();
  }

  /// G <- G_new, with the scatter S of the n frames seen
  const Matrix<double>& reweigh(const Matrix<double>& G_new, const Matrix<double>& S, double n) {
    G_ = G_new - G_;                  // D
    product_.noalias() = G_ * S;      // D S
    moved_.noalias() = S * product_;  // S D S
    K_ += (product_.trace() * S + 2 * moved_) / n;
    G_ = G_new;
    return K_;
  }

  /// x <- W x
  void transform(const Matrix<double>& W, const Matrix<double>& W_inverse) {
    product_.noalias() = W * K_;
    K_.noalias() = product_ * W.transpose();
    product_.noalias() = G_ * W_inverse;
    G_.noalias() = W_inverse.transpose() * product_;
  }

  void clear() {
    G_.setIdentity();
    K_.setZero();
  }

  template <typename Archive>
  void fields(Archive& a) {
    a(G_, K_);
  }

 private:
  Matrix<double> G_, K_;
  Matrix<double> weighted_, moved_, product_;  // where the work is done
};

}  // namespace demix
