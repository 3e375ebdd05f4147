#pragma once

#include "online/inverse_root.hpp"
#include "online/white_coordinates.hpp"

/// Outputs made of the first coordinates, exactly white over all frames so far, in pieces:
///
///   y = C^-1/2 u,   unmixing = C^-1/2 V,   mixing = E[x y^T] = V^-1 E[u y^T]
///
/// each positive on the channel where it is strongest in units of the channels' deviations.
namespace demix {

class WhiteOutputs {
 public:
  explicit WhiteOutputs(Index n)
      : root_(n),
        unmixing_(padded_square(n)),
        mixing_(unmixing_),
        mean_(Vector<double>::Zero(n)),
        work_(unmixing_),
        product_(unmixing_),
        deviation_(mean_) {}

  void begin(const WhiteCoordinates& white, Index r);
  bool busy() const { return busy_; }
  bool work(const WhiteCoordinates& white);  ///< one piece; true: the matrices are there
  double cost() const { return root_.cost(); }
  void clear() {
    busy_ = false;
    rank_ = 0;
  }

  Index rank() const { return rank_; }
  const Vector<double>& mean() const { return mean_; }          ///< of the channels
  const Matrix<double>& unmixing() const { return unmixing_; }  ///< the first rank() rows
  const Matrix<double>& mixing() const { return mixing_; }      ///< the first rank() columns
  bool finite() const { return unmixing_.allFinite() && mixing_.allFinite(); }

  template <typename Archive>
  void fields(Archive& a) {
    a(root_, busy_, outputs_, rank_, unmixing_, mixing_, mean_);
    require_state(outputs_ >= 0 && outputs_ <= mean_.size() && rank_ >= 0 && rank_ <= mean_.size(),
                  "more outputs than channels");
    require_state(!busy_ || (outputs_ > 0 && root_.size() == outputs_), "a root of other outputs");
  }

 private:
  void publish(const WhiteCoordinates& white);

  InverseRoot root_;
  bool busy_ = false;
  Index outputs_ = 0;  // those to come
  Index rank_ = 0;
  Matrix<double> unmixing_, mixing_;
  Vector<double> mean_;

  Matrix<double> work_, product_;
  Vector<double> deviation_;
};

}  // namespace demix
