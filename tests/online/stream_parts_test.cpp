#include <cmath>

#include "demix/linear_algebra.hpp"
#include "demix/random.hpp"
#include "online/change_detector.hpp"
#include "online/contrast_crosstalk.hpp"
#include "online/inverse_root.hpp"
#include "online/jacobi_svd.hpp"
#include "online/moving_sums.hpp"
#include "online/outlier_gate.hpp"
#include "online/reservoir.hpp"
#include "online/stream_support.hpp"
#include "support.hpp"

/// The parts a stream separator is made of, each on its own.
namespace demix {
namespace {

using testing::fastica_by_hand;

// ---- Change detector. Of four outputs its short window has 512 frames, its long one 4096.

// Frames of white outputs put through A until it is noticed, after a past that is white; -1 = not at all.
Index noticed_after(const Matrix<double>& A, Index most, std::uint64_t seed) {
  constexpr Index block = 64;
  ChangeDetector detector(4, block);
  Random random(seed);
  for (Index t = 0; t < 60000; t += block) {
    if (detector.add(random.normal(4, block))) ADD_FAILURE() << "alarm in white noise at " << t;
  }
  for (Index t = 0; t < most; t += block) {
    if (detector.add(A * random.normal(4, block))) return t + block;
  }
  return -1;
}

Matrix<double> correlated(double r) {  // two of the outputs, all of variance 1
  Matrix<double> A = Matrix<double>::Identity(4, 4);
  A(1, 0) = r;
  A(1, 1) = std::sqrt(1 - r * r);
  return A;
}
Matrix<double> louder(double variance) {  // one of them
  Matrix<double> A = Matrix<double>::Identity(4, 4);
  A(2, 2) = std::sqrt(variance);
  return A;
}

TEST(ChangeDetector, LargeChangesAreNoticedInTwoShortWindows) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    for (const Matrix<double>& A : {correlated(0.8), louder(4)}) {
      const Index after = noticed_after(A, 20000, seed);
      EXPECT_GT(after, 512);  // one alone may be chance
      EXPECT_LE(after, 3 * 512);
    }
  }
}

// -log(1 - .24^2) = .06: three times the scatter of a short window, thirty times that of a long one.
TEST(ChangeDetector, SmallChangesAreNoticedInALongWindow) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    for (const Matrix<double>& A : {correlated(0.24), louder(1.5)}) {
      const Index after = noticed_after(A, 20000, seed);
      EXPECT_GT(after, 0);
      EXPECT_LE(after, 2 * 4096);
    }
    EXPECT_EQ(noticed_after(correlated(0.03), 20000, seed), -1);  // what does not matter is not
    EXPECT_EQ(noticed_after(louder(1.05), 20000, seed), -1);
  }
}

// Sources that are now loud, now soft: their sizes tell nothing, their correlation does.
TEST(ChangeDetector, CorrelationIsNoticedWhereSizesAlwaysChange) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    ChangeDetector detector(4, 64);
    Random random(seed);
    Matrix<double> level = Matrix<double>::Identity(4, 4);
    const auto next = [&](Index t, const Matrix<double>& A) {
      if (t % 512 == 0) {
        for (Index i = 0; i < 4; ++i) level(i, i) = std::exp(random.uniform(-1.5, 1.5));
      }
      return detector.add(level * A * random.normal(4, 64));
    };
    for (Index t = 0; t < 60000; t += 64) EXPECT_FALSE(next(t, Matrix<double>::Identity(4, 4))) << t;
    Index noticed = -1;
    for (Index t = 0; t < 8192 && noticed < 0; t += 64) noticed = next(t, correlated(0.7)) ? t : -1;
    EXPECT_GE(noticed, 0) << seed;
  }
}

TEST(ChangeDetector, OutputsNotInUseAreLeftOut) {
  ChangeDetector detector(4, 64);
  Random random(3);
  const Matrix<double> three = Vector<double>({{1.0, 1.0, 1.0, 0.0}}).asDiagonal();
  for (Index t = 0; t < 60000; t += 64) EXPECT_FALSE(detector.add(three * random.normal(4, 64))) << t;
  bool alarm = false;
  for (Index t = 0; t < 3 * 512; t += 64)
    alarm |= detector.add(three * correlated(0.8) * random.normal(4, 64));
  EXPECT_TRUE(alarm);
}

TEST(ChangeDetector, ClearedItLearnsWhatIsUsualAnew) {
  ChangeDetector detector(4, 64);
  Random random(4);
  for (Index t = 0; t < 60000; t += 64) detector.add(random.normal(4, 64));
  detector.clear();
  const Matrix<double> A = correlated(0.8);
  for (Index t = 0; t < 60000; t += 64) EXPECT_FALSE(detector.add(A * random.normal(4, 64))) << t;
}

// ---- Outlier gate.

