#include <algorithm>
#include <cmath>
#include <limits>

#include "online/stream_support.hpp"
#include "support.hpp"

/// How far a stream says that its outputs can be trusted: what may still be mixed, and no number that cannot
/// be.
namespace demix {
namespace {

using Learn = StreamOptions::Learn;
using testing::run;

// Laplace, square, and so many Gaussian sources after them
Matrix<double> with_gaussians(Index gaussians, Index frames, Random& random) {
  Matrix<double> S(2 + gaussians, frames);
  S.topRows(2) = make_sources({Source::laplace, Source::square}, frames, Timing::iid, random);
  S.bottomRows(gaussians) = random.normal(gaussians, frames);
  return random.normal(S.rows(), S.rows()) * S;
}

bool warns(const Model& model, Index components) {
  return std::ranges::any_of(model.warnings, [&](const Warning& w) {
    return (w.kind == Warning::Kind::gaussian || w.kind == Warning::Kind::unresolved) &&
           static_cast<Index>(w.components.size()) == components;
  });
}

TEST(StreamAssessment, TwoGaussiansMayStillBeMixed) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    for (const Index frames : {5000, 30000}) {
      Random random(seed);
      StreamSeparator<double> stream(4);
      run(stream, with_gaussians(2, frames, random));
      stream.finish();
      const StreamStatus s = stream.status();
      ASSERT_EQ(s.unresolved.size(), 1) << seed << ", " << frames;
      for (const Index i : {s.unresolved[0].first, s.unresolved[0].second})
        EXPECT_NEAR(s.kurtosis(i), 3, 0.5) << seed;
      EXPECT_GE(*s.expected_mse, 0.2);
      EXPECT_TRUE(warns(stream.model(), 2)) << seed;
    }
  }
}

TEST(StreamAssessment, SeveralGaussiansMayStillBeMixed) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    Random random(seed);
    StreamSeparator<float> stream(6);
    const Matrix<double> X = with_gaussians(4, 20000, random);
    run(stream, X);
    stream.finish();
    EXPECT_TRUE(warns(stream.model(), 4)) << seed;
  }
}

// Frames that resemble those before them tell less than so many independent ones.
TEST(StreamAssessment, SmoothGaussiansMayStillBeMixed) {
  int told = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Random random(seed);
    Matrix<double> S = random.normal(3, 20000);
    for (Index t = 1; t < S.cols(); ++t) S.col(t) += 0.95 * S.col(t - 1);
    S.row(0) = make_sources({Source::laplace}, S.cols(), Timing::iid, random);
    StreamSeparator<double> stream(3);
    run(stream, random.normal(3, 3) * S);
    told += !stream.status().unresolved.empty();
  }
  EXPECT_GE(told, 19);
}

TEST(StreamAssessment, OneGaussianIsToldApart) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    for (const Index frames : {5000, 30000}) {
      Random random(seed);
      StreamSeparator<double> stream(3);
      run(stream, with_gaussians(1, frames, random));
      stream.finish();
      const StreamStatus s = stream.status();
      EXPECT_TRUE(s.unresolved.empty()) << seed << ", " << frames;
      EXPECT_LT(*s.expected_mse, 0.05);
      for (const Index n : {2, 3}) EXPECT_FALSE(warns(stream.model(), n)) << seed;
    }
  }
}

void expect_possible(const StreamStatus& s, Index outputs) {
  ASSERT_TRUE(s.rank >= 0 && s.rank <= outputs);
  ASSERT_TRUE(s.kurtosis.size() == s.rank && s.kurtosis_error.size() == s.rank);
  for (Index i = 0; i < s.rank; ++i) {
    const double k = s.kurtosis(i);
    const double error = s.kurtosis_error(i);
    ASSERT_EQ(std::isnan(k), std::isnan(error)) << s.frames;
    ASSERT_TRUE(std::isnan(k) || (k > 1 - 1e-9 && k < 1e9)) << k << " at " << s.frames;
    ASSERT_TRUE(std::isnan(k) || (error >= 0 && error < 1e9)) << error << " at " << s.frames;
  }
  ASSERT_TRUE(s.moved >= 0 && s.moved <= 1) << s.moved << " at " << s.frames;
  if (s.expected_mse) {
    ASSERT_TRUE(*s.expected_mse > 0 && *s.expected_mse <= 1) << *s.expected_mse << " at " << s.frames;
    ASSERT_GE(s.rank, 2) << s.frames;
  }
  if (s.condition) {
    ASSERT_TRUE(*s.condition >= 1 && *s.condition < 1e16) << *s.condition << " at " << s.frames;
    ASSERT_GE(s.rank, 1) << s.frames;
  }
  for (const auto& [i, j] : s.unresolved) ASSERT_TRUE(i >= 0 && i < j && j < outputs) << s.frames;
}

