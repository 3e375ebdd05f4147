#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "batch/pair_products.cpp"
#include <hwy/foreach_target.h>  // what follows, once for each generation of processors

#include "batch/pair_products.hpp"
#include "core/simd-inl.hpp"
#include "core/simd.hpp"

#ifndef DEMIX_BATCH_PAIR_PANEL
#define DEMIX_BATCH_PAIR_PANEL
namespace demix {
inline constexpr Index pair_panel = 16;  // pairs side by side: two vectors of 64 bytes
}
#endif

HWY_BEFORE_NAMESPACE();
namespace demix {
namespace HWY_NAMESPACE {

// Row l of the triangle is y_l (y_0 ... y_l), in whole vectors: what is too much is written over by the next.
// Returns where the last one ends.
HWY_INLINE double* pairs_of(const double* HWY_RESTRICT y, Index channels, double* HWY_RESTRICT to) {
  const Unit<double> d;
  for (Index l = 0; l < channels; ++l) {
    const auto scalar = hn::Set(d, y[l]);
    for (Index k = 0; k <= l; k += lanes(d)) hn::StoreU(hn::Mul(scalar, hn::LoadU(d, y + k)), d, to + k);
    to += l + 1;
  }
  return to;
}

// The pairs of up to four channels are in one panel and need no copy.
HWY_INLINE void pairs_of_few(const double* y, Index stride, Index channels, Index frames, double* panel) {
  const Unit<double> d;
  const Index last = (channels * (channels + 1) / 2 - 1) / unit<double> * unit<double>;
  for (Index t = 0; t < frames; ++t) {
    double* at = panel + t * pair_panel;
    // What lies behind the last pair is multiplied, too.
    for (Index k = 0; k < unit<double>; k += lanes(d)) hn::StoreU(hn::Zero(d), d, at + last + k);
    pairs_of(y + t * stride, channels, at);
  }
}

void PairsOf(const double* y, Index stride, Index channels, Index frames, double* one, double* panels) {
  const Unit<double> d;
  if (channels <= 4) return pairs_of_few(y, stride, channels, frames, panels);
  for (Index t = 0; t < frames; ++t) {
    const Index pairs = pairs_of(y + t * stride, channels, one) - one;
    for (Index c = 0; c < pairs; c += pair_panel) {
      double* at = panels + c * frames + t * pair_panel;
      for (Index k = 0; k < pair_panel; k += lanes(d)) hn::StoreU(hn::LoadU(d, one + c + k), d, at + k);
    }
  }
}

// Four rows at a time, brought side by side if they are for several panels.
void PairSums(const double* panels, Index frames, const Index* rows, Index count, Index pairs,
              double* together, double* s) {
  const bool one_panel = pairs <= pair_panel && *std::max_element(rows, rows + count) < pair_panel;
  const Index step = one_panel ? pair_panel : 4;
  for (Index r = 0; r < count; r += 4) {
    const double* four[4];
    for (Index q = 0; q < 4; ++q) {
      const Index row = rows[std::min(r + q, count - 1)];
      const double* from = panels + row / pair_panel * pair_panel * frames + row % pair_panel;
      four[q] = one_panel ? from : together + q;
      for (Index t = 0; t < frames && !one_panel; ++t) together[4 * t + q] = from[t * pair_panel];
    }
    for (Index c = 0; c < pairs; c += pair_panel) {
      add_outer_rows(four, step, panels + c * frames, pair_panel, frames, std::min(pair_panel, pairs - c),
                     count - r, s + r * pairs + c, pairs);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace demix
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace demix {
namespace {
HWY_EXPORT(PairsOf);
HWY_EXPORT(PairSums);
}  // namespace

void PairProducts::set(const LineMatrix<double>& Y, Index d) {
  const Index pairs = d * (d + 1) / 2;
  frames_ = Y.cols();
  frame_.resize(pairs + pair_panel, 1);
  frame_.setZero();  // what lies behind the last pair is multiplied too, and garbage may be slow to multiply
  panels_.resize(pair_panel * frames_, (pairs + pair_panel - 1) / pair_panel);
  four_.resize(4, frames_);
  DEMIX_DISPATCH(PairsOf)(Y.data(), Y.rows(), d, frames_, frame_.data(), panels_.data());
}

void PairProducts::add_products(const std::vector<Index>& rows, Matrix<double>& S) {
  DEMIX_DISPATCH(PairSums)
  (panels_.data(), frames_, rows.data(), static_cast<Index>(rows.size()), S.rows(), four_.data(), S.data());
}

}  // namespace demix
#endif
