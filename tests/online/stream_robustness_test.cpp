#include <cmath>
#include <limits>

#include "demix/metrics.hpp"
#include "online/stream_support.hpp"
#include "support.hpp"

/// The stream separator on data that is not as one would like it: dependent channels, changes, bad frames.
namespace demix {
namespace {

using Learn = StreamOptions::Learn;
using testing::Data;
using testing::fastica_by_hand;
using testing::make;
using testing::run;
using testing::separate;
constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

TEST(Stream, DeadAndDuplicatedChannelsReduceTheRank) {
  const Data data = make(20000, 11);
  Matrix<double> X(7, data.X.cols());
  X << data.X, data.X.row(1), Eigen::RowVectorXd::Constant(data.X.cols(), 5.0), data.X.row(0) + data.X.row(2);
  StreamSeparator<double> stream(7);
  const Matrix<double> Y = separate(stream, X);
  EXPECT_EQ(stream.status().rank, 4);
  EXPECT_TRUE(Y.allFinite());
  EXPECT_LT(mse(data.S, Matrix<double>(Y.topRows(4))), 0.01);
  EXPECT_EQ(Y.bottomRows(3).cwiseAbs().maxCoeff(), 0);

  StreamSeparator<float> in_float(7);
  run(in_float, X);
  in_float.finish();
  EXPECT_EQ(in_float.status().rank, 4);
}

// Average reference, a copy, levels that change, sources that begin in turn: rank and matrix stay right.
TEST(Stream, DependentChannelsWhileLevelsChange) {
  for (const int seed : {40, 41, 42, 43}) {
    Data data = make(40000, static_cast<std::uint64_t>(seed));
    for (Index i = 0; i < 4; ++i) {
      if (seed < 42) data.S.row(i).head(5000 * i).setZero();  // one after the other
      data.S.row(i).segment(10000, 8000) *= seed % 2 == 0 ? 1e-3 : 30;
    }
    Random random(static_cast<std::uint64_t>(seed));
    const Matrix<double> A = random.normal(7, 4);
    Matrix<double> X = A * data.S;
    X.row(4) = X.row(0);
    X.rowwise() -= X.colwise().mean().eval();  // average reference: another dependence
    const Index rank = pivoted_qr(X * X.transpose()).rank;
    StreamSeparator<double> stream(7);
    run(stream, X);
    stream.finish();
    EXPECT_EQ(stream.status().rank, std::min<Index>(rank, 4)) << seed;
    const Matrix<double> U = stream.unmixing().topRows(4);
    const Matrix<double> Y = U * (X.colwise() - stream.mean());
    EXPECT_LT((Y * Y.transpose() / 40000 - Matrix<double>::Identity(4, 4)).norm(), 1e-6) << seed;
    // Sources whose levels change together depend on each other, and FastICA has several optima: it stays
    // where it is.
    const Matrix<double> I = Matrix<double>::Identity(4, 4);
    EXPECT_LT(amari_index(fastica_by_hand(Y, Vector<double>::Ones(Y.cols()), I)), 1e-4) << seed;
    EXPECT_NO_THROW(stream.model().validate());
  }
}

TEST(Stream, AChannelComesAlive) {
  const Data data = make(60000, 12);
  Matrix<double> X = data.X;
  X.row(2).head(20000).setConstant(1.5);
  StreamSeparator<double> stream(4);
  run(stream, X.leftCols(20000));
  EXPECT_EQ(stream.status().rank, 3);
  run(stream, X.rightCols(40000));
  stream.finish();
  EXPECT_EQ(stream.status().rank, 4);
  EXPECT_LT(amari_index(stream.unmixing() * inverse(fastica_by_hand(X))), 1e-7);
}

TEST(Stream, SilenceBeforeTheSignalIsLearnedFromToo) {
  Data data = make(20000, 13);
  data.X.leftCols(700).setZero();
  StreamSeparator<double> stream(4);
  run(stream, data.X);
  stream.finish();
  EXPECT_LT(amari_index(stream.unmixing() * inverse(fastica_by_hand(data.X))), 1e-7);
}

TEST(Stream, TrackFollowsAJumpAndSaysWhen) {
  const std::vector<Source> three{Source::square, Source::sine, Source::laplace};
  Random random(21);
  const Matrix<double> S = make_sources(three, 100000, Timing::iid, random);
  const Matrix<double> A = random.normal(3, 3);
  const Matrix<double> B = random.normal(3, 3);
  StreamOptions options;
  options.memory = 20000;
  StreamSeparator<double> stream(3, options);
  run(stream, A * S.leftCols(60000));
  EXPECT_LT(mse(S, Matrix<double>(stream.unmixing() * A * S)), 0.02);
  EXPECT_EQ(stream.status().changes, 0);
  run(stream, B * S.rightCols(40000));
  EXPECT_EQ(stream.status().changes, 1);
  EXPECT_GT(stream.status().last_change, 60000);
  EXPECT_LT(stream.status().last_change, 66000);
  EXPECT_LT(mse(S, Matrix<double>(stream.unmixing() * B * S)), 0.02);
}

TEST(Stream, AskedRightAfterAChange) {
  Random random(44);
  StreamOptions options;
  options.memory = 8000;
  StreamSeparator<double> stream(3, options);
  Vector<double> y(3);
  const std::vector<Source> three{Source::square, Source::sine, Source::laplace};
  const Matrix<double> A = random.normal(3, 3);
  const Matrix<double> S = make_sources(three, 30000, Timing::iid, random);
  run(stream, A * S);
  const Matrix<double> B = random.normal(3, 3);
  Index since = 0;
  for (Index t = 0; t < 6000 && since < 800; ++t) {
    stream.step(B * S.col(t), y);
    if (stream.status().changes == 0) continue;
    ++since;
    const StreamStatus status = stream.status();
    ASSERT_EQ(status.kurtosis.size(), 3);
    ASSERT_TRUE(status.kurtosis.hasNaN() ? since < 64 : status.kurtosis.minCoeff() >= 1) << since;
    ASSERT_GE(status.condition.value_or(1), 1);
    ASSERT_NO_THROW(stream.model().validate()) << since;
  }
  EXPECT_EQ(since, 800);
}

TEST(Stream, OneAbsurdValueDoesNotBreakIt) {
  for (const double size : {1e9, 1e30, 1e100}) {
    Matrix<double> X = make(6000, 45).X;
    X(1, 3000) = size;
    StreamSeparator<double> stream(4);
    EXPECT_TRUE(run(stream, X).allFinite());
    EXPECT_NO_THROW({
      const StreamStatus s = stream.status();
      EXPECT_LE(s.rank, 4);
      stream.model().validate();
    }) << size;
  }
}

TEST(Stream, BadFramesAreRefusedAndLeaveNoTrace) {
  const Data data = make(6000, 15);
  StreamOptions options;
  options.saturation = 1e3;
  StreamSeparator<double> clean(4, options);
  StreamSeparator<double> dirty(4, options);
  Vector<double> y(4);
  Vector<double> z(4);
  Random random(16);
  std::int64_t bad = 0;
  for (Index t = 0; t < 6000; ++t) {
    clean.step(data.X.col(t), y);
    while (random.uniform() < 0.1) {
      Vector<double> x = data.X.col(t);
      const double value[] = {nan, inf, -inf, 1e200, 2e3, -1e3};
      const Index which = random.below(6);
      x(random.below(4)) = value[which];
      EXPECT_FALSE(dirty.step(x, z));
      EXPECT_TRUE(z.allFinite());
      if (which < 4) {  // of the saturated ones, the output is given
        EXPECT_EQ(z.cwiseAbs().maxCoeff(), 0);
      }
      ++bad;
    }
    EXPECT_TRUE(dirty.step(data.X.col(t), z));
  }
  EXPECT_LT((clean.unmixing() - dirty.unmixing()).norm(), 1e-9 * clean.unmixing().norm());
  EXPECT_EQ(dirty.status().refused, bad);
  EXPECT_EQ(dirty.status().frames, 6000 + bad);
  EXPECT_EQ(clean.status().refused, 0);
}

TEST(Stream, StaysFiniteWhateverComes) {
  std::vector<StreamOptions> ways(6);
  for (std::size_t k = 0; k < 4; ++k) {
    ways[k].robust = k % 2 == 1;
    ways[k].memory = k < 2 ? 0 : 1500;
  }
  ways[4].learn = Learn::replay;
  ways[5].learn = Learn::frame;
  for (const StreamOptions& options : ways) {
    {
      StreamSeparator<double> stream(3, options);
      StreamSeparator<float> in_float(3, options);
      Random random(17);
      Vector<double> y(3);
      Vector<float> z(3);
      double scale = 1;
      for (Index t = 0; t < 40000; ++t) {
        if (t % 500 == 0) scale = std::pow(10, random.uniform(-120, 120));  // jumps of decades
        Vector<double> x = scale * random.normal(3, 1).col(0);
        if (t % 3000 < 200) x.setZero();
        if (t % 7000 < 100) x.setConstant(scale);
        if (random.uniform() < 0.01) x(random.below(3)) *= 1e12;
        stream.step(x, y);
        ASSERT_TRUE(y.allFinite()) << t;
        in_float.step((x / scale).cast<float>(), z);
        ASSERT_TRUE(z.allFinite()) << t;
      }
      EXPECT_TRUE(stream.unmixing().allFinite());
      stream.finish();
      EXPECT_TRUE(stream.unmixing().allFinite());
    }
  }
}

// Frames a thousand times as large as others teach nothing good, but what was learned is not lost.
TEST(Stream, HugeFramesDoNotMakeItForget) {
  for (const Index d : {32, 128}) {
    Matrix<double> X = testing::many(d, 8000, 51);
    for (Index t = 1500; t < X.cols(); t += 97) X.col(t) *= 1000;
    StreamSeparator<double> stream(d);
    Vector<double> y(d);
    double learned = 0;
    for (Index t = 0; t < X.cols(); ++t) {
      stream.step(X.col(t), y);
      ASSERT_GE(stream.counts().learned, learned) << d << " channels, frame " << t;
      learned = stream.counts().learned;
    }
    EXPECT_GT(learned, 7000);
    EXPECT_TRUE(stream.unmixing().allFinite());
  }
}

}  // namespace
}  // namespace demix
