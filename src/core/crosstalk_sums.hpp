#pragma once

#include "core/scratch.hpp"
#include "demix/crosstalk.hpp"

namespace demix {

/// What the crosstalk that FOBI leaves is estimated from, of blocks of outputs y (core/blocks.hpp):
///   m_p = E[w^p y_i^2 y_j^2],  k = E[w' y_i^2 y_j^2]
/// Some of the frames are enough.
class CrosstalkSums {
 public:
  explicit CrosstalkSums(Weight weight) : weight_(weight) {}

  /// Of d outputs; `weights`: how much each frame counts, or null.
  void add(const LineMatrix<double>& Y, Index d, const double* weights);
  void merge(const CrosstalkSums& other);
  /// As fobi_crosstalk, for so many frames. D_i = E[w y_i^2] is of all of them: its differences matter.
  Matrix<double> crosstalk(const Vector<double>& D, double samples) const;

 private:
  Weight weight_;
  double total_ = 0;                 // of the weights
  Matrix<double> m0_, m1_, m2_, k_;  // lower triangles; empty before the first frames
};

}  // namespace demix
