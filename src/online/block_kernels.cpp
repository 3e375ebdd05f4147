#include "online/block_kernels.hpp"

#include <algorithm>

#include "core/clones.hpp"
#include "core/tile.hpp"
#include "core/vector_exp.hpp"

namespace demix::kernels {

DEMIX_CLONES void multiply_add(const double* A, Index lda, const double* B, Index column_step,
                               Index depth_step, Index m, Index n, Index depth, double* C, Index ldc) {
  for (Index j = 0; j < n; j += 4) {
    const auto column = [&](Index k) { return B + std::min(j + k, n - 1) * column_step; };
    const double* const scalars[4] = {column(0), column(1), column(2), column(3)};
    for (Index i = 0; i < m;) {
      const Index left = m - i;
      double* c = C + j * ldc + i;
      if (left > 8) {
        add_outer_to<3>(scalars, depth_step, A + i, lda, depth, left, n - j, c, ldc);
        i += 12;
      } else if (left > 4) {
        add_outer_to<2>(scalars, depth_step, A + i, lda, depth, left, n - j, c, ldc);
        i += 8;
      } else {
        add_outer_to<1>(scalars, depth_step, A + i, lda, depth, left, n - j, c, ldc);
        i += 4;
      }
    }
  }
}

// With e = exp(-2 |u|):  tanh |u| = (1 - e) / (1 + e)
DEMIX_CLONES void tanh_and_slope(const double* u, Index count, double* t, double* s) {
  for (Index k = 0; k < count; k += 4) {
    const Lane<double> v = load(u + k);
    const Lane<double> e = exp_of_negative(-2 * magnitude(v));
    const Lane<double> g = with_sign_of((1 - e) / (1 + e), v);
    store(t + k, g);
    store(s + k, 1 - g * g);
  }
}

}  // namespace demix::kernels