// From the first frame to the last; says after how many the error to expect was first known, or -1.
std::int64_t follow(const Matrix<double>& X, const StreamOptions& options, const Model* start = nullptr) {
  StreamSeparator<double> stream(X.rows(), options);
  if (start != nullptr) stream.start(*start);
  std::int64_t known = -1;
  Vector<double> y(stream.outputs());
  expect_possible(stream.status(), stream.outputs());
  for (Index t = 0; t < X.cols(); ++t) {
    stream.step(X.col(t), y);
    if (t > 600 && t % 211 != 0) continue;
    const StreamStatus s = stream.status();
    expect_possible(s, stream.outputs());
    if (::testing::Test::HasFatalFailure()) return known;
    if (known < 0 && s.expected_mse) known = t + 1;
  }
  stream.finish();
  expect_possible(stream.status(), stream.outputs());
  return known;
}

struct EachWay : ::testing::TestWithParam<int> {
  StreamOptions options() const {
    StreamOptions o;
    if (GetParam() == 1) o.memory = 1500;
    if (GetParam() == 2) o.robust = true;
    if (GetParam() == 3) o.learn = Learn::replay;
    if (GetParam() == 4) o.learn = Learn::frame;
    return o;
  }
};
INSTANTIATE_TEST_SUITE_P(StreamAssessment, EachWay, ::testing::Range(0, 5));

TEST_P(EachWay, NoNumberIsImpossible) {
  Random random(3);
  const Matrix<double> S =
      make_sources({Source::laplace, Source::square, Source::sine}, 6000, Timing::iid, random);
  const Matrix<double> A = random.normal(3, 3);
  const std::int64_t known = follow(A * S, options());
  EXPECT_GE(known, 32);
  EXPECT_LT(known, 600);
  Matrix<double> X = A * S;  // replaced
  X.rightCols(3000) = random.normal(3, 3) * S.rightCols(3000);
  follow(X, options());
  X = A * S;  // NaN first, then here and there
  X.leftCols(100).setConstant(std::numeric_limits<double>::quiet_NaN());
  for (Index t = 300; t < 6000; t += 7) X(t % 3, t) = std::numeric_limits<double>::infinity();
  follow(X, options());
  X.setConstant(std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(follow(X.leftCols(700), options()), -1);
  EXPECT_EQ(follow(Matrix<double>::Zero(3, 700), options()), -1);         // silence
  EXPECT_EQ(follow(Matrix<double>::Constant(3, 700, 7), options()), -1);  // nothing varies
  EXPECT_EQ(follow(A.col(0) * S.row(0).head(2000), options()), -1);       // rank 1
  EXPECT_EQ(follow(S.topRows(1).leftCols(2000).eval(), options()), -1);   // one channel
  X = A * S;  // silence in between, and channels that wake up
  X.middleCols(2000, 2000).setZero();
  X.bottomRows(1).leftCols(1000).setZero();
  follow(X, options());
  follow(1e-70 * A * S, options());
  follow(1e70 * A * S, options());
}

TEST(StreamAssessment, NothingIsKnownOfAModelUntilItIsTakenOver) {
  Random random(4);
  const Matrix<double> S = make_sources({Source::laplace, Source::square}, 8000, Timing::iid, random);
  const Matrix<double> A = random.normal(2, 2);
  StreamSeparator<double> first(2);
  run(first, (A * S.leftCols(3000)).eval());
  const Model model = first.model();
  const std::int64_t known = follow(A * S, {}, &model);
  EXPECT_GT(known, 2000);
  EXPECT_LT(known, 5000);
  StreamSeparator<double> frozen(2);
  frozen.start(model, true);
  Vector<double> y(2);
  frozen.step(A * S.col(0), y);
  expect_possible(frozen.status(), 2);
  EXPECT_FALSE(frozen.status().condition);
  EXPECT_EQ(frozen.model().kurtosis, Vector<double>::Constant(2, 3));  // not known
}

}  // namespace
}  // namespace demix
