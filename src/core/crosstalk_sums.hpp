#pragma once

#include "demix/crosstalk.hpp"

namespace demix {

/// What the crosstalk that FOBI leaves is estimated from, of blocks of outputs y that lie channel after
/// channel, filled up with zeros:
///   m_p = E[w^p y_i^2 y_j^2],  k = E[w' y_i^2 y_j^2]
/// Some of the frames are enough.
class CrosstalkSums {
 public:
  explicit CrosstalkSums(Weight weight) : weight_(weight) {}

  /// `weights`: how much each frame counts, or null.
  void add(const Matrix<double>& Y, Index frames, const double* weights);
  void merge(const CrosstalkSums& other);
  /// As fobi_crosstalk, for so many frames. D_i = E[w y_i^2] is of all of them: its differences matter.
  Matrix<double> crosstalk(const Vector<double>& D, double samples) const;

 private:
  Weight weight_;
  double total_ = 0;                 // of the weights
  Matrix<double> m0_, m1_, m2_, k_;  // lower triangles; empty before the first frames
};

}  // namespace demix
