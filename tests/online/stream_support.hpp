#pragma once

#include <cmath>
#include <vector>

#include "demix/linear_algebra.hpp"
#include "demix/random.hpp"
#include "demix/stream_separator.hpp"
#include "demix/synthetic.hpp"

/// What the tests of the stream separator share: data, and what it should come to.
namespace demix::testing {

inline const std::vector<Source> four{Source::square, Source::sine, Source::sawtooth, Source::laplace};

struct Data {
  Matrix<double> S, X;
};

inline Data make(Index frames, std::uint64_t seed, double condition = 10,
                 const std::vector<Source>& which = four) {
  Random random(seed);
  const auto d = static_cast<Index>(which.size());
  Data data;
  data.S = make_sources(which, frames, Timing::iid, random);
  data.X = conditioned_mixing(d, condition, random) * data.S;
  data.X.colwise() += Vector<double>(3 * random.normal(d, 1).col(0));
  return data;
}

/// Laplace noise of d channels, each to another power, so that no two kurtoses agree.
inline Matrix<double> many(Index d, Index frames, std::uint64_t seed) {
  Random random(seed);
  Matrix<double> S(d, frames);
  for (Index t = 0; t < frames; ++t) {
    for (Index i = 0; i < d; ++i) {
      const double u = random.normal();
      S(i, t) = std::copysign(
          std::pow(std::abs(u), 0.5 + 1.5 * static_cast<double>(i) / static_cast<double>(d)), u);
    }
  }
  return random.normal(d, d) * S;
}

template <typename T>
Matrix<T> run(StreamSeparator<T>& stream, const Matrix<double>& X) {
  Matrix<T> Y(stream.outputs(), X.cols());
  stream.process(X.cast<T>().eval(), Y);
  return Y;
}

inline Matrix<double> separate(StreamSeparator<double>& stream, const Matrix<double>& X) {
  run(stream, X);
  stream.finish();
  return stream.unmixing() * (X.colwise() - stream.mean());
}

/// What symmetric FastICA with tanh makes of all the frames at once, weighted by w, straight from its
/// definition; from the rotation of U, or from the axes of FOBI.
inline Matrix<double> fastica_by_hand(const Matrix<double>& X, const Vector<double>& w,
                                      const Matrix<double>& U = {}) {
  const Vector<double> p = w / w.sum();
  const Matrix<double> x = X.colwise() - X * p;
  const Matrix<double> P = inverse_sqrt(symmetric_eigen(x * p.asDiagonal() * x.transpose()));
  const Matrix<double> h = P * x;
  const Vector<double> activity = h.colwise().squaredNorm().transpose().cwiseProduct(p);
  Matrix<double> W = symmetric_eigen(h * activity.asDiagonal() * h.transpose()).vectors.transpose();
  if (U.size() > 0) W = U * inverse(P);
  for (int step = 0; step < 500; ++step) {
    const Matrix<double> g = (W * h).array().tanh();
    const Vector<double> slope = (1 - g.array().square()).matrix() * p;
    const Matrix<double> M = g * p.asDiagonal() * h.transpose() - slope.asDiagonal() * W;
    const Matrix<double> next = inverse_sqrt(symmetric_eigen(M * M.transpose())) * M;
    const double cosine = (next * W.transpose()).diagonal().cwiseAbs().minCoeff();
    W = next;
    if (cosine > 1 - (U.size() > 0 ? 1e-10 : 1e-15)) break;
  }
  return W * P;
}
inline Matrix<double> fastica_by_hand(const Matrix<double>& X) {
  return fastica_by_hand(X, Vector<double>::Ones(X.cols()));
}

}  // namespace demix::testing