TEST(OutlierGate, OpensForAllButTheOutliers) {
  Random random(5);
  const Matrix<double> A = random.normal(5, 5);
  for (const double size : {30.0, 1e3, 1e9}) {
    Matrix<double> first = random.normal(5, 256);
    std::vector<bool> expected(256, true);
    for (const Index t : {0, 17, 100, 101, 102, 255}) {
      first.col(t) *= size / first.col(t).norm();
      expected[static_cast<std::size_t>(t)] = false;
    }
    first = A * first;
    first.colwise() += Vector<double>(50 * random.normal(5, 1).col(0));
    EXPECT_EQ(OutlierGate().open(first), expected) << size;
  }
}

TEST(OutlierGate, SilenceDoesNotOpenIt) {
  EXPECT_TRUE(OutlierGate().open(Matrix<double>::Zero(3, 256)).empty());
  EXPECT_TRUE(OutlierGate().open(Matrix<double>::Constant(3, 256, 4)).empty());
}

// At 20 times what nine frames in ten stay below, which it follows.
TEST(OutlierGate, ClosesAtTwentyTimesTheNinthDecile) {
  Random random(6);
  OutlierGate gate;
  gate.open(random.normal(4, 256));
  std::vector<double> activity;
  for (int t = 0; t < 20000; ++t) {
    activity.push_back(random.normal(4, 1).squaredNorm());
    EXPECT_TRUE(gate.passes(activity.back()));
  }
  const double q = testing::quantile(activity, 0.9);
  EXPECT_TRUE(OutlierGate(gate).passes(12 * q));
  EXPECT_FALSE(OutlierGate(gate).passes(33 * q));
  // Ten times as large from now on: outliers at first, then what is usual.
  EXPECT_FALSE(gate.passes(100 * 33 * q));
  for (int t = 0; t < 20000; ++t) gate.passes(100 * random.normal(4, 1).squaredNorm());
  EXPECT_TRUE(OutlierGate(gate).passes(100 * 12 * q));
  EXPECT_FALSE(OutlierGate(gate).passes(100 * 33 * q));
  // A pause says nothing about the size of a signal.
  for (int t = 0; t < 20000; ++t) EXPECT_TRUE(gate.passes(1e-9));
  EXPECT_TRUE(OutlierGate(gate).passes(100 * 12 * q));
  EXPECT_FALSE(OutlierGate(gate).passes(100 * 33 * q));
}

// ---- Reservoir: every frame is equally likely to be in it.

std::vector<Index> kept(const Reservoir& sample) {
  std::vector<Index> times;
  for (const double t : sample.frames().row(0)) times.push_back(static_cast<Index>(t));
  std::sort(times.begin(), times.end());
  return times;
}

void fill(Reservoir& sample, Index frames) {
  for (Index t = 0; t < frames; ++t) sample.add(Vector<double>::Constant(1, static_cast<double>(t)));
}

TEST(Reservoir, HoldsAllFramesWhileItCan) {
  Reservoir sample(1, 100, 0, 3);
  fill(sample, 100);
  EXPECT_TRUE(sample.complete());
  const std::vector<Index> times = kept(sample);
  for (Index t = 0; t < 100; ++t) EXPECT_EQ(times[static_cast<std::size_t>(t)], t);
  fill(sample, 1);
  EXPECT_FALSE(sample.complete());
  sample.clear();
  EXPECT_EQ(sample.size(), 0);
}

// The share of the sample that comes from each tenth of the past: binomial, 5 deviations either way.
TEST(Reservoir, EveryPartOfThePastHasItsShare) {
  std::vector<int> tenth(10, 0);
  constexpr int runs = 50;
  for (int run = 0; run < runs; ++run) {
    Reservoir sample(1, 200, 0, static_cast<std::uint64_t>(run));
    fill(sample, 10000);
    for (const Index t : kept(sample)) ++tenth[static_cast<std::size_t>(t / 1000)];
  }
  for (const int n : tenth) EXPECT_NEAR(n, runs * 20, 5 * std::sqrt(runs * 20 * 0.9));
}

// With a memory the age of what is kept is exponential: its mean is the memory.
TEST(Reservoir, TrackingItForgets) {
  double age = 0;
  constexpr int runs = 20;
  for (int run = 0; run < runs; ++run) {
    Reservoir sample(1, 500, 2000, static_cast<std::uint64_t>(run));
    fill(sample, 30000);
    for (const Index t : kept(sample)) age += static_cast<double>(30000 - t) / (500 * runs);
  }
  EXPECT_NEAR(age, 2000, 5 * 2000 / std::sqrt(500 * runs));
}

TEST(Reservoir, InOrderOfTime) {
  Reservoir sample(1, 50, 0, 4);
  fill(sample, 1000);
  const Matrix<double> X = sample.in_order_of_time();
  ASSERT_EQ(X.cols(), 50);
  for (Index k = 1; k < 50; ++k) EXPECT_GT(X(0, k), X(0, k - 1));
}

