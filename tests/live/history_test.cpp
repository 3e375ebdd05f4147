#include "live/history.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <thread>

#include "demix/random.hpp"
#include "live/frame_ring.hpp"
#include "live/latest.hpp"

namespace demix::live {
namespace {

// Least and most by the plain definition, over frames that are there.
struct Plain {
  std::map<std::int64_t, std::vector<float>> frames;
  bool hides(
      const History::Columns& c) const {  // does a column, with its neighbours, lack a value of its own?
    for (Index k = 1; k + 1 < c.count; ++k) {
      for (Index i = 0; i < c.rows; ++i) {
        float least = INFINITY;
        float most = -INFINITY;
        for (auto at = frames.lower_bound(c.from + k * c.step);
             at != frames.end() && at->first < c.from + (k + 1) * c.step; ++at) {
          least = std::min(least, at->second[static_cast<std::size_t>(c.first + i)]);
          most = std::max(most, at->second[static_cast<std::size_t>(c.first + i)]);
        }
        float low = INFINITY;
        float high = -INFINITY;
        for (Index near = k - 1; near <= k + 1; ++near) {
          const float* pair = c.values.data() + 2 * (near * c.rows + i);
          low = std::min(low, std::isnan(pair[0]) ? INFINITY : pair[0]);
          high = std::max(high, std::isnan(pair[1]) ? -INFINITY : pair[1]);
        }
        if (least < low || most > high) return true;
      }
    }
    return false;
  }
};

TEST(History, HidesNothingAtAnyStepWhileFramesComeIn) {
  History history(3);
  Plain plain;
  Random random(1);
  for (std::int64_t step : {2, 3, 7, 16, 50, 64, 1000}) {
    Plain seen;  // what a browser has put together, column after column
    std::int64_t next = (history.end() / step + 1) * step;
    const std::int64_t begin = next;
    History::Columns all{
        .from = begin, .step = step, .count = 0, .first = 0, .rows = 3, .each = 2, .values = {}};
    for (int round = 0; round < 400; ++round) {
      for (Index t = random.below(97); t >= 0; --t) {
        std::vector<float> frame(3);
        for (float& v : frame) v = static_cast<float>(std::pow(random.normal(), 5));
        plain.frames[history.end()] = frame;
        history.add(history.end(), frame.data());
      }
      const History::Columns part = history.columns(next, step, 100000, 0, 3);
      EXPECT_EQ(part.from, next);
      all.values.insert(all.values.end(), part.values.begin(), part.values.end());
      all.count += part.count;
      next += part.count * step;
    }
    EXPECT_GT(all.count * step, 10000 - 2 * step);
    EXPECT_FALSE(plain.hides(all)) << step;
    EXPECT_FALSE(plain.hides(history.columns(begin, step, all.count, 0, 3)))
        << step;  // and asked for at once
  }
}

TEST(History, GivesFramesAsTheyWere) {
  History history(2);
  for (int t = 0; t < 5000; ++t) {
    const std::array<float, 2> frame{static_cast<float>(t), static_cast<float>(-t)};
    history.add(t, frame.data());
  }
  const History::Columns c = history.columns(100, 1, 50, 1, 1);
  ASSERT_EQ(c.count, 50);
  for (Index t = 0; t < 50; ++t)
    EXPECT_EQ(c.values[static_cast<std::size_t>(t)], -static_cast<float>(100 + t));
  EXPECT_EQ(history.latest(0, 3), Eigen::Vector3d(4997, 4998, 4999));
  EXPECT_EQ(history.columns(6000, 1, 50, 0, 2).count, 0);
}

TEST(History, ShowsGapsAndBadValuesAsGaps) {
  History history(1);
  const float one = 1;
  const float bad = NAN;
  for (int t = 0; t < 64; ++t) history.add(t, &one);
  for (int t = 64; t < 128; ++t) history.add(t, t % 2 == 0 ? &bad : &one);
  for (int t = 1024; t < 1100; ++t) history.add(t, &one);
  const History::Columns c = history.columns(0, 64, 100, 0, 1);
  ASSERT_EQ(c.count, 17);
  EXPECT_EQ(c.values[0], 1);
  EXPECT_EQ(c.values[2], 1);
  for (std::size_t k = 2; k < 16; ++k) EXPECT_TRUE(std::isnan(c.values[2 * k])) << k;
  EXPECT_EQ(c.values[32], 1);
  const History::Columns frames = history.columns(60, 1, 40, 0, 1);
  EXPECT_TRUE(std::isnan(frames.values[4]));
  EXPECT_EQ(frames.values[5], 1);
}

TEST(History, KnowsTheDistantPastCoarsely) {
  History history(2);
  constexpr std::int64_t all = 3'000'000;
  for (std::int64_t t = 0; t < all; ++t) {
    const std::array<float, 2> frame{t == 1234567 ? 9.F : 1.F, 0.F};
    history.add(t, frame.data());
  }
  EXPECT_EQ(history.begin(), 0);
  for (const std::int64_t step : {1, 40, 5000}) {  // the peak is there, whatever the step
    const History::Columns c = history.columns(1234567 / step * step, step, 1, 0, 2);
    ASSERT_EQ(c.count, 1);
    EXPECT_EQ(c.each, 2);
    EXPECT_EQ(*std::max_element(c.values.begin(), c.values.end()), 9) << step;
  }
}

TEST(FrameRing, GivesWhatWasPutOrLeavesItOutWhole) {
  FrameRing ring(2, 1);
  std::int64_t put = 0;
  std::int64_t got = 0;
  std::atomic<std::int64_t> last = -1;
  constexpr std::int64_t all = 4'000'000;
  std::thread reader([&] {
    while (last < all - 1) {
      ring.drain(1000, [&](std::int64_t number, const float* values) {
        ASSERT_GT(number, last);
        last = number;
        ++got;
        ASSERT_EQ(values[0], static_cast<float>(number % 1000));
        ASSERT_EQ(values[1], static_cast<float>(number % 777));
        ASSERT_EQ(values[2], static_cast<float>(number % 10));
      });
    }
  });
  while (last < all - 1) {  // until the reader has come so far, however much was left out
    Matrix<double> X(2, 500);
    Matrix<double> Y(1, 500);
    for (Index t = 0; t < 500; ++t) {
      X(0, t) = static_cast<double>((put + t) % 1000);
      X(1, t) = static_cast<double>((put + t) % 777);
      Y(0, t) = static_cast<double>((put + t) % 10);
    }
    ring.push(put, X, Y);
    put += 500;
  }
  reader.join();
  EXPECT_GT(got, 0);
}

TEST(Latest, IsNeverTornAndNeverOld) {
  Latest<std::array<int, 64>> latest({});
  std::atomic<bool> over{false};
  std::thread reader([&] {
    int before = 0;
    while (!over) {
      if (!latest.update()) continue;
      for (const int v : latest.value()) ASSERT_EQ(v, latest.value()[0]);
      ASSERT_GT(latest.value()[0], before);
      before = latest.value()[0];
    }
    while (latest.update()) before = latest.value()[0];
    EXPECT_EQ(before, 200000);
  });
  for (int k = 1; k <= 200000; ++k) {
    latest.draft().fill(k);
    latest.publish();
  }
  over = true;
  reader.join();
}

}  // namespace
}  // namespace demix::live
