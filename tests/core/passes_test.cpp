#include <chrono>
#include <condition_variable>
#include <mutex>
#include <type_traits>

#include "core/four_channels.hpp"
#include "core/frame_kernels.hpp"
#include "core/parallel_sum.hpp"
#include "demix/moments.hpp"
#include "demix/random.hpp"
#include "demix/recording.hpp"
#include "simd_support.hpp"
#include "support.hpp"

namespace demix {
namespace {

// As the kernels want it, with what they must not look at.
template <typename T = double>
LineMatrix<T> block_of(const Matrix<double>& X) {
  LineMatrix<T> block(block_stride<T>(X.rows()), X.cols());
  block.setConstant(NAN);
  block.topRows(lane_rows<T>(X.rows())).setZero();
  block.topRows(X.rows()) = X.cast<T>();
  return block;
}

Matrix<double> lower(const Matrix<double>& S) { return S.triangularView<Eigen::Lower>(); }

using FrameKernels = testing::EachGeneration;
using FourChannels = testing::EachGeneration;
INSTANTIATE_TEST_SUITE_P(Simd, FrameKernels, testing::generations(), testing::generation_name);
INSTANTIATE_TEST_SUITE_P(Simd, FourChannels, testing::generations(), testing::generation_name);

const Index widths[] = {1, 2, 3, 4, 5, 7, 8, 9, 12, 31, 32, 33, 64};

TEST_P(FrameKernels, AgreeWithEigen) {
  Random random(1);
  for (const Index d : widths) {
    for (const Index frames : {1, 3, 8, 64}) {
      const Matrix<double> X = random.normal(d, frames);
      const LineMatrix<double> x = block_of(X);
      Matrix<double> S = Matrix<double>::Ones(d, d);
      add_scatter(x, x, S);
      const Matrix<double> expected = Matrix<double>::Ones(d, d) + X * X.transpose();
      EXPECT_TRUE(lower(S).isApprox(lower(expected), 1e-12)) << d << " " << frames;
      Vector<double> length;
      squared_lengths(x, d, length);
      EXPECT_TRUE(length.isApprox(X.colwise().squaredNorm().transpose(), 1e-12));
      Vector<double> sum = Vector<double>::Ones(d);
      add_sums(x, sum);
      EXPECT_TRUE(sum.isApprox(X.rowwise().sum() + Vector<double>::Ones(d), 1e-12));
      Vector<double> second = Vector<double>::Ones(d);
      Vector<double> fourth = second;
      Vector<double> first = second;
      Vector<double> largest(d);
      add_powers(x, {first, second, fourth, largest});
      EXPECT_TRUE(first.isApprox(X.rowwise().sum() + Vector<double>::Ones(d)));
      EXPECT_TRUE(largest.isApprox(X.cwiseAbs().rowwise().maxCoeff()));
      EXPECT_TRUE(second.isApprox(X.rowwise().squaredNorm() + Vector<double>::Ones(d)));
      EXPECT_TRUE(fourth.isApprox(X.array().pow(4).rowwise().sum().matrix() + Vector<double>::Ones(d)));
      LineMatrix<double> weighed;
      weigh(x, d, length.data(), weighed);
      EXPECT_EQ(Matrix<double>(weighed.topRows(d)), X * length.asDiagonal());
      add_scatter(weighed, x, S);
      Matrix<double> in_float = Matrix<double>::Ones(d, d);
      const LineMatrix<float> narrow = block_of<float>(X);
      add_scatter(narrow, narrow, in_float);
      EXPECT_TRUE(lower(in_float).isApprox(lower(expected), 1e-5)) << d << " " << frames;
      const Matrix<double> both = expected + X * length.asDiagonal() * X.transpose();
      EXPECT_TRUE(lower(S).isApprox(lower(both), 1e-12)) << d << " " << frames;
    }
  }
}

template <typename T>
void expect_products() {
  Random random(3);
  constexpr double digits = std::is_same_v<T, double> ? 1e-12 : 1e-5;
  for (const Index d : widths) {
    for (const Index rows : widths) {
      for (const Index frames : {1, 6, 64}) {
        const Matrix<double> X = random.normal(d, frames);
        const LineMatrix<T> x = block_of<T>(X);
        Matrix<double> P = random.normal(rows, d);
        for (const bool triangle : {false, true}) {
          if (triangle) P = Matrix<double>(P.triangularView<Eigen::Upper>());
          LineMatrix<T> y;
          multiply(Multiplier<T>(P), x, y);
          const Matrix<double> Y = y.topRows(rows).template cast<double>();
          EXPECT_TRUE((Y - P * X).norm() <= digits * P.norm() * X.norm()) << d << " " << rows;
          EXPECT_TRUE(y.middleRows(rows, lane_rows<T>(rows) - rows).isZero(0));
          Matrix<double> S = Matrix<double>::Ones(rows, d);
          add_product(y, x, S);
          const Matrix<double> expected = Matrix<double>::Ones(rows, d) + Y * X.transpose();
          EXPECT_TRUE((S - expected).norm() <= digits * Y.norm() * X.norm() + digits) << d << " " << rows;
        }
      }
    }
  }
}
TEST_P(FrameKernels, ProductsAgreeWithEigen) {
  expect_products<double>();
  expect_products<float>();
}

// Frames that are a part of wider ones, and end where their memory does.
template <typename S, typename T>
void expect_centred() {
  constexpr double rounding =
      std::is_same_v<T, double> ? 0 : static_cast<double>(std::numeric_limits<T>::epsilon());
  Random random(2);
  for (const Index d : widths) {
    for (const Index more : {0, 2}) {
      for (const Index frames : {1, 3, 6, 17}) {
        const Vector<double> origin = 1e3 * random.normal(d, 1);
        Matrix<double> near = random.normal(d + more, frames);
        near.bottomRows(d).colwise() += origin;
        const Matrix<S> X = near.cast<S>();
        LineMatrix<T> out;
        centre(X.data() + more, X.rows(), frames, origin, out);
        const Matrix<double> expected = X.bottomRows(d).template cast<double>().colwise() - origin;
        const Matrix<double> off = out.topRows(d).template cast<double>() - expected;
        EXPECT_TRUE((off.array().abs() <= rounding * expected.array().abs()).all()) << d << " " << frames;
        EXPECT_TRUE(out.middleRows(d, lane_rows<T>(d) - d).isZero(0)) << d << " " << frames;
      }
    }
  }
}

TEST_P(FrameKernels, CentringCostsNoDigits) {
  expect_centred<double, double>();
  expect_centred<double, float>();
  expect_centred<float, double>();
  expect_centred<float, float>();
}

TEST_P(FourChannels, PassesAreThoseOfTheFormulas) {
  Random random(7);
  for (const Index frames : {1, 2, 3, 4, 5, 8, 30, 1001}) {
    const Matrix<double> wide = random.normal(6, frames);  // of which four are used
    const Frames<double> X(wide.topRows(4));
    const Vector<double> origin = random.normal(4, 1);
    const Matrix<double> W = random.normal(4, 4);
    const Matrix<double> R = W.triangularView<Eigen::Upper>();
    const Matrix<double> x = X.colwise() - origin;
    const Matrix<double> r = R * x;
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
  }
}

const auto add_moments = [](Moments& sum, const AnyFrames& chunk, std::int64_t) { sum.add(chunk); };

// So many threads, while it lives.
struct Threads {
  explicit Threads(Index most) { limit_threads(most); }
  ~Threads() { limit_threads(0); }
};

// The chunks in the order they were merged in, and a sum that depends on it.
struct InTurn {
  std::vector<Index> chunks;
  double sum = 0;
  void merge(const InTurn& other) {
    chunks.insert(chunks.end(), other.chunks.begin(), other.chunks.end());
    sum = sum / 3 + other.sum;
  }
};

// The first chunk is done only after the others that may be: none of them is merged before it.
TEST(ParallelSum, MergesInTheOrderOfTheChunksWhicheverIsDoneFirst) {
  Random random(3);
  const Matrix<double> X = random.normal(1, 40 * 16384);
  const MatrixRecording<double> recording(X);
  const Index frames = recording.chunk_frames();
  std::vector<Index> expected;
  for (Index k = 0; k * frames < X.cols(); ++k) expected.push_back(k);
  double sum = 0;
  for (const Index threads : {1, 2, 5}) {
    const Threads limited(threads);
    std::mutex mutex;
    std::condition_variable moved;
    std::vector<Index> done;  // in the order they were
    InTurn total;
    parallel_sum(recording, total, [&](InTurn& mine, const AnyFrames& chunk, std::int64_t before) {
      const Index number = before / frames;
      mine.chunks = {number};
      mine.sum = std::get<Frames<double>>(chunk).sum();
      std::unique_lock lock(mutex);
      // As many as may wait for it, the others' own among them.
      const Index ahead = 2 * threads - 1;
      if (number == 0 && threads > 1) {
        EXPECT_TRUE(
            moved.wait_for(lock, std::chrono::seconds(30), [&] { return std::ssize(done) >= ahead; }));
      }
      done.push_back(number);
      moved.notify_all();
    });
    EXPECT_EQ(total.chunks, expected) << threads;
    EXPECT_EQ(done == expected, threads == 1) << threads;  // chunk 0 was not the first
    if (threads == 1) sum = total.sum;
    EXPECT_EQ(total.sum, sum) << threads;
  }
}

TEST(ParallelSum, DoesNotDependOnTheThreads) {
  Random random(3);
  const Matrix<double> X = random.normal(5, 100000).array() + 3;
  const MatrixRecording<double> recording(X);
  Moments alone(5);
  recording.pass([&](const Frames<double>& chunk) {
    Moments one(5);
    one.add(chunk);
    alone.merge(one);
  });
  for (const Index threads : {1, 2, 3, 8}) {
    const Threads limited(threads);
    Moments moments(5);
    parallel_sum(recording, moments, add_moments);
    EXPECT_EQ(moments.count(), 100000);
    EXPECT_EQ(moments.covariance(), alone.covariance()) << threads;
    EXPECT_EQ(moments.mean(), alone.mean()) << threads;
  }
  Moments direct(5);
  direct.add(X);
  EXPECT_TRUE(direct.covariance().isApprox(alone.covariance(), 1e-12));
}

struct Count {
  std::int64_t frames = 0;
  void merge(const Count& other) { frames += other.frames; }
};

TEST(ParallelSum, TheFirstFailureIsTheOneThrown) {
  const Matrix<double> X = Matrix<double>::Zero(1, 400000);
  const MatrixRecording<double> recording(X);
  const auto add = [](Count& sum, const AnyFrames& chunk, std::int64_t before) {
    if (before >= 100000) throw std::runtime_error(std::to_string(before));
    sum.frames += std::get<Frames<double>>(chunk).cols();
  };
  for (int k = 0; k < 20; ++k) {
    Count total;
    try {
      parallel_sum(recording, total, add);
      FAIL() << "nothing was thrown";
    } catch (const std::runtime_error& e) {
      EXPECT_STREQ(e.what(), "114688");
      EXPECT_EQ(total.frames, 114688);
    }
  }
}

TEST(MappedRecording, EachShareHasItsPlace) {
  const Matrix<double> X = Random(3).normal(3, 100000);
  const MatrixRecording<double> recording(X);
  const MappedRecording doubled(recording, 3,
                                [](const Frames<double>& x) -> Matrix<double> { return 2 * x; });
  ASSERT_TRUE(doubled.has_shares());
  Matrix<double> Y = Matrix<double>::Zero(3, X.cols());
  doubled.pass_share([&](std::int64_t before, const Frames<double>& chunk) {
    Y.middleCols(before, chunk.cols()) = chunk;  // no two at the same place
  });
  EXPECT_EQ(Y, 2 * X);
}

TEST(MappedRecording, IsVisitedInOrderAndStopsWhereTheVisitorFails) {
  Random random(5);
  const Matrix<double> X = random.normal(4, 200000);
  const MatrixRecording<double> recording(X);
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

// Frames with random access, and the same one after the other.
void expect_same(const Recording& recording, const Matrix<double>& expected) {
  EXPECT_EQ(recording.frames(), expected.cols());
  EXPECT_EQ(gather(recording), expected);
  ASSERT_TRUE(recording.random_access());
  FrameBuffer buffer;
  for (const Index first : {Index{0}, Index{3}, expected.cols() / 2}) {
    const Index count = std::min<Index>(1000, expected.cols() - first);
    const AnyFrames frames = recording.frames_at(first, count, buffer);
    EXPECT_EQ(as_doubles(frames, buffer.doubles), expected.middleCols(first, count));
  }
}

TEST(RecordingWithout, HasTheOtherFramesAndTheirWeights) {
  Random random(6);
  const Matrix<double> X = random.normal(3, 5000);
  const MatrixRecording<double> all(X);
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
  const MatrixRecording<float> as_floats(floats);
  expect_same(RecordingWithout(as_floats, bad), expected.cast<float>().cast<double>());
  const WeightedRecording weighted(all, w);
  const RecordingWithout some(weighted, bad);
  EXPECT_EQ(*some.weights(), left);
  EXPECT_EQ(RecordingWithout(all, {{0, 6000}}).frames(), 0);
  EXPECT_THROW(RecordingWithout(all, {{5, 4}}), std::invalid_argument);
}

TEST(WeightedRecording, RefusesWeightsThatAreNone) {
  const Matrix<double> X = Matrix<double>::Ones(1, 3);
  const MatrixRecording<double> all(X);
  EXPECT_THROW(WeightedRecording(all, Vector<double>::Ones(4)), std::invalid_argument);
  EXPECT_THROW(WeightedRecording(all, Vector<double>::Zero(3)), std::invalid_argument);
  EXPECT_THROW(WeightedRecording(all, -Vector<double>::Ones(3)), std::invalid_argument);
  EXPECT_THROW(WeightedRecording(all, Vector<double>{{1, NAN, 1}}), std::invalid_argument);
}

TEST(Recording, IsGatheredWhole) {
  Random random(4);
  const Matrix<double> X = random.normal(3, 10000);
  EXPECT_EQ(gather(MatrixRecording<double>(X)), X);
  const Matrix<float> F = X.cast<float>();
  EXPECT_EQ(gather(MatrixRecording<float>(F)), F.cast<double>());
}

// The view that a matrix is passed as is gone when the constructor returns; the matrix is not.
TEST(MatrixRecording, LivesAsLongAsTheMatrix) {
  Random random(8);
  const Matrix<double> X = random.normal(5, 3000);
  const MatrixRecording<double> whole(X);
  const Frames<double> part(X.bottomRows(3));  // wider apart than it is high
  const MatrixRecording<double> rows(part);
  const MatrixRecording<double> copy = rows;
  volatile char overwritten[512];  // where a view on the stack would have been
  for (volatile char& c : overwritten) c = 0x55;
  EXPECT_EQ(gather(whole), X);
  EXPECT_EQ(gather(rows), X.bottomRows(3));
  EXPECT_EQ(gather(copy), X.bottomRows(3));
  FrameBuffer buffer;
  const AnyFrames seen = whole.frames_at(7, 20, buffer);
  EXPECT_EQ(std::get<Frames<double>>(seen).data(), X.col(7).data());  // where they lie
}

// What would be gone, or would have to be copied, does not compile.
TEST(MatrixRecording, CannotBeMadeOfWhatDoesNotLive) {
  using R = MatrixRecording<double>;
  using M = Matrix<double>;
  static_assert(std::is_constructible_v<R, M&> && std::is_constructible_v<R, const M&>);
  static_assert(std::is_constructible_v<R, Frames<double>&> &&
                std::is_constructible_v<R, const Frames<double>&>);
  static_assert(!std::is_constructible_v<R, M> && !std::is_constructible_v<R, const M>);
  static_assert(!std::is_constructible_v<R, Frames<double>>);
  static_assert(!std::is_constructible_v<R, decltype(M() * M())>);
  static_assert(!std::is_constructible_v<R, decltype(M() + M())>);
  static_assert(!std::is_constructible_v<R, const Matrix<float>&>);
  static_assert(!std::is_convertible_v<const M&, R>);
  using Segments = std::vector<Segment>;
  static_assert(std::is_constructible_v<WeightedRecording, const R&, Vector<double>>);
  static_assert(!std::is_constructible_v<WeightedRecording, R, Vector<double>>);
  static_assert(std::is_constructible_v<RecordingWithout, const R&, Segments>);
  static_assert(!std::is_constructible_v<RecordingWithout, R, Segments>);
  static_assert(std::is_constructible_v<MappedRecording, const R&, Index, MappedRecording::Map>);
  static_assert(!std::is_constructible_v<MappedRecording, R, Index, MappedRecording::Map>);
}

}  // namespace
}  // namespace demix