// ---- The small matrices of a stream, against the definitions.

// ---- Sums of all frames that begin as those of a sample: a fifth of the frames stands for all of them.

struct SampledSums {
  static constexpr Index n = 5;
  static constexpr Index frames = 1000;
  WhiteCoordinates white;
  MovingSums sums{n};
  Matrix<double> v;  // the frames of the sample, in the coordinates
  Random random{1};
  Matrix<double> A = random.normal(n, n);

  Matrix<double> draw(Index count) { return A * random.normal(n, count).array().cube().matrix(); }

  explicit SampledSums(double memory) : white(n, 1e-16, memory) {
    Reservoir reservoir(n, frames / 5, 0, 2);
    const Matrix<double> X = draw(frames);
    for (Index t = 0; t < frames;) {
      const Index size = std::min(white.block(), frames - t);
      white.begin_add(X.middleCols(t, size));
      while (white.busy()) white.work();
      for (const Index end = t + size; t < end; ++t) reservoir.add(X.col(t));
    }
    ReservoirPass pass(n);
    pass.begin(ReservoirPass::Kind::newton, white, n, reservoir.size());
    while (!pass.work(reservoir, white)) {
    }
    white.recentre(pass.centre());
    sums.begin(pass, white, n);
    v = (white.V().topRows(n) * (reservoir.frames().colwise() - white.origin())).colwise() - white.v0();
  }

  Expectations expectations() {
    Expectations e(n);
    sums.expectations(white, n, e);
    return e;
  }
};

// S, T, D and s are means over v, whose frames count so much, about its mean where a product is of v itself.
void expect_means_of(const Matrix<double>& v, const Vector<double>& weights, const Expectations& e) {
  const Index n = v.rows();
  const Vector<double> w = weights / weights.sum();
  const Matrix<double> off = v.colwise() - v * w;
  const Matrix<double> t = v.array().tanh();
  const Matrix<double> s = 1 - t.array().square();
  EXPECT_TRUE(e.S.topRows(n).isApprox(off * w.asDiagonal() * off.transpose(), 1e-9));
  EXPECT_TRUE(e.T.topRows(n).isApprox(t * w.asDiagonal() * off.transpose(), 1e-9));
  EXPECT_TRUE(e.D.topRows(n).isApprox(s * w.asDiagonal() * v.cwiseAbs2().transpose(), 1e-9));
  EXPECT_TRUE(e.s.isApprox(s * w, 1e-9));
}

TEST(MovingSums, BeginAsTheMeansOfASample) {
  SampledSums m(0);
  ASSERT_EQ(m.v.cols(), m.frames / 5);
  expect_means_of(m.v, Vector<double>::Ones(m.v.cols()), m.expectations());
  EXPECT_NEAR(m.sums.fourth(2), 5 * m.v.row(2).array().pow(4).sum(), 1e-6);
}

TEST(MovingSums, FadeAsTheCoordinatesDo) {
  SampledSums m(400);
  const double before = m.white.count();
  m.white.begin_add(m.draw(m.white.block()));
  while (m.white.busy()) m.white.work();
  ASSERT_FALSE(m.white.moved());
  const Matrix<double> u = m.white.coordinates();
  m.sums.scale(m.white.keep());
  m.sums.add(u, m.n);
  Matrix<double> both(m.n, m.v.cols() + u.cols());
  both << m.v, u.topRows(m.n);
  Vector<double> weights(both.cols());
  weights << Vector<double>::Constant(m.v.cols(), m.white.keep() * before / static_cast<double>(m.v.cols())),
      Vector<double>::Ones(u.cols());
  EXPECT_NEAR(weights.sum(), m.white.count(), 1e-9);
  expect_means_of(both, weights, m.expectations());
}

TEST(SquareMatrix, ProductsInversesAndRootsAreThoseOfTheirDefinition) {
  Random random(7);
  for (const Index n : {1, 3, 4, 9, 33}) {
    Matrix<double> A = padded_square(n);
    Matrix<double> B = A;
    Matrix<double> C = A;
    A.topRows(n) = random.normal(n, n);
    B.topRows(n) = random.normal(n, n);
    product(A, B, n, n, n, C);
    EXPECT_TRUE(C.topRows(n).isApprox(A.topRows(n) * B.topRows(n), 1e-12)) << n;
    product_transposed(A, B, n, n, n, C);
    EXPECT_TRUE(C.topRows(n).isApprox(A.topRows(n) * B.topRows(n).transpose(), 1e-12)) << n;
    product_transposed(A, A, n, n, n, C);
    C.diagonal().array() += 1;
    InverseRoot root(n);
    root.begin(C, n);
    while (!root.work()) {
    }
    EXPECT_TRUE(root.result().topRows(n).isApprox(inverse_sqrt(symmetric_eigen(C.topRows(n))), 1e-9)) << n;
    const Matrix<double> definite = C.topRows(n);
    EXPECT_GT(cholesky(C, n), 0);
    EXPECT_TRUE((C.topRows(n) * C.topRows(n).transpose()).isApprox(definite, 1e-12)) << n;
    const Matrix<double> before = A.topRows(n);
    ASSERT_TRUE(invert(A, n, C));
    EXPECT_TRUE((C.topRows(n) * before).isApprox(Matrix<double>::Identity(n, n), 1e-8)) << n;
  }
  Matrix<double> singular = padded_square(4);
  Matrix<double> out = singular;
  EXPECT_FALSE(invert(singular, 4, out));
}

