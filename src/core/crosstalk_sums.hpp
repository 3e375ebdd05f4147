#pragma once

#include "demix/crosstalk.hpp"

namespace demix {

/// What the crosstalk that FOBI leaves is estimated from, of blocks of outputs y that lie channel after
/// channel, filled up with zeros:
///   D_i = E[w y_i^2],  m_p = E[w^p y_i^2 y_j^2],  k = E[w' y_i^2 y_j^2]
/// D, whose differences matter, should see all frames; the rest may see some.
class CrosstalkSums {
 public:
  CrosstalkSums(Index components, Weight weight);

  /// `weights`: how much each frame counts, or null.
  void add(const Matrix<double>& Y, Index frames, const double* weights, bool all);
  void merge(const CrosstalkSums& other);
  /// As fobi_crosstalk, for so many frames.
  Matrix<double> crosstalk(double samples) const;

 private:
  Weight weight_;
  double total_ = 0, some_ = 0;  // weights of what D and of what the rest has seen
  Vector<double> D_;
  Matrix<double> m0_, m1_, m2_, k_;  // lower triangles
};

}  // namespace demix
