#pragma once

#include <vector>

#include "core/scratch.hpp"
#include "demix/types.hpp"

namespace demix {

/// The products y_k y_l, k <= l, of some frames, at pair_index(k, l).
class PairProducts {
 public:
  /// Of the frames of a block Y (core/blocks.hpp) of d components.
  void set(const LineMatrix<double>& Y, Index d);

  /// S_cr <- S_cr + sum_t z_c(t) z_rows[r](t) for the first pairs c, as many as S has rows
  void add_products(const std::vector<Index>& rows, Matrix<double>& S);

 private:
  // A column for each sixteen pairs, frame after frame: they are close together, however many pairs there
  // are.
  LineMatrix<double> panels_;
  LineMatrix<double> frame_;  // the pairs of one
  LineMatrix<double> four_;   // four pairs of each
  Index frames_ = 0;
};

}  // namespace demix
