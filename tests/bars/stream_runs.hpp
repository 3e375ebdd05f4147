#pragma once

#include <cmath>
#include <cstdlib>
#include <vector>

#include "demix/metrics.hpp"
#include "demix/stream_separator.hpp"
#include "demix/synthetic.hpp"
#include "support.hpp"

/// What the bars of the stream share.
namespace demix::testing {

inline const bool full = std::getenv("DEMIX_FULL") != nullptr;

/// A figure beside its bar.
inline const char* verdict(bool met) { return met ? "met" : "NOT MET"; }

inline const std::vector<Source> sub{Source::square, Source::sine, Source::sawtooth};
inline const std::vector<Source> both{Source::square, Source::sine, Source::laplace};
inline const std::vector<Source> four{Source::square, Source::sine, Source::sawtooth, Source::laplace};

inline Matrix<double> any_mixing(Index d, int k) {
  Random random(static_cast<std::uint64_t>(700 + k));
  return conditioned_mixing(d, std::pow(1e6, random.uniform()), random);
}

/// MSE after one pass; watch(t, stream) after every frame.
template <typename Watch>
double separate(const Matrix<double>& X, const Matrix<double>& S, const StreamOptions& options,
                Watch&& watch) {
  StreamSeparator<double> stream(X.rows(), options);
  Vector<double> y(stream.outputs());
  for (Index t = 0; t < X.cols(); ++t) {
    stream.step(X.col(t), y);
    watch(t, stream);
  }
  EXPECT_TRUE(y.allFinite());
  stream.finish();
  return mse(S, Matrix<double>(stream.unmixing() * (X.colwise() - stream.mean())));
}

inline double separate(const Matrix<double>& X, const Matrix<double>& S, const StreamOptions& options = {}) {
  return separate(X, S, options, [](Index, const StreamSeparator<double>&) {});
}

}  // namespace demix::testing