// Singular values twelve orders of magnitude apart keep their digits.
TEST(JacobiSvd, SmallSingularValuesKeepTheirDigits) {
  Random random(8);
  const Index n = 9;
  const Matrix<double> Q = random.orthogonal(n);
  Vector<double> values(n);
  for (Index i = 0; i < n; ++i) values(i) = std::pow(10, -1.5 * static_cast<double>(i));
  JacobiSvd svd(n, n);
  svd.begin(random.orthogonal(n) * values.asDiagonal() * Q.transpose());
  while (!svd.work()) {
  }
  for (Index i = 0; i < n; ++i) {
    EXPECT_NEAR(svd.value(i), values(i), 1e-14 + 1e-6 * values(i)) << i;
    if (i < 6) {
      EXPECT_NEAR(std::abs(svd.vector(i).dot(Q.col(i))), 1, 1e-6) << i;
    }
  }
}

// ---- Crosstalk by batch means: of independent frames that of theory, of frames that repeat as many times.

TEST(ContrastCrosstalk, IsTheScatterOfTheSolution) {
  Random random(9);
  constexpr Index frames = 4096;
  constexpr int runs = 40;
  double predicted = 0;
  double true_square = 0;
  double repeated = 0;
  for (int run = 0; run < runs; ++run) {
    Matrix<double> S(2, frames);
    for (Index t = 0; t < frames; ++t) S.col(t) << random.laplace(), random.laplace();
    const Matrix<double> U = fastica_by_hand(S);
    Matrix<double> G = U;  // as near to the identity as order and signs allow
    if (std::abs(G(0, 0)) < std::abs(G(0, 1))) G.row(0).swap(G.row(1));
    true_square += (G(0, 1) * G(0, 1) + G(1, 0) * G(1, 0)) / 2;
    const Matrix<double> Y = U * (S.colwise() - S.rowwise().mean());
    predicted += contrast_crosstalk(Y, frames).squaredNorm() / 2;
    Matrix<double> held(2, 8 * frames);  // each frame eight times running
    for (Index t = 0; t < held.cols(); ++t) held.col(t) = Y.col(t / 8);
    repeated += contrast_crosstalk(held, static_cast<double>(held.cols())).squaredNorm() / 2;
  }
  EXPECT_GT(predicted, true_square / 2);
  EXPECT_LT(predicted, true_square * 2);
  EXPECT_NEAR(repeated, predicted, 0.3 * predicted);
}

// The best turn of two Gaussians looks like a maximum, as any best of many does. Held values, as in a slow
// recording, make chance larger, not the promise.
TEST(ContrastCrosstalk, GaussiansAreNotPromisedToBeApart) {
  Random random(11);
  int promised = 0;
  constexpr int runs = 40;
  for (int run = 0; run < runs; ++run) {
    const Matrix<double> X = random.normal(2, 2048);
    Matrix<double> held = X;
    for (Index t = 0; t < held.cols(); ++t) held.col(t) = X.col(t / 8);
    const Matrix<double>& frames = run % 2 == 0 ? X : held;
    const Matrix<double> U = fastica_by_hand(frames);
    const Matrix<double> Y = U * (frames.colwise() - frames.rowwise().mean());
    promised += contrast_crosstalk(Y, static_cast<double>(Y.cols()))(0, 1) < 0.2;
  }
  EXPECT_LE(promised, 0.2 * runs);  // .3 without a look at the curvature's error
}

TEST(ContrastCrosstalk, IsNeverMoreThanHalfOfAnOutput) {
  Random random(10);
  for (const Index frames : {1, 40, 5000}) {
    const Matrix<double> crosstalk =
        contrast_crosstalk(random.normal(3, frames), static_cast<double>(frames));
    EXPECT_LE(crosstalk.maxCoeff(), std::sqrt(0.5) + 1e-12);
    EXPECT_GT(crosstalk(0, 1), 0.1) << frames;  // Gaussian: nothing to tell them apart by
  }
}

}  // namespace
}  // namespace demix
