#include "demix/stream_separator.hpp"

#include <cmath>
#include <numeric>

#include "demix/metrics.hpp"
#include "online/stream_support.hpp"
#include "support.hpp"

namespace demix {
namespace {

using Learn = StreamOptions::Learn;
using testing::Data;
using testing::fastica_by_hand;
using testing::make;
using testing::many;
using testing::run;
using testing::separate;

Matrix<double> in_order(const Matrix<double>& X, const std::vector<Index>& order) {
  Matrix<double> out(X.rows(), X.cols());
  for (Index t = 0; t < X.cols(); ++t) out.col(t) = X.col(order[static_cast<std::size_t>(t)]);
  return out;
}

TEST(Stream, IsFasticaOfAllFramesWhateverTheirOrder) {
  const Data data = make(20000, 1, 1e3);
  const Matrix<double> expected = fastica_by_hand(data.X);
  std::vector<Index> order(20000);
  std::iota(order.begin(), order.end(), Index{0});
  std::vector<Index> sorted = order;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](Index a, Index b) { return data.S(0, a) < data.S(0, b); });
  std::vector<Index> by_last = order;
  std::sort(by_last.begin(), by_last.end(), [&](Index a, Index b) { return data.S(3, a) < data.S(3, b); });
  for (const auto& way : {order, sorted, by_last}) {
    StreamSeparator<double> stream(4);
    run(stream, in_order(data.X, way));
    stream.finish();
    EXPECT_LT(amari_index(stream.unmixing() * inverse(expected)), 1e-7);
    EXPECT_LT((stream.mean() - data.X.rowwise().mean()).norm(), 1e-10 * stream.mean().norm());
    EXPECT_EQ(stream.frames(), 20000);
  }
}

TEST(Stream, ManyChannelsToo) {
  for (const Index d : {17, 32}) {
    const Matrix<double> X = many(d, 40000, 2);
    StreamSeparator<double> stream(d);
    run(stream, X);
    stream.finish();
    const Matrix<double> U = stream.unmixing();
    EXPECT_LT(amari_index(U * inverse(fastica_by_hand(X, Vector<double>::Ones(X.cols()), U))), 1e-3) << d;
  }
}

TEST(Stream, GoesOnWhereTheReservoirIsFull) {
  const Matrix<double> X = many(34, 60000, 3);
  StreamSeparator<double> stream(34);
  run(stream, X);
  stream.finish();
  const Matrix<double> U = stream.unmixing();
  EXPECT_LT(amari_index(U * inverse(fastica_by_hand(X, Vector<double>::Ones(X.cols()), U))), 1e-3);
}

// A source that wakes up late puts the others where the contrast has a saddle: small steps are not the end.
TEST(Stream, DoesNotStayAtASaddle) {
  for (const std::uint64_t seed : {9042, 9064, 9158, 9169, 9199}) {
    Random random(seed);
    const Matrix<double> A = conditioned_mixing(3, std::pow(1e6, random.uniform()), random);
    const Matrix<double> S =
        make_sources({Source::square, Source::sine, Source::laplace}, 100000, Timing::iid, random);
    std::vector<Index> order(100000);
    std::iota(order.begin(), order.end(), Index{0});
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return S(0, a) < S(0, b); });
    StreamSeparator<double> stream(3);
    run(stream, in_order(A * S, order));
    stream.finish();
    EXPECT_LT(amari_index(stream.unmixing() * A), 0.02) << seed;
  }
}

TEST(Stream, FloatDataKeepsItsDigitsBesideALargeOffset) {
  Data data = make(30000, 4);
  StreamSeparator<float> stream(4);
  run(stream, data.X);
  stream.finish();
  EXPECT_LT(amari_index(stream.unmixing() * inverse(fastica_by_hand(data.X))), 1e-4);
  EXPECT_EQ(stream.status().rank, 4);
}

template <typename T>
class StreamTest : public testing::Scalar<T> {};
TYPED_TEST_SUITE(StreamTest, testing::Scalars);

TYPED_TEST(StreamTest, DoesNotMindHowFramesAreSplitIntoBlocks) {
  for (const Learn learn : {Learn::one_pass, Learn::replay, Learn::frame}) {
    const Matrix<TypeParam> X = make(5000, 5).X.template cast<TypeParam>();
    StreamOptions options;
    options.learn = learn;
    StreamSeparator<TypeParam> one(4, options);
    StreamSeparator<TypeParam> other(4, options);
    Matrix<TypeParam> Y(4, X.cols());
    Matrix<TypeParam> Z(4, X.cols());
    one.process(X, Y);
    Random random(6);
    for (Index t = 0; t < X.cols();) {
      const Index size = std::min<Index>(1 + random.below(300), X.cols() - t);
      other.process(X.middleCols(t, size), Z.middleCols(t, size));
      t += size;
    }
    EXPECT_EQ(Y, Z);
    EXPECT_EQ(one.unmixing(), other.unmixing());
  }
}

