#include <gtest/gtest.h>

#include <numbers>

#include "demix/causal_filter.hpp"
#include "demix/metrics.hpp"
#include "demix/random.hpp"
#include "demix/stream_separator.hpp"

namespace demix {
namespace {

// (1 - 1/z)^2 over (1 - .98/z)^2: takes out what is slow
const Filter highpass{{1, -2, 1, -1.96, 0.9604}};

struct Drifting {
  Matrix<double> A, X;
};

// Four sources, and a drift of the channels that has most of the power.
Drifting drifting(Index frames, std::uint64_t seed) {
  Random random(seed);
  Drifting d{random.normal(4, 4), Matrix<double>(4, frames)};
  for (Index t = 0; t < frames; ++t) {
    const Vector<double> s{{random.laplace(), random.laplace(), std::sqrt(12) * (random.uniform() - 0.5),
                            std::sqrt(12) * (random.uniform() - 0.5)}};
    d.X.col(t) = d.A * s;
    for (Index i = 0; i < 4; ++i)
      d.X(i, t) +=
          50 + 30 * std::sin(2e-4 * std::numbers::pi * static_cast<double>(t) + static_cast<double>(i));
  }
  return d;
}

StreamOptions filtering(bool filter_output = false) {
  StreamOptions o;
  o.filter = highpass;
  o.filter_output = filter_output;
  return o;
}

TEST(CausalFilter, IsItsDifferenceEquation) {
  const Filter two{{0.3, -0.2, 0.1, -0.5, 0.2}, {1, 0.4, 0, 0.1, -0.3}};
  Random random(1);
  const Matrix<double> X = random.normal(3, 200);
  CausalFilter filter(two, 3);
  Matrix<double> Y(3, 200);
  // As if the first frame had always been there: after so many of it nothing of the beginning is left.
  constexpr Index before = 300;
  Matrix<double> V(3, before + 200);
  V.leftCols(before).colwise() = X.col(0);
  V.rightCols(200) = X;
  for (const FilterSection& s : two) {
    Matrix<double> W = V;
    for (Index t = 0; t < V.cols(); ++t) {
      W.col(t) = s.b0 * V.col(t);
      if (t > 0) W.col(t) += s.b1 * V.col(t - 1) - s.a1 * W.col(t - 1);
      if (t > 1) W.col(t) += s.b2 * V.col(t - 2) - s.a2 * W.col(t - 2);
    }
    V = W;
  }
  for (Index t = 0; t < 200; ++t) filter.step(X.col(t), Y.col(t));
  EXPECT_LT((Y - V.rightCols(200)).cwiseAbs().maxCoeff(), 1e-12);
  filter.clear();
  Vector<double> again(3);
  filter.step(X.col(0), again);
  EXPECT_EQ(again, Vector<double>(Y.col(0)));
}

TEST(CausalFilter, KnowsWhatIsStable) {
  EXPECT_TRUE((FilterSection{1, 0, 0, -1.9, 0.95}).is_stable());
  EXPECT_FALSE((FilterSection{1, 0, 0, -2, 1}).is_stable());
  EXPECT_FALSE((FilterSection{1, 0, 0, 0, 1.1}).is_stable());
  EXPECT_FALSE((FilterSection{1, 0, 0, -1.5, 0.4}).is_stable());
  EXPECT_FALSE((FilterSection{NAN, 0, 0, 0, 0}).is_stable());
}

TEST(StreamFilter, LearnsFromTheFilteredFramesBitForBit) {
  const Drifting d = drifting(20000, 2);
  for (const bool robust : {false, true}) {
    StreamOptions with = filtering(), without;
    with.robust = without.robust = robust;
    StreamSeparator<double> filtered(4, with), plain(4, without);
    CausalFilter filter(highpass, 4);
    Vector<double> f(4), y(4);
    for (Index t = 0; t < d.X.cols(); ++t) {
      filter.step(d.X.col(t), f);
      plain.step(f, y);
      filtered.step(d.X.col(t), y);
      ASSERT_EQ(Vector<double>(filtered.filtered()), f);
    }
    EXPECT_EQ(filtered.unmixing(), plain.unmixing());
    EXPECT_EQ(filtered.status().kurtosis, plain.status().kurtosis);
    EXPECT_EQ(filtered.status().expected_mse, plain.status().expected_mse);
    EXPECT_EQ(filtered.counts().outliers, plain.counts().outliers);
  }
}

TEST(StreamFilter, SeparatesWhatDriftsAndPutsOutTheFramesAsTheyAre) {
  const Drifting d = drifting(40000, 3);
  StreamSeparator<double> stream(4, filtering()), plain(4);
  Vector<double> y(4), unused(4);
  for (Index t = 0; t + 1 < d.X.cols(); ++t) {
    stream.step(d.X.col(t), y);
    plain.step(d.X.col(t), unused);
  }
  const Matrix<double> U = stream.unmixing();
  const Vector<double> mean = stream.mean();
  stream.step(d.X.rightCols(1), y);
  EXPECT_LT((y - U * (d.X.rightCols(1) - mean)).norm(), 1e-10 * y.norm());
  EXPECT_LT((mean - d.X.rowwise().mean()).norm(), 0.05 * d.X.rowwise().mean().norm());
  EXPECT_LT(amari_index(U * d.A), 0.02);
  EXPECT_GT(amari_index(plain.unmixing() * d.A), 0.05);
  const Model model = stream.model();
  EXPECT_LT((model.mean - d.X.rowwise().mean()).norm(), 0.05 * model.mean.norm());
  EXPECT_LT(amari_index(model.unmixing * d.A), 0.02);
}

TEST(StreamFilter, OutputsAreFilteredWhereThatIsAskedFor) {
  const Drifting d = drifting(20000, 4);
  StreamSeparator<double> stream(4, filtering(true));
  Vector<double> y(4);
  double power = 0;
  for (Index t = 0; t < d.X.cols(); ++t) {
    stream.step(d.X.col(t), y);
    if (t >= 10000) power += y.squaredNorm() / 40000;
  }
  EXPECT_NEAR(power, 1, 0.05);  // nothing of the drift
  EXPECT_LT((y - stream.unmixing() * stream.filtered()).norm(), 0.05 * y.norm());
}

TEST(StreamFilter, BlocksAndStatesDoNotMatter) {
  const Drifting d = drifting(6000, 5);
  for (const bool output : {false, true}) {
    StreamSeparator<double> whole(4, filtering(output));
    Matrix<double> Y(4, 6000), Z(4, 6000);
    whole.process(d.X, Y);
    StreamSeparator<double> first(4, filtering(output));
    first.process(d.X.leftCols(3333), Z.leftCols(3333));
    auto second = StreamSeparator<double>::restore(first.state());
    EXPECT_EQ(second.options(), first.options());
    second.process(d.X.rightCols(2667), Z.rightCols(2667));
    EXPECT_EQ(Y, Z);
    EXPECT_EQ(second.state(), whole.state());
  }
}

TEST(StreamFilter, NothingInfiniteComesOutOfIt) {
  Drifting d = drifting(3000, 6);
  d.X.col(1000).setConstant(NAN);
  d.X.col(1001).setConstant(1e74);
  for (const bool output : {false, true}) {
    StreamSeparator<double> stream(4, filtering(output));
    Vector<double> y(4);
    for (Index t = 0; t < d.X.cols(); ++t) {
      EXPECT_EQ(stream.step(d.X.col(t), y), t != 1000) << t;
      ASSERT_TRUE(y.allFinite());
    }
  }
}

TEST(StreamFilter, WhatCannotBeIsRefused) {
  StreamOptions o = filtering();
  o.filter[0].a2 = 1.5;
  EXPECT_THROW(StreamSeparator<double>(4, o), std::invalid_argument);
  o = filtering();
  o.learn = StreamOptions::Learn::replay;
  EXPECT_THROW(StreamSeparator<double>(4, o), std::invalid_argument);
  o = {};
  o.filter_output = true;
  EXPECT_THROW(StreamSeparator<double>(4, o), std::invalid_argument);
  o = filtering();
  o.filter.resize(65);
  EXPECT_THROW(StreamSeparator<double>(4, o), std::invalid_argument);
}

}  // namespace
}  // namespace demix
