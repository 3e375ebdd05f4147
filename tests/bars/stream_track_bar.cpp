// The stream separator on what moves or is broken: mixings replaced and turning, outliers; and its two
// networks. DEMIX_FULL=1 runs the full numbers of mixings.
#include <cmath>
#include <cstdio>
#include <numeric>

#include "bars/recordings.hpp"
#include "bars/stream_runs.hpp"
#include "demix/fobi.hpp"
#include "demix/metrics.hpp"
#include "support.hpp"

namespace demix {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)

StreamOptions track() {
  StreamOptions options;
  options.memory = 2e4;
  return options;
}

double instant_mse(const StreamSeparator<double>& stream, const Matrix<double>& A) {
  // Of independent sources of unit variance: E||s - y||^2 needs no samples.
  const Matrix<double> P = stream.unmixing() * A;
  std::vector<Index> order(static_cast<std::size_t>(P.rows()));
  std::iota(order.begin(), order.end(), Index{0});
  double best = 1e300;
  do {
    double sum = 0;
    for (Index i = 0; i < P.rows(); ++i) {
      const Index j = order[static_cast<std::size_t>(i)];
      sum += P.row(i).squaredNorm() + 1 - 2 * std::abs(P(i, j));
    }
    best = std::min(best, sum / static_cast<double>(P.rows()));
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

TEST(StreamTrackBar, TrackAMixingThatIsReplaced) {
  const int runs = 50;
  int back = 0;
  std::vector<double> delay;
  std::vector<double> noticed;
  std::vector<double> error;
  for (int k = 0; k < runs; ++k) {
    Random random(static_cast<std::uint64_t>(900 + k));
    const Matrix<double> before = conditioned_mixing(3, std::pow(1e6, random.uniform()), random);
    const Matrix<double> after = conditioned_mixing(3, std::pow(1e6, random.uniform()), random);
    const Matrix<double> S = make_sources(both, 240000, Timing::iid, random);
    StreamSeparator<double> stream(3, track());
    Vector<double> y(3);
    double since = 240000;  // the last frame from which it stays below .05
    double worst_later = 0;
    for (Index t = 0; t < S.cols(); ++t) {
      stream.step((t < 200000 ? before : after) * S.col(t), y);
      if (t < 200000 || t % 250 != 0) continue;
      const double now = instant_mse(stream, after);
      if (now >= 0.05) since = 240000;
      if (now < 0.05 && since >= 240000) since = static_cast<double>(t) - 200000;
      if (t >= 230000) worst_later = std::max(worst_later, now);
    }
    back += since <= 30000 && worst_later < 0.05;
    delay.push_back(since);
    noticed.push_back(static_cast<double>(stream.status().last_change) - 200000);
    error.push_back(worst_later);
  }
  std::printf(
      "[  FIGURE  ] stream, track, mixing replaced: %d of %d back below .05 within 3e4 frames; median %.0f, "
      "slowest %.0f frames; noticed after %.0f, at the latest %.0f; worst MSE after 3e4: %.4f (bar: all): "
      "%s\n",
      back, runs, quantile(delay, 0.5), largest(delay), quantile(noticed, 0.5), largest(noticed),
      largest(error), verdict(back == runs));
  EXPECT_EQ(back, runs);
}

TEST(StreamTrackBar, TrackAMixingThatRotates) {
  std::vector<double> error;
  std::int64_t alarms = 0;
  for (int k = 0; k < (full ? 50 : 3); ++k) {
    Random random(static_cast<std::uint64_t>(950 + k));
    const Matrix<double> A = conditioned_mixing(3, std::pow(1e6, random.uniform()), random);
    const Vector<double> axis = random.normal(3, 1).col(0).normalized();
    Matrix<double> K(3, 3);
    K << 0, -axis(2), axis(1), axis(2), 0, -axis(0), -axis(1), axis(0), 0;
    StreamSeparator<double> stream(3, track());
    Vector<double> y(3);
    for (Index t = 0; t < 1000000; t += 100) {
      const double angle = 1e-6 * static_cast<double>(t);
      const Matrix<double> now =
          A * (Matrix<double>::Identity(3, 3) + std::sin(angle) * K + (1 - std::cos(angle)) * K * K);
      const Matrix<double> X = now * make_sources(both, 100, Timing::iid, random);
      for (Index i = 0; i < 100; ++i) stream.step(X.col(i), y);
      if (t >= 50000 && t % 500 == 0) error.push_back(instant_mse(stream, now));
    }
    alarms += stream.status().changes;
  }
  std::printf(
      "[  FIGURE  ] stream, track, 1 radian in 1e6 frames: MSE median %.4f, worst %.4f (bar: .01): %s; %ld "
      "false alarms\n",
      quantile(error, 0.5), largest(error), verdict(largest(error) < 0.01), static_cast<long>(alarms));
  EXPECT_LT(largest(error), 0.01);
}

// Speech, over and over, with the mixing replaced.
TEST(StreamTrackBar, TrackSpeechWhoseMixingIsReplaced) {
  bool real = false;
  const Matrix<double> S = speech(real);
  const int runs = full ? 50 : 5;
  int noticed = 0;
  std::int64_t false_alarms = 0;
  std::vector<double> memories;  // until below .05 and staying there
  for (int k = 0; k < runs; ++k) {
    Random random(static_cast<std::uint64_t>(980 + k));
    const Matrix<double> before = random.normal(3, 3);
    const Matrix<double> after = random.normal(3, 3);
    StreamSeparator<double> stream(3, track());
    Vector<double> y(3);
    const auto hear = [&](const Matrix<double>& A, Index t) { stream.step(A * S.col(t % S.cols()), y); };
    const Index change = 6 * S.cols();
    for (Index t = 0; t < change; ++t) hear(before, t);
    false_alarms += stream.status().changes;
    const std::int64_t earlier = stream.status().changes;
    Index since = -1;
    for (Index t = 0; t < 12 * S.cols(); ++t) {
      hear(after, t);
      if (t % 1000 != 0) continue;
      Matrix<double> P =
          stream.unmixing() * after;  // scale left out: the level of speech is that of the moment
      P.rowwise().normalize();
      const double left = 1 - P.cwiseAbs2().rowwise().maxCoeff().minCoeff();
      if (left >= 0.05) since = -1;
      if (left < 0.05 && since < 0) since = t;
    }
    noticed += stream.status().changes > earlier;
    memories.push_back(since < 0 ? 1e9 : static_cast<double>(since) / track().memory);
  }
  std::printf(
      "[  FIGURE  ] stream, track, %s, mixing replaced: noticed in %d of %d; crosstalk below .05 again after "
      "%.1f memories (median), %.1f at the latest; %ld false alarms before (bar: 1.5, 4, none): %s\n",
      real ? "speech" : "stand-in for speech", noticed, runs, quantile(memories, 0.5), largest(memories),
      static_cast<long>(false_alarms),
      verdict(false_alarms == 0 && quantile(memories, 0.5) <= 1.5 && largest(memories) <= 4));
  EXPECT_EQ(false_alarms, 0);
  EXPECT_LE(quantile(memories, 0.5), 1.5);
  EXPECT_LE(largest(memories), 4);
}

TEST(StreamTrackBar, Outliers) {
  for (const auto& [name, which] :
       {std::pair{"scenario 2", sub}, {"scenario 4", both}, {"four sources", four}}) {
    const auto d = static_cast<Index>(which.size());
    for (const double samples : {1e4, 1e5}) {
      std::vector<double> clean;
      std::vector<double> dirty;
      std::vector<double> robust;
      std::vector<double> robust_clean;
      StreamOptions resist;
      resist.robust = true;
      for (int k = 0; k < (full ? 200 : samples < 5e4 ? 50 : 10); ++k) {
        Random random(static_cast<std::uint64_t>(70 + k));
        const Matrix<double> A = conditioned_mixing(d, std::pow(1e6, random.uniform()), random);
        const Matrix<double> S = make_sources(which, static_cast<Index>(samples), Timing::iid, random);
        const Matrix<double> X = A * S;
        Matrix<double> bad = X;
        for (Index t = 0; t < X.cols(); ++t) bad.col(t) *= random.uniform() < 1e-3 ? 100 : 1;
        // The demixing matrix is scored on the clean frames: what it makes of an outlier is an outlier.
        const auto score = [&](const Matrix<double>& data, const StreamOptions& options) {
          StreamSeparator<double> stream(d, options);
          Matrix<double> Y(d, data.cols());
          stream.process(data, Y);
          stream.finish();
          return mse(S, Matrix<double>(stream.unmixing() * (X.colwise() - stream.mean())));
        };
        clean.push_back(score(X, {}));
        dirty.push_back(score(bad, {}));
        robust.push_back(score(bad, resist));
        robust_clean.push_back(score(X, resist));
      }
      const double reference = quantile(clean, 0.5);
      std::printf(
          "[  FIGURE  ] stream, %s, T = %.0e, .1 %% of frames x 100: MSE without the robust weight %.0fx the "
          "clean figure (%.1e), with it %.2fx (bar: 1.5): %s; on clean data %.2fx\n",
          name, samples, quantile(dirty, 0.5) / reference, reference, quantile(robust, 0.5) / reference,
          verdict(quantile(robust, 0.5) <= 1.5 * reference), quantile(robust_clean, 0.5) / reference);
      EXPECT_LE(quantile(robust, 0.5), 1.5 * reference);
      EXPECT_LE(quantile(robust_clean, 0.5), 1.2 * reference);
    }
  }
}

// What the other two ways of learning do with the same frames.
TEST(StreamTrackBar, ReplayAndFrameOnSpeech) {
  bool real = false;
  const Matrix<double> S = speech(real);
  for (const bool replay : {true, false}) {
    StreamOptions options;
    options.learn = replay ? StreamOptions::Learn::replay : StreamOptions::Learn::frame;
    std::vector<double> network;
    std::vector<double> batch;
    for (int k = 0; k < 20; ++k) {
      const Matrix<double> X = any_mixing(3, k) * S;
      network.push_back(separate(X, S, options));
      batch.push_back(mse(S, fobi(X).apply(X)));
    }
    const double ratio = quantile(network, 0.5) / quantile(batch, 0.5);
    std::printf(
        "[  FIGURE  ] stream, learning from %s, speech in time order: median %.2e = %.2fx FOBI, worst %.1e\n",
        replay ? "replay (16384 frames)" : "the frame", quantile(network, 0.5), ratio, largest(network));
    if (replay) {
      EXPECT_LT(largest(network), 0.05);
      EXPECT_LT(ratio, 5);
    }
  }
}

}  // namespace
}  // namespace demix