TYPED_TEST(StreamTest, GoesOnFromItsStateBitForBit) {
  struct Case {
    Index channels;
    StreamOptions options;
  };
  std::vector<Case> cases(6);
  cases[0].channels = 4;
  cases[1].channels = 20;
  cases[2].channels = 40;
  cases[3] = {4, {Learn::replay}};
  cases[4] = {4, {Learn::frame}};
  cases[5].channels = 5;
  cases[5].options.memory = 2000;
  cases[5].options.robust = true;
  cases[5].options.components = 3;
  if (std::is_same_v<TypeParam, float>)
    cases.erase(cases.begin() + 1, cases.begin() + 4);  // in double inside
  for (const Case& c : cases) {
    Matrix<TypeParam> X = many(c.channels, 2500, 7).template cast<TypeParam>();
    X.leftCols(300).row(1).setZero();  // wakes up later, so that the coordinates move
    StreamSeparator<TypeParam> whole(c.channels, c.options);
    StreamSeparator<TypeParam> parts(c.channels, c.options);
    Matrix<TypeParam> Y(whole.outputs(), X.cols());
    Matrix<TypeParam> Z(whole.outputs(), X.cols());
    whole.process(X, Y);
    Random random(8);
    for (Index t = 0; t < X.cols();) {
      // at every single frame while the coordinates move (from the end of that block to the end of the next),
      // else now and then
      const Index block = whole.block();
      const Index woken = (300 / block + 1) * block;
      const bool moving = t >= woken - 2 && t < woken + block + 2;
      const Index size =
          moving ? 1 : std::min<Index>(1 + random.below(c.channels > 4 ? 170 : 40), X.cols() - t);
      parts.process(X.middleCols(t, size), Z.middleCols(t, size));
      parts = StreamSeparator<TypeParam>::restore(parts.state());
      t += size;
    }
    EXPECT_EQ(Y, Z) << c.channels;
    EXPECT_EQ(whole.state(), parts.state()) << c.channels;
  }
}

TEST(Stream, RefusesADamagedState) {
  StreamSeparator<double> stream(3);
  run(stream, many(3, 500, 9));
  const std::string good = stream.state();
  EXPECT_THROW(StreamSeparator<float>::restore(good), std::invalid_argument);
  for (std::size_t size = 0; size < good.size(); size += 1 + size / 7) {
    EXPECT_THROW(StreamSeparator<double>::restore(good.substr(0, size)), std::invalid_argument);
  }
  for (std::size_t at = 0; at < good.size(); at += 1 + good.size() / 97) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x20);
    EXPECT_THROW(StreamSeparator<double>::restore(bad), std::invalid_argument);
  }
  EXPECT_THROW(StreamSeparator<double>::restore(good + "x"), std::invalid_argument);
}

TEST(Stream, UnitsAndOrderOfChannelsDoNotMatter) {
  const Data data = make(30000, 10);
  StreamSeparator<double> stream(4);
  const Matrix<double> Y = separate(stream, data.X);
  Matrix<double> X = data.X;
  X.row(0) *= 1e-9;
  X.row(1) = 1e7 * data.X.row(2);
  X.row(2) = -data.X.row(1);
  StreamSeparator<double> other(4);
  const Matrix<double> Z = separate(other, X);
  EXPECT_LT(mse(Y, Z), 1e-12);
}

TEST(Stream, FewerComponentsAreThePrincipalOnes) {
  Random random(14);
  Matrix<double> S = make_sources({Source::square, Source::laplace}, 30000, Timing::iid, random);
  const Matrix<double> X = random.normal(6, 2) * S + 0.01 * random.normal(6, 30000);
  StreamOptions options;
  options.components = 2;
  StreamSeparator<double> stream(6, options);
  const Matrix<double> Y = separate(stream, X);
  EXPECT_EQ(Y.rows(), 2);
  EXPECT_LT(mse(S, Y), 0.01);
}

