#include <cmath>

#include "demix/linear_algebra.hpp"
#include "demix/random.hpp"
#include "online/change_detector.hpp"
#include "online/frame_sample.hpp"
#include "online/outlier_gate.hpp"
#include "online/weighted_scatter.hpp"
#include "support.hpp"

/// The parts a stream separator is made of, each on its own.
namespace demix {
namespace {

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

// ---- Weighted scatter: what is kept of fourth order above 32 channels.

Matrix<double> weighted_scatter(const Matrix<double>& X, const Matrix<double>& G) {
  Matrix<double> K = Matrix<double>::Zero(X.rows(), X.rows());
  for (Index t = 0; t < X.cols(); ++t) {
    const Vector<double> x = X.col(t);
    K += x.dot(G * x) * x * x.transpose();
  }
  return K;
}

Matrix<double> definite(Index d, Random& random) {
  const Matrix<double> A = random.normal(d, 2 * d);
  return A * A.transpose() / static_cast<double>(2 * d);
}

TEST(WeightedScatter, IsThatOfItsDefinition) {
  Random random(7);
  const Matrix<double> X = random.normal(5, 64);
  const Matrix<double> Y = random.normal(5, 40);
  const Matrix<double> I = Matrix<double>::Identity(5, 5);
  WeightedScatter K(5);
  K.reserve(64);
  K.add(X, 1);
  K.add(Y, 0.75);
  const Matrix<double> before = 0.75 * weighted_scatter(X, I) + weighted_scatter(Y, I);
  // K + n [tr(D C) C + 2 C D C], C = S/n
  const Matrix<double> G = definite(5, random);
  const Matrix<double> S = 88 * definite(5, random);
  const Matrix<double> C = S / 88;
  const Matrix<double> D = G - I;
  const Matrix<double> expected = before + 88 * ((D * C).trace() * C + 2 * C * D * C);
  EXPECT_TRUE(K.reweigh(G, S, 88).isApprox(expected, 1e-12));
  EXPECT_TRUE(K.reweigh(G, S, 88).isApprox(expected, 1e-12));  // it is there already
  K.add(Y, 1);                                                 // by the new weight
  EXPECT_TRUE(K.reweigh(G, S, 88).isApprox(expected + weighted_scatter(Y, G), 1e-12));
}

// Of Gaussian frames, weighting anew is as good as having weighted so from the start.
TEST(WeightedScatter, GaussianFramesAreWeightedAnewExactly) {
  Random random(8);
  constexpr Index frames = 200000;
  const Matrix<double> C = definite(4, random);
  const Matrix<double> X = inverse_sqrt(symmetric_eigen(inverse(C))) * random.normal(4, frames);
  const Matrix<double> G = inverse(C);
  WeightedScatter K(4);
  K.reserve(frames);
  K.add(X, 1);
  const Matrix<double> S = X * X.transpose();
  EXPECT_TRUE(K.reweigh(G, S, frames).isApprox(weighted_scatter(X, G), 0.02));
}

TEST(WeightedScatter, MovesWithTheCoordinates) {
  Random random(9);
  const Matrix<double> X = random.normal(4, 100);
  const Matrix<double> G = definite(4, random);
  const Matrix<double> W = random.normal(4, 4);
  const Matrix<double> W_inverse = inverse(W);
  WeightedScatter K(4);
  K.reserve(100);
  K.reweigh(G, Matrix<double>::Zero(4, 4), 1);
  K.add(X, 1);
  K.transform(W, W_inverse);
  const Matrix<double> moved =
      W_inverse.transpose() * G * W_inverse;  // the same weight, of other coordinates
  K.add(W * X, 1);
  EXPECT_TRUE(K.reweigh(moved, Matrix<double>::Zero(4, 4), 1)
                  .isApprox(2 * W * weighted_scatter(X, G) * W.transpose(), 1e-9));
}

// ---- The frames a stream is judged by.

std::vector<Index> kept(const FrameSample& sample) {
  std::vector<Index> times;
  for (const double t : sample.frames().row(0)) times.push_back(static_cast<Index>(t));
  std::sort(times.begin(), times.end());
  return times;
}

TEST(FrameSample, IsSpreadEvenlyOverThePast) {
  for (const Index frames : {1, 100, 2048, 2049, 5000, 100000}) {
    FrameSample sample(1, 0);
    for (Index t = 0; t < frames; ++t) {
      const double x = static_cast<double>(t);
      sample.add(&x);
    }
    const std::vector<Index> times = kept(sample);
    EXPECT_GE(std::ssize(times), std::min<Index>(frames, 1024)) << frames;
    EXPECT_LE(std::ssize(times), 2048) << frames;
    const Index stride = times.size() > 1 ? times[1] - times[0] : 1;
    int uneven = 0;  // where every second one had made room
    for (std::size_t k = 1; k < times.size(); ++k) {
      ASSERT_LE(times[k] - times[k - 1], stride) << frames;
      uneven += times[k] - times[k - 1] < stride ? 1 : 0;
    }
    EXPECT_LE(uneven, 10) << frames;
    EXPECT_LT(times.front(), stride) << frames;
    EXPECT_GE(times.back(), frames - stride) << frames;
  }
}

TEST(FrameSample, TrackingHasTheLastTwoMemories) {
  FrameSample sample(1, 10000);  // every 9th of the last 18432
  for (Index t = 0; t < 100000; ++t) {
    const double x = static_cast<double>(t);
    sample.add(&x);
  }
  const std::vector<Index> times = kept(sample);
  ASSERT_EQ(times.size(), 2048U);
  for (std::size_t k = 1; k < times.size(); ++k) ASSERT_EQ(times[k] - times[k - 1], 9);
  EXPECT_GE(times.back(), 100000 - 9);
  sample.clear();
  EXPECT_EQ(sample.frames().cols(), 0);
}

}  // namespace
}  // namespace demix
