#include "batch/pair_products.hpp"

#include "core/tile.hpp"

namespace demix {
namespace {

constexpr Index lane = width<double>;
constexpr Index panel = 2 * lane;

// Row l of the triangle is y_l (y_0 ... y_l), in whole lanes: what is too much is written over by the next.
DEMIX_CLONES void pairs_of(const double* y, Index d, Index frames, Index t, double* one, double* panels) {
  double* to = one;
  for (Index l = 0; l < d; ++l) {
    for (Index k = 0; k <= l; k += lane) store(to + k, y[l] * load(y + k));
    to += l + 1;
  }
  for (Index c = 0; c < to - one; c += panel) {
    double* at = panels + c * frames + t * panel;
    store(at, load(one + c));
    store(at + lane, load(one + c + lane));
  }
}

// Four rows at a time, brought side by side.
DEMIX_CLONES void products(const double* panels, Index frames, const Index* rows, Index count, Index pairs,
                           double* together, double* s) {
  const double* four[] = {together, together + 1, together + 2, together + 3};
  for (Index r = 0; r < count; r += 4) {
    for (Index q = 0; q < 4; ++q) {
      const Index row = rows[std::min(r + q, count - 1)];
      const double* from = panels + row / panel * panel * frames + row % panel;
      for (Index t = 0; t < frames; ++t) together[4 * t + q] = from[t * panel];
    }
    for (Index c = 0; c < pairs; c += panel) {
      add_outer_to<2>(four, 4, panels + c * frames, panel, frames, pairs - c, count - r, s + r * pairs + c,
                      pairs);
    }
  }
}

}  // namespace

void PairProducts::set(const LineMatrix<double>& Y, Index d) {
  const Index pairs = d * (d + 1) / 2;
  frames_ = Y.cols();
  frame_.resize(pairs + panel, 1);
  frame_.setZero();  // what lies behind the last pair is multiplied too, and garbage may be slow to multiply
  panels_.resize(panel * frames_, (pairs + panel - 1) / panel);
  four_.resize(4, frames_);
  for (Index t = 0; t < frames_; ++t) pairs_of(Y.col(t).data(), d, frames_, t, frame_.data(), panels_.data());
}

void PairProducts::add_products(const std::vector<Index>& rows, Matrix<double>& S) {
  products(panels_.data(), frames_, rows.data(), static_cast<Index>(rows.size()), S.rows(), four_.data(),
           S.data());
}

}  // namespace demix