TEST(Stream, OrderAndSignStayOnceSettled) {
  const Data data = make(200000, 18);
  StreamSeparator<double> stream(4);
  const Matrix<double> mixing = inverse(fastica_by_hand(data.X));
  Matrix<double> before;
  for (Index t = 0; t < 200000; t += 1000) {
    run(stream, data.X.middleCols(t, 1000));
    if (!stream.status().settled) continue;
    const Matrix<double> now = stream.unmixing() * mixing;
    if (before.size() > 0) {
      EXPECT_GT((now.cwiseProduct(before)).rowwise().sum().minCoeff(), 0.9) << t;
    }
    before = now;
  }
  ASSERT_GT(before.size(), 0);
  const Vector<double> kurtosis = stream.status().kurtosis;
  for (Index i = 1; i < 4; ++i) EXPECT_GT(kurtosis(i - 1), kurtosis(i));
}

TEST(Stream, StatusTellsTheTruth) {
  const Data data = make(100000, 19, 300);
  StreamSeparator<double> stream(4);
  const Matrix<double> Y = separate(stream, data.X);
  const StreamStatus s = stream.status();
  EXPECT_EQ(s.frames, 100000);
  EXPECT_TRUE(s.settled);
  EXPECT_EQ(s.changes, 0);
  EXPECT_TRUE(s.unresolved.empty());
  const double truth[] = {6, 1.8, 1.5, 1};  // Laplace, saw-tooth, sine, square
  for (Index i = 0; i < 4; ++i) {
    EXPECT_NEAR(s.kurtosis(i), truth[i], 4 * s.kurtosis_error(i) + 0.01) << i;
    const Eigen::ArrayXd y = Y.row(i).transpose().array();
    EXPECT_NEAR(s.kurtosis(i), y.square().square().mean() / std::pow(y.square().mean(), 2),
                4 * s.kurtosis_error(i) + 1e-3);
  }
  EXPECT_GT(s.kurtosis_error(0), 0.02);
  EXPECT_LT(s.kurtosis_error(0), 0.2);
  const double error = mse(data.S, Y);
  EXPECT_GT(*s.expected_mse, error / 10);
  EXPECT_LT(*s.expected_mse, error * 10);
  const Matrix<double> C =
      (data.X.colwise() - data.X.rowwise().mean()) * (data.X.colwise() - data.X.rowwise().mean()).transpose();
  const Vector<double> scale = C.diagonal().cwiseSqrt().cwiseInverse();
  const Vector<double> eigenvalues = symmetric_eigen(scale.asDiagonal() * C * scale.asDiagonal()).values;
  EXPECT_NEAR(*s.condition, std::sqrt(eigenvalues(3) / eigenvalues(0)), 0.01 * *s.condition);
}

TEST(Stream, SeparatesSourcesOfEqualKurtosis) {
  const Data data = make(50000, 20, 10, {Source::laplace, Source::square, Source::laplace});
  StreamSeparator<double> stream(3);
  EXPECT_LT(mse(data.S, separate(stream, data.X)), 1e-3);
  EXPECT_TRUE(stream.status().unresolved.empty());
}

TEST(Stream, OutputsAreSilentUntilTheFirstBlock) {
  const Data data = make(200, 22);
  StreamSeparator<double> stream(4);
  const Matrix<double> Y = run(stream, data.X);
  EXPECT_EQ(Y.leftCols(stream.block()).cwiseAbs().maxCoeff(), 0);
  EXPECT_GT(Y.rightCols(50).cwiseAbs().minCoeff(), 0);
}

TEST(Stream, FinishWithFewFrames) {
  for (const bool robust : {false, true}) {
    StreamOptions options;
    options.robust = robust;
    StreamSeparator<double> stream(4, options);
    stream.finish();
    EXPECT_EQ(stream.status().rank, 0);
    const Data data = make(40, 23);
    run(stream, data.X);
    stream.finish();
    EXPECT_EQ(stream.status().rank, 4);
    EXPECT_TRUE(stream.unmixing().allFinite());
  }
}

TEST(Stream, ItsModelIsSound) {
  const Data data = make(30000, 25, 1e4);
  Matrix<double> X(6, data.X.cols());
  X << data.X, data.X.row(1), Eigen::RowVectorXd::Constant(data.X.cols(), 5.0);
  StreamSeparator<double> stream(6);
  EXPECT_THROW(stream.model(), std::invalid_argument);  // nothing to model yet
  run(stream, X);
  const std::string before = stream.state();
  const Model model = stream.model();
  EXPECT_EQ(stream.state(), before);
  EXPECT_NO_THROW(model.validate());
  EXPECT_EQ(model.components(), 4);
  EXPECT_LT(mse(data.S, model.apply(X)), 0.02);
  EXPECT_LT((model.invert(model.apply(X)) - X).norm(), 1e-6 * X.norm());
  ASSERT_FALSE(model.warnings.empty());
  EXPECT_EQ(model.warnings[0].kind, Warning::Kind::reduced_rank);
}

