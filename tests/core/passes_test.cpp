#include "core/four_channels.hpp"
#include "core/frame_kernels.hpp"
#include "core/parallel_sum.hpp"
#include "demix/moments.hpp"
#include "demix/random.hpp"
#include "demix/recording.hpp"
#include "support.hpp"

namespace demix {
namespace {

TEST(FrameKernels, AgreeWithEigen) {
  Random random(1);
  for (const Index channels : {1, 2, 3, 4, 5, 7, 8, 31, 32, 33}) {
    for (const Index frames : {8, 16, 520}) {
      const Matrix<double> X = random.normal(frames, channels);
      Matrix<double> S = Matrix<double>::Ones(channels, channels);
      add_scatter(X, X, S);
      const Matrix<double> expected = Matrix<double>::Ones(channels, channels) + X.transpose() * X;
      EXPECT_TRUE(Matrix<double>(S.triangularView<Eigen::Lower>())
                      .isApprox(Matrix<double>(expected.triangularView<Eigen::Lower>()), 1e-12));
      Vector<double> length;
      squared_lengths(X, length);
      EXPECT_TRUE(length.isApprox(X.rowwise().squaredNorm(), 1e-12));
      Vector<double> sum;
      sum_frames(X, sum);
      EXPECT_TRUE(sum.isApprox(X.colwise().sum().transpose(), 1e-12));
      Vector<double> second = Vector<double>::Ones(channels);
      Vector<double> fourth = second;
      add_powers(X, second, fourth);
      EXPECT_TRUE(second.isApprox(X.colwise().squaredNorm().transpose() + Vector<double>::Ones(channels)));
      EXPECT_TRUE(fourth.isApprox(X.array().pow(4).colwise().sum().matrix().transpose() +
                                  Vector<double>::Ones(channels)));
      Matrix<double> weighed;
      weigh(X, length.data(), weighed);
      EXPECT_EQ(weighed, length.asDiagonal() * X);
      add_scatter(weighed, X, S);
      const Matrix<double> both = expected + X.transpose() * weighed;
      EXPECT_TRUE(Matrix<double>(S.triangularView<Eigen::Lower>())
                      .isApprox(Matrix<double>(both.triangularView<Eigen::Lower>()), 1e-12));
      for (const Index rows : {1, 3, 4, 6, 32}) {
        const Matrix<double> Z = random.normal(frames, rows);
        Matrix<double> sum = Matrix<double>::Ones(rows, channels);
        add_product(Z, X, sum);
        EXPECT_TRUE(sum.isApprox(Matrix<double>::Ones(rows, channels) + Z.transpose() * X, 1e-12));
        const Matrix<double> P = random.normal(rows, channels);
        Matrix<double> Y;
        multiply(X, P, Y);
        EXPECT_TRUE(Y.isApprox(X * P.transpose(), 1e-12)) << channels << " " << rows;
      }
    }
  }
}

TEST(FrameKernels, ProductsOfSomeColumnsByTheFirst) {
  Random random(4);
  for (const Index frames : {8, 16, 256}) {
    const Matrix<double> X = random.normal(frames, 23);
    for (const std::vector<Index>& rows : std::vector<std::vector<Index>>{
             {22}, {5, 0}, {7, 8, 9}, {1, 1, 3, 20}, {22, 0, 5, 6, 7}, {0, 2, 4, 6, 8, 10}}) {
      for (const Index columns : {1, 3, 4, 10, 23}) {
        Matrix<double> S = Matrix<double>::Ones(static_cast<Index>(rows.size()), columns);
        const Matrix<double> expected = S + X(Eigen::all, rows).transpose() * X.leftCols(columns);
        add_selected_products(X, rows, S);
        EXPECT_TRUE(S.isApprox(expected, 1e-12)) << frames << " " << rows.size() << " " << columns;
      }
    }
  }
}

template <typename S, typename T>
void expect_transposition() {
  constexpr double rounding =
      std::is_same_v<T, double> ? 0 : static_cast<double>(std::numeric_limits<T>::epsilon());
  Random random(2);
  for (const Index channels : {1, 3, 4, 5, 8, 11, 32}) {
    for (const Index frames : {1, 3, 4, 6, 8, 13, 17}) {
      const Vector<double> origin = 1e3 * random.normal(channels, 1);
      Matrix<double> near = random.normal(channels + 2, frames);  // a part of wider frames
      near.topRows(channels).colwise() += origin;
      const Matrix<S> X = near.cast<S>();
      Matrix<T> out = Matrix<T>::Constant(frames + 3, channels, 7);
      turn(X.data(), X.rows(), frames, origin, out.data(), out.rows());
      const Matrix<double> expected =
          (X.topRows(channels).template cast<double>().colwise() - origin).transpose();
      const Matrix<double> off = out.topRows(frames).template cast<double>() - expected;
      EXPECT_TRUE((off.array().abs() <= rounding * expected.array().abs()).all())
          << channels << " " << frames << "\n"
          << off;
      EXPECT_EQ(out.bottomRows(3), (Matrix<T>::Constant(3, channels, 7)));
    }
  }
}

TEST(FrameKernels, TurnIsATranspositionAndCostsNoDigits) {
  expect_transposition<double, double>();
  expect_transposition<double, float>();
  expect_transposition<float, double>();
  expect_transposition<float, float>();
}

TEST(FourChannels, PassesAreThoseOfTheFormulas) {
  Random random(7);
  for (const Index frames : {1, 2, 3, 4, 5, 8, 30, 1001}) {
    const Matrix<double> wide = random.normal(6, frames);  // of which four are used
    const Frames<double> X(wide.topRows(4));
    const Vector<double> origin = random.normal(4, 1);
    const Matrix<double> W = random.normal(4, 4);
    const Matrix<double> R = W.triangularView<Eigen::Upper>();
    const Matrix<double> x = X.colwise() - origin;
    const Matrix<double> r = R * x;
    const Matrix<double> y = W * x;
    const Matrix<double> one = Matrix<double>::Ones(4, 4);
    const auto lower = [](const Matrix<double>& S) {
      return Matrix<double>(S.triangularView<Eigen::Lower>());
    };

    Vector<double> sum = Vector<double>::Ones(4);
    Matrix<double> S = one;
    add_scatter_of_four(X, origin, sum, S);
    EXPECT_TRUE(sum.isApprox(Vector<double>::Ones(4) + x.rowwise().sum(), 1e-12)) << frames;
    EXPECT_TRUE(lower(S).isApprox(lower(one + x * x.transpose()), 1e-12)) << frames;
    S = one;
    add_weighted_scatter_of_four(X, origin, R, S);
    const Vector<double> length = r.colwise().squaredNorm().transpose();
    EXPECT_TRUE(lower(S).isApprox(lower(one + r * length.asDiagonal() * r.transpose()), 1e-12)) << frames;
    Vector<double> second = Vector<double>::Ones(4);
    Vector<double> fourth = second;
    add_powers_of_four(X, origin, W, second, fourth);
    EXPECT_TRUE(second.isApprox((y.array().square().rowwise().sum() + 1).matrix(), 1e-12)) << frames;
    EXPECT_TRUE(fourth.isApprox((y.array().pow(4).rowwise().sum() + 1).matrix(), 1e-12)) << frames;
  }
}

const auto add_moments = [](Moments& sum, const AnyFrames& chunk, std::int64_t) { sum.add(chunk); };

TEST(ParallelSum, DoesNotDependOnTheThreads) {
  Random random(3);
  const Matrix<double> X = random.normal(5, 100000).array() + 3;
  const Frames<double> frames(X);
  Moments moments(5);
  parallel_sum(MatrixRecording<double>(frames), {}, 0, 1, moments, add_moments);
  EXPECT_EQ(moments.count(), 100000);
  Moments alone(5);
  MatrixRecording<double>(frames).pass([&](const Frames<double>& chunk) {
    Moments one(5);
    one.add(chunk);
    alone.merge(one);
  });
  EXPECT_EQ(moments.covariance(), alone.covariance());
  EXPECT_EQ(moments.mean(), alone.mean());
  Moments direct(5);
  direct.add(X);
  EXPECT_TRUE(direct.covariance().isApprox(moments.covariance(), 1e-12));
}

struct Count {
  std::int64_t frames = 0;
  void merge(const Count& other) { frames += other.frames; }
};

TEST(ParallelSum, TheFirstFailureIsTheOneThrown) {
  const Matrix<double> X = Matrix<double>::Zero(1, 400000);
  const Frames<double> frames(X);
  const auto add = [](Count& sum, const AnyFrames& chunk, std::int64_t before) {
    if (before >= 100000) throw std::runtime_error(std::to_string(before));
    sum.frames += std::get<Frames<double>>(chunk).cols();
  };
  for (int k = 0; k < 20; ++k) {
    Count total;
    try {
      parallel_sum(MatrixRecording<double>(frames), {}, 0, 1, total, add);
      FAIL() << "nothing was thrown";
    } catch (const std::runtime_error& e) {
      EXPECT_STREQ(e.what(), "114688");
      EXPECT_EQ(total.frames, 114688);
    }
  }
}

TEST(MappedRecording, IsVisitedInOrderAndStopsWhereTheVisitorFails) {
  Random random(5);
  const Matrix<double> X = random.normal(4, 200000);
  const Frames<double> frames(X);
  const MatrixRecording<double> recording(frames);
  const MappedRecording doubled(recording, 4,
                                [](const Frames<double>& x) -> Matrix<double> { return 2 * x; });
  EXPECT_EQ(gather(doubled), 2 * X);
  for (int k = 0; k < 20; ++k) {
    Index seen = 0;
    const auto visit = [&](const Frames<double>& chunk) {
      if (seen > 100000) throw std::runtime_error("the disk is full");
      seen += chunk.cols();
    };
    EXPECT_THROW(doubled.pass(visit), std::runtime_error);
    EXPECT_GT(seen, 100000);
    EXPECT_LE(seen, 100000 + recording.chunk_frames());
  }
}

// Frames that can be read from anywhere, and the same one after the other.
void expect_same(const Recording& recording, const Matrix<double>& expected) {
  EXPECT_EQ(recording.frames(), expected.cols());
  EXPECT_EQ(gather(recording), expected);
  ASSERT_TRUE(recording.anywhere());
  Recording::Room room;
  for (const Index first : {Index{0}, Index{3}, expected.cols() / 2}) {
    const Index count = std::min<Index>(1000, expected.cols() - first);
    const AnyFrames frames = recording.frames_at(first, count, room);
    EXPECT_EQ(as_doubles(frames, room.doubles), expected.middleCols(first, count));
  }
}

TEST(RecordingWithout, HasTheOtherFramesAndTheirWeights) {
  Random random(6);
  const Matrix<double> X = random.normal(3, 5000);
  const Frames<double> frames(X);
  const MatrixRecording<double> all(frames);
  const std::vector<Segment> bad = {{4000, 9000}, {0, 2}, {100, 200}, {150, 160}, {199, 201}};
  Matrix<double> expected(3, 2 + 98 - 2 + 3799);
  Vector<double> w(5000), left(expected.cols());
  for (double& v : w) v = random.uniform();
  Index kept = 0;
  for (Index t = 2; t < 4000; ++t) {
    if (t >= 100 && t < 201) continue;
    left(kept) = w(t);
    expected.col(kept++) = X.col(t);
  }
  expected.conservativeResize(3, kept);
  left.conservativeResize(kept);
  expect_same(RecordingWithout(all, bad), expected);
  expect_same(RecordingWithout(all, {}), X);
  const Matrix<float> floats = X.cast<float>();
  const Frames<float> float_frames(floats);
  const MatrixRecording<float> as_floats(float_frames);
  expect_same(RecordingWithout(as_floats, bad), expected.cast<float>().cast<double>());
  const WeightedRecording weighted(all, w);
  const RecordingWithout some(weighted, bad);
  EXPECT_EQ(*some.weights(), left);
  EXPECT_EQ(RecordingWithout(all, {{0, 6000}}).frames(), 0);
  EXPECT_THROW(RecordingWithout(all, {{5, 4}}), std::invalid_argument);
}

TEST(WeightedRecording, RefusesWeightsThatAreNone) {
  const Matrix<double> X = Matrix<double>::Ones(1, 3);
  const Frames<double> frames(X);
  const MatrixRecording<double> all(frames);
  EXPECT_THROW(WeightedRecording(all, Vector<double>::Ones(4)), std::invalid_argument);
  EXPECT_THROW(WeightedRecording(all, Vector<double>::Zero(3)), std::invalid_argument);
  EXPECT_THROW(WeightedRecording(all, -Vector<double>::Ones(3)), std::invalid_argument);
  EXPECT_THROW(WeightedRecording(all, Vector<double>{{1, NAN, 1}}), std::invalid_argument);
}

TEST(Recording, IsGatheredWhole) {
  Random random(4);
  const Matrix<double> X = random.normal(3, 10000);
  const Frames<double> frames(X);
  EXPECT_EQ(gather(MatrixRecording<double>(frames)), X);
  const Matrix<float> F = X.cast<float>();
  const Frames<float> floats(F);
  EXPECT_EQ(gather(MatrixRecording<float>(floats)), F.cast<double>());
}

}  // namespace
}  // namespace demix
