#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "online/block_kernels.cpp"
#include <hwy/foreach_target.h>  // what follows, once for each generation of processors

#include "core/simd-inl.hpp"
#include "core/simd.hpp"
#include "online/block_kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace demix {
namespace HWY_NAMESPACE {

void MultiplyAdd(const double* A, Index lda, const double* B, Index column_step, Index depth_step, Index m,
                 Index n, Index depth, double* C, Index ldc) {
  for (Index j = 0; j < n; j += 4) {
    const auto column = [&](Index k) HWY_ATTR { return B + std::min(j + k, n - 1) * column_step; };
    const double* const scalars[4] = {column(0), column(1), column(2), column(3)};
    add_outer_rows(scalars, depth_step, A, lda, depth, m, n - j, C + j * ldc, ldc);
  }
}

void TanhAndSlope(const double* u, Index count, double* t, double* s) {
  const auto some = [&](auto d, Index k) HWY_ATTR {
    const auto g = tanh_parts(d, hn::LoadU(d, u + k)).tanh;
    hn::StoreU(g, d, t + k);
    hn::StoreU(hn::NegMulAdd(g, g, hn::Set(d, 1.0)), d, s + k);
  };
  const Full<double> full;
  const Unit<double> small;
  Index k = 0;
  for (; k + lanes(full) <= count; k += lanes(full)) some(full, k);
  for (; k < count; k += lanes(small)) some(small, k);
}

}  // namespace HWY_NAMESPACE
}  // namespace demix
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace demix::kernels {
namespace {
HWY_EXPORT(MultiplyAdd);
HWY_EXPORT(TanhAndSlope);
}  // namespace

void multiply_add(const double* A, Index lda, const double* B, Index column_step, Index depth_step, Index m,
                  Index n, Index depth, double* C, Index ldc) {
  DEMIX_DISPATCH(MultiplyAdd)(A, lda, B, column_step, depth_step, m, n, depth, C, ldc);
}

void tanh_and_slope(const double* u, Index count, double* t, double* s) {
  DEMIX_DISPATCH(TanhAndSlope)(u, count, t, s);
}

}  // namespace demix::kernels
#endif
