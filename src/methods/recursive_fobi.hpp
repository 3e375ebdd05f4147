#pragma once

#include "demix/fourth_moments.hpp"
#include "demix/methods.hpp"
#include "online/white_coordinates.hpp"

/// FOBI of all frames so far, exactly, without keeping one:
///
///   coordinates  u = V (x - origin) - v0, nearly white (white_coordinates.hpp)
///   sums         the fourth moments F of [1; u], which move with the coordinates (fourth_moments.hpp)
///   solve        h = P (u - mean),  Z = E[||h||^2 h h^T] = E D E^T from F,  y = E^T h
///
/// The work of a block is done at once, and outputs change places from one solution to the next.
namespace demix {

class RecursiveFobi final : public OnlineSeparator {
 public:
  static constexpr Index most_channels = 64;  ///< C(68, 4) = 814,385 numbers

  /// Throws std::invalid_argument above most_channels.
  RecursiveFobi(Index inputs, Index outputs);

  bool step(const Vector<double>& x, Vector<double>& y) override;
  void finish() override { learn(true); }
  Matrix<double> unmixing() const override { return unmixing_; }

 private:
  void learn(bool last);
  void solve();

  WhiteCoordinates white_;
  FourthMoments<double> fourth_;
  Index outputs_;
  Matrix<double> block_;
  Index pending_ = 0;
  double next_solve_ = 0;
  Matrix<double> unmixing_;
  Vector<double> mean_;
};

}  // namespace demix