TEST(Stream, OneChannelIsNormalised) {
  StreamSeparator<double> stream(1);
  const Matrix<double> X = 3 * Random(24).normal(1, 5000).array() + 7;
  const Matrix<double> Y = separate(stream, X);
  EXPECT_NEAR(Y.squaredNorm() / 5000, 1, 1e-9);
  EXPECT_NEAR(Y.mean(), 0, 1e-9);
}

TEST(Stream, MisuseThrows) {
  EXPECT_THROW(StreamSeparator<double>(0), std::invalid_argument);
  EXPECT_THROW(StreamSeparator<double>(3, {.weight = Weight::log}), std::invalid_argument);
  EXPECT_THROW(StreamSeparator<double>(3, {Learn::one_pass, 4}), std::invalid_argument);
  EXPECT_THROW(StreamSeparator<double>(3, {Learn::frame, 0, 5000.0}), std::invalid_argument);
  EXPECT_THROW(StreamSeparator<double>(3, {Learn::one_pass, 0, 10.0}), std::invalid_argument);
  StreamSeparator<double> stream(3);
  Vector<double> two(2);
  Vector<double> three(3);
  EXPECT_THROW(stream.step(two, three), std::invalid_argument);
  EXPECT_THROW(stream.step(three, two), std::invalid_argument);
}

// Uniform and three-valued sources of equal kurtosis: the paper's modulator cannot tell them apart, others
// can.
TEST(Stream, ItsNetworksTakeOtherModulators) {
  Random random(2);
  Matrix<double> S(2, 60000);
  for (Index t = 0; t < S.cols(); ++t) {
    S(0, t) = random.uniform(-std::sqrt(3.), std::sqrt(3.));
    const double u = random.uniform();
    S(1, t) = u < 1 / 3.6 ? std::sqrt(1.8) : u < 2 / 3.6 ? -std::sqrt(1.8) : 0;
  }
  const Mixture m = mix(S, normal_mixing(2, random));
  for (const Learn learn : {Learn::frame, Learn::replay}) {
    const auto error = [&](Weight weight) {
      StreamSeparator<double> stream(2, {.learn = learn, .weight = weight});
      run(stream, m.mixtures);
      return mse_of_gain(stream.unmixing() * m.mixing);
    };
    EXPECT_GT(error(Weight::square), 2e-3);
    EXPECT_LT(error(Weight::reciprocal), 2e-3);
    EXPECT_LT(error(Weight::fourth), 2e-3);
  }
}

TEST(StreamSeparator, FreezesAndGoesOn) {
  for (const auto learn : {StreamOptions::Learn::one_pass, StreamOptions::Learn::replay}) {
    StreamOptions options;
    options.learn = learn;
    StreamSeparator<double> stream(2, options);
    Random random(1);
    const auto run = [&](int frames) {
      Vector<double> y(2);
      for (int t = 0; t < frames; ++t) {
        const double a = random.laplace();
        const double b = random.uniform() - 0.5;
        stream.step(Vector<double>{{a + b, a - 2 * b}}, y);
      }
      return y;
    };
    run(2000);
    const Matrix<double> before = stream.unmixing();
    stream.freeze(true);
    EXPECT_TRUE(stream.frozen());
    EXPECT_GT(run(3000).norm(), 0);  // outputs go on
    EXPECT_EQ(stream.unmixing(), before);
    Matrix<double> copy(2, 2);
    stream.copy_unmixing(copy);
    EXPECT_EQ(copy, before);
    const StreamStatus status = stream.status();
    const StreamCounts counts = stream.counts();
    EXPECT_EQ(counts.frames, 5000);
    EXPECT_EQ(counts.rank, status.rank);
    EXPECT_EQ(counts.settled, status.settled);
    EXPECT_EQ(counts.moved, status.moved);
    EXPECT_EQ(StreamSeparator<double>::restore(stream.state()).frozen(), true);
    stream.freeze(false);
    run(3000);
    EXPECT_NE(stream.unmixing(), before);
  }
}

}  // namespace
}  // namespace demix
