#include <sys/resource.h>

#include <cstdlib>
#include <cstring>
#include <limits>

#include "core/archive.hpp"
#include "core/checksum.hpp"
#include "online/inverse_root.hpp"
#include "online/jacobi_svd.hpp"
#include "online/stream_support.hpp"
#include "support.hpp"

/// States that no stream has saved, with a checksum that fits: they are refused, or what goes on from them
/// puts out finite numbers.
namespace demix {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)
using Learn = StreamOptions::Learn;

constexpr std::size_t magic_size = 21;
constexpr std::size_t head = magic_size + sizeof(std::uint64_t);

// Offsets of the header in a state.
constexpr std::size_t channels_at = head;
constexpr std::size_t learn_at = head + 12;
constexpr std::size_t components_at = head + 16;
constexpr std::size_t memory_at = head + 24;
constexpr std::size_t robust_at = head + 32;
constexpr std::size_t replay_at = head + 41;

template <typename V>
std::string with(std::string state, std::size_t at, V value) {
  std::memcpy(state.data() + at, &value, sizeof value);
  const std::uint64_t sum = checksum(std::string_view(state).substr(head));
  std::memcpy(state.data() + magic_size, &sum, sizeof sum);
  return state;
}

template <typename T = double>
std::string refusal(const std::string& state) {
  try {
    StreamSeparator<T>::restore(state);
    return {};
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
}

// Where small whole numbers are: counts, places, shapes.
std::vector<std::size_t> likely_fields(const std::string& state) {
  std::vector<std::size_t> places;
  for (std::size_t at = head; at + 8 <= state.size(); ++at) {
    std::int64_t value = 0;
    std::memcpy(&value, state.data() + at, sizeof value);
    if (at < head + 330 || (value > 0 && value < 1 << 16)) places.push_back(at);
  }
  return places;
}

template <typename T>
void expect_no_harm(Index channels, const StreamOptions& options, Index frames) {
  StreamSeparator<T> stream(channels, options);
  run(stream, many(channels, frames, 3));
  const std::string good = stream.state();
  ASSERT_EQ(refusal<T>(good), "");
  const std::int64_t values[] = {-1,
                                 0,
                                 3,
                                 5000,
                                 std::int64_t{1} << 40,
                                 std::numeric_limits<std::int64_t>::min(),
                                 0x7ff8000000000000,
                                 0x7fefffffffffffff};
  const std::vector<std::size_t> places = likely_fields(good);
  const std::size_t step = 1 + places.size() * std::size(values) / 1200;
  const Matrix<double> next = many(channels, 150, 4);
  int taken = 0;
  for (std::size_t k = 0; k < places.size() * std::size(values); k += step) {
    const std::string bad = with(good, places[k / std::size(values)], values[k % std::size(values)]);
    if (!refusal<T>(bad).empty()) continue;
    ++taken;
    StreamSeparator<T> on = StreamSeparator<T>::restore(bad);
    ASSERT_TRUE(run(on, next).allFinite()) << k;
    on.finish();
    ASSERT_TRUE(on.unmixing().allFinite()) << k;
  }
  EXPECT_GT(taken, 0);
}

TEST(StreamState, ForgedOnesDoNoHarm) {
  StreamOptions robust;
  robust.robust = true;
  robust.memory = 2000;
  robust.components = 2;
  StreamOptions replay{Learn::replay};
  replay.replay = 64;
  expect_no_harm<double>(3, {}, 207);
  expect_no_harm<float>(3, {}, 300);
  expect_no_harm<double>(3, robust, 100);
  expect_no_harm<double>(3, robust, 900);
  expect_no_harm<double>(2, replay, 1500);
  expect_no_harm<double>(2, {Learn::frame}, 1500);
}

TEST(StreamState, OptionsOutOfRangeAreRefusedBeforeMemoryIsTaken) {
  StreamSeparator<double> stream(3);
  run(stream, many(3, 500, 9));
  const std::string good = stream.state();
  EXPECT_NE(refusal(with(good, channels_at, Index{0})), "");
  EXPECT_NE(refusal(with(good, channels_at, Index{-3})), "");
  EXPECT_EQ(refusal(with(good, channels_at, Index{1} << 40)), "state: it ends too early");
  EXPECT_EQ(refusal(with(good, channels_at, Index{1} << 15)), "state: it ends too early");
  EXPECT_EQ(refusal(with(good, learn_at, 7)), "state: no such way to learn");
  EXPECT_EQ(refusal(with(with(good, learn_at, 1), replay_at, Index{1} << 40)), "state: it ends too early");
  EXPECT_NE(refusal(with(good, components_at, Index{4})), "");
  EXPECT_EQ(refusal(with(good, memory_at, std::nan(""))), "state: a number is not finite");
  EXPECT_NE(refusal(with(good, memory_at, 1e300)), "");
  EXPECT_EQ(refusal(with(good, robust_at, char{2})), "state: a flag is neither 0 nor 1");
}

TEST(StreamState, ManyChannelsAreCheckedToo) {
  StreamSeparator<float> stream(34);
  run(stream, many(34, 600, 9));
  const std::string good = stream.state();
  EXPECT_EQ(refusal<float>(good), "");
  const std::vector<std::size_t> places = likely_fields(good);
  for (std::size_t k = 0; k < 330; k += 7) {
    const std::string bad = with(good, places[k], Index{-1});
    if (!refusal<float>(bad).empty()) continue;
    StreamSeparator<float> on = StreamSeparator<float>::restore(bad);
    ASSERT_TRUE(run(on, many(34, 300, 2)).allFinite()) << k;
  }
}

// A frame of the sample that the covariance does not know of: no search makes the sums white.
TEST(StreamState, FinishEndsThoughTheSampleBeliesTheCovariance) {
  const Matrix<double> X = many(3, 300, 3);
  StreamSeparator<double> stream(3);
  run(stream, X);
  const std::string good = stream.state();
  const std::string frame(reinterpret_cast<const char*>(X.col(10).data()), 3 * sizeof(double));
  const std::size_t at = good.find(frame);
  ASSERT_NE(at, std::string::npos);
  for (const double value : {1e3, 1e20, 1e40, 1e74}) {
    const std::string bad = with(with(good, at, value), at + 40, -value);
    ASSERT_EQ(refusal(bad), "");
    const auto go_on = [&bad] {
      const rlimit seconds{20, 21};  // of CPU time
      ::setrlimit(RLIMIT_CPU, &seconds);
      StreamSeparator<double> on = StreamSeparator<double>::restore(bad);
      const bool finite = run(on, many(3, 135, 4)).allFinite();
      on.finish();
      std::exit(finite && on.unmixing().allFinite() ? 0 : 1);
    };
    EXPECT_EXIT(go_on(), ::testing::ExitedWithCode(0), "") << value;
  }
}

// Iterations of which there are so many at most cannot be more, or fewer than none.
TEST(StreamState, IterationsOutOfRangeAreRefused) {
  const auto taken = [](auto part, std::size_t at_from_end, int iterations) {
    Saver saver;
    saver(part);
    std::memcpy(saver.bytes.data() + saver.bytes.size() - at_from_end, &iterations, sizeof iterations);
    try {
      Loader loader(saver.bytes);
      loader(part);
      return true;
    } catch (const std::invalid_argument&) {
      return false;
    }
  };
  const std::size_t matrix =
      2 * sizeof(Index) + static_cast<std::size_t>(padded_square(3).size()) * sizeof(double);
  const std::size_t of_root = 2 * matrix + sizeof(double) + sizeof(int);
  const std::size_t of_svd = sizeof(double) + sizeof(bool) + sizeof(int);
  EXPECT_TRUE(taken(InverseRoot(3), of_root, 5));
  EXPECT_TRUE(taken(JacobiSvd(3, 3), of_svd, 5));
  for (const int iterations : {-1, std::numeric_limits<int>::min(), 1000000}) {
    EXPECT_FALSE(taken(InverseRoot(3), of_root, iterations)) << iterations;
    EXPECT_FALSE(taken(JacobiSvd(3, 3), of_svd, iterations)) << iterations;
  }
}

// Frames 230 orders of magnitude above all before them: their squares are no numbers.
TEST(StreamState, WhatWouldOverflowIsRefused) {
  Matrix<double> X = 1e-160 * many(3, 3000, 4);
  X.middleCols(1000, 500) *= 1e232;
  StreamSeparator<double> stream(3);
  const Matrix<double> Y = run(stream, X);
  EXPECT_TRUE(Y.allFinite());
  EXPECT_TRUE((Y.middleCols(1000, 500).array() == 0).all());
  EXPECT_EQ(stream.status().refused, 500);
  EXPECT_GT(Y.rightCols(100).squaredNorm(), 1);
  stream.finish();
  EXPECT_EQ(stream.status().rank, 3);
  EXPECT_EQ(refusal(stream.state()), "");
}

}  // namespace
}  // namespace demix
