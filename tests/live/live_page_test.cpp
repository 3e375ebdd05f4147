#include "demix/live_page.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "allocations.hpp"
#include "cannot_run.hpp"
#include "demix/linear_algebra.hpp"
#include "demix/random.hpp"
#include "live/watch.hpp"

namespace demix::live {
namespace {

#if DEMIX_COUNTS_ALLOCATIONS
TEST(LivePage, AllocatesNothingInTheThreadOfTheStream) {
  if (!LivePage::is_built_in()) DEMIX_CANNOT_RUN("no cpp-httplib");
  constexpr Index d = 8;
  PageOptions options;
  options.port = 0;
  options.channels = options.outputs = d;
  LivePage page(options);
  StreamSeparator<double> stream(d);
  Random random(1);
  Matrix<double> x(d, 64);
  Matrix<double> y(d, 64);
  Wishes wishes;
  wishes.muted.reserve(d);
  int count = 0;
  int snapshots = 0;
  for (Index t = 0; t < 40 * 64; t += 64) {
    x = random.normal(d, 64).array().cube();
    stream.process(x, y);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // several times a second there is a snapshot
    count += allocations_in([&] {
      page.take(wishes);
      page.show(t, x, y);
      if (!page.wants_snapshot()) return;
      page.show_state(stream);
      ++snapshots;
    });
  }
  EXPECT_GE(snapshots, 2);
  EXPECT_EQ(count, 0);
  EXPECT_GE(allocations_in([] { const Vector<double> v = Vector<double>::Random(1000); }), 1);  // it counts
}
#endif

// One source that reaches the left of the head more than the right.
TEST(LivePage, MapsSourcesOverTheHead) {
  constexpr Index d = 8;
  PageOptions options;
  options.channels = options.outputs = d;
  options.names = {"Fp1", "Fp2", "T7", "T8", "Cz", "Pz", "O1", "O2"};
  options.positions = eeg::with_standard({}, options.names);
  Watch watch(options);
  Random random(2);
  FrameRing ring(d, d);
  for (Index t = 0; t < 2000; ++t) {
    const Matrix<double> x = random.normal(d, 1);
    ring.push(t, x, x);
    watch.drain(ring);
  }
  Snapshot s{.counts = {},
             .unmixing = {},
             .mixing = Matrix<double>::Identity(d, d),
             .mean = Vector<double>::Zero(d)};
  s.mixing.col(2) << 0.2, -0.2, 1, -1, 0, 0, 0.2, -0.2;
  s.unmixing = inverse(s.mixing);
  watch.take(s);
  const auto o = nlohmann::json::parse(watch.output(2));
  const nlohmann::json& map = o["map"];
  ASSERT_TRUE(map.is_object());
  const auto size = map["size"].get<std::size_t>();
  ASSERT_EQ(map["values"].size(), size * size);
  EXPECT_EQ(map["electrodes"].size(), 8U);
  const auto at = [&](std::size_t row, std::size_t column) {
    return map["values"][row * size + column].get<double>();
  };
  EXPECT_GT(at(size / 2, size / 8), 0.3);
  EXPECT_LT(at(size / 2, size - 1 - size / 8), -0.3);

  options.names = {"a", "b", "c", "d", "e", "f", "g", "h"};
  options.positions = eeg::with_standard({}, options.names);
  Watch elsewhere(options);
  elsewhere.take(s);
  EXPECT_TRUE(nlohmann::json::parse(elsewhere.output(2))["map"].is_null());
}

}  // namespace
}  // namespace demix::live
