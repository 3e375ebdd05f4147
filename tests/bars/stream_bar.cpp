// The stream separator, one default setting for everything, beside batch FOBI on the same samples: synthetic
// sources i.i.d. and in the worst order, real recordings in time order, mixings that move, outliers.
// DEMIX_FULL=1 runs the full numbers of mixings.
#include "demix/stream_separator.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>

#include "bars/recordings.hpp"
#include "demix/fobi.hpp"
#include "demix/metrics.hpp"
#include "demix/synthetic.hpp"
#include "support.hpp"

namespace demix {
namespace {

using testing::largest;
using testing::quantile;

const bool full = std::getenv("DEMIX_FULL") != nullptr;

const std::vector<Source> sub{Source::square, Source::sine, Source::sawtooth};
const std::vector<Source> both{Source::square, Source::sine, Source::laplace};
const std::vector<Source> four{Source::square, Source::sine, Source::sawtooth, Source::laplace};

struct Result {
  std::vector<double> stream, fobi;
  int missed = 0;  // batch FOBI separates (MSE below .05) and the stream does not
  void add(double of_stream, double of_fobi) {
    stream.push_back(of_stream);
    fobi.push_back(of_fobi);
    missed += of_fobi < 0.05 && of_stream >= 0.05;
  }
  double ratio() const { return quantile(stream, 0.5) / quantile(fobi, 0.5); }
  void print(const char* what, const char* more = "") const {
    std::printf("[  FIGURE  ] stream, %s, %zu mixings: median %.2e = %.4fx FOBI, worst %.1e, missed %d%s\n",
                what, stream.size(), quantile(stream, 0.5), ratio(), largest(stream), missed, more);
  }
};

template <typename Watch>
double separate(const Matrix<double>& X, const Matrix<double>& S, const StreamOptions& options,
                Watch&& watch) {
  StreamSeparator<double> stream(X.rows(), options);
  Vector<double> y(stream.outputs());
  for (Index t = 0; t < X.cols(); ++t) {
    stream.step(X.col(t), y);
    watch(t, stream);
  }
  EXPECT_TRUE(y.allFinite());
  stream.finish();
  return mse(S, Matrix<double>(stream.unmixing() * (X.colwise() - stream.mean())));
}

double separate(const Matrix<double>& X, const Matrix<double>& S, const StreamOptions& options = {}) {
  return separate(X, S, options, [](Index, const StreamSeparator<double>&) {});
}

Matrix<double> sorted_by_first(const Matrix<double>& S) {
  std::vector<Index> order(static_cast<std::size_t>(S.cols()));
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return S(0, a) < S(0, b); });
  Matrix<double> out(S.rows(), S.cols());
  for (Index t = 0; t < S.cols(); ++t) out.col(t) = S.col(order[static_cast<std::size_t>(t)]);
  return out;
}

void expect_bar(const char* name, const std::vector<Source>& which, bool white) {
  const auto d = static_cast<Index>(which.size());
  for (const double samples : {1e4, 1e5, 1e6}) {
    for (const bool sorted : {false, true}) {
      const int mixings = full ? 200 : samples < 5e4 ? 200 : samples < 5e5 ? 20 : 2;
      Result r;
      for (int k = 0; k < mixings; ++k) {
        Random random(static_cast<std::uint64_t>(9000 + k));
        const Matrix<double> A = conditioned_mixing(d, std::pow(1e6, random.uniform()), random);
        Matrix<double> S = make_sources(which, static_cast<Index>(samples), Timing::iid, random);
        if (sorted) S = sorted_by_first(S);
        const Mixture m = mix(S, A, white);
        r.add(separate(m.mixtures, m.sources), mse(m.sources, fobi(m.mixtures).apply(m.mixtures)));
      }
      char what[100];
      std::snprintf(what, sizeof what, "%s, %s, T = %.0e", name,
                    sorted ? "sorted by the first source" : "i.i.d.", samples);
      r.print(what);
      EXPECT_LE(r.ratio(), 1.1);
      EXPECT_EQ(r.missed, 0);
    }
  }
}

TEST(StreamBar, Scenario1) { expect_bar("scenario 1", sub, true); }
TEST(StreamBar, Scenario2) { expect_bar("scenario 2", sub, false); }
TEST(StreamBar, Scenario3) { expect_bar("scenario 3", both, true); }
TEST(StreamBar, Scenario4) { expect_bar("scenario 4", both, false); }
TEST(StreamBar, FourSources) { expect_bar("four sources", four, false); }

Matrix<double> any_mixing(Index d, int k) {
  Random random(static_cast<std::uint64_t>(700 + k));
  return conditioned_mixing(d, std::pow(1e6, random.uniform()), random);
}

// The instantaneous demixing matrix from half a second on, scored twice: against sources of unit variance
// over the whole recording, and over what has been heard so far. A separator cannot know how loud a voice
// will become, so the first has a floor that is a matter of scale alone; batch FOBI of as many frames shows
// it too.
TEST(StreamBar, SpeechInTimeOrder) {
  bool real = false;
  const Matrix<double> S = testing::speech(real);
  const int mixings = full ? 200 : 50;
  Result r;
  double worst_heard = 0;
  double worst_whole = 0;
  double late_whole = 0;  // from .6 s on
  double batch_whole = 0;
  for (int k = 0; k < mixings; ++k) {
    const Matrix<double> A = any_mixing(3, k);
    const Matrix<double> X = A * S;
    const double of_stream = separate(X, S, {}, [&](Index t, const StreamSeparator<double>& stream) {
      if (t < 8000 || t % 400 != 0) return;
      const Matrix<double> Y = stream.unmixing() * (X.colwise() - stream.mean());
      Matrix<double> heard = S.leftCols(t);
      testing::standardise(heard);
      worst_heard = std::max(worst_heard, mse(heard, Matrix<double>(Y.leftCols(t))));
      const double whole = mse(S, Y);
      worst_whole = std::max(worst_whole, whole);
      batch_whole = std::max(batch_whole, mse(S, fobi(Matrix<double>(X.leftCols(t))).apply(X)));
      if (t >= 9600) late_whole = std::max(late_whole, whole);
    });
    r.add(of_stream, mse(S, fobi(X).apply(X)));
  }
  r.print(real ? "TSP speech + noise, time order" : "stand-in for speech, time order");
  std::printf(
      "[  FIGURE  ] stream, the same, live from 0.5 s on: worst MSE %.4f against what was heard so far; %.4f "
      "against "
      "sources scaled over all 2 s (batch FOBI of as many frames: %.4f; the stream from 0.6 s on: %.4f)\n",
      worst_heard, worst_whole, batch_whole, late_whole);
  EXPECT_LE(r.ratio(), 1.2);
  EXPECT_EQ(r.missed, 0);
  EXPECT_LT(largest(r.stream), 0.05);
  EXPECT_LT(worst_heard, 0.05);
  EXPECT_LT(worst_whole, 1.1 * batch_whole);
}

TEST(StreamBar, PhotographsInRasterOrder) {
  bool real = false;
  const Matrix<double> S = testing::photographs(real);
  Result r;
  for (int k = 0; k < (full ? 200 : 20); ++k) {
    const Matrix<double> X = any_mixing(3, k) * S;
    r.add(separate(X, S), mse(S, fobi(X).apply(X)));
  }
  r.print(real ? "photographs, raster order" : "stand-in for photographs, raster order");
  EXPECT_LE(r.ratio(), 1.2);
  EXPECT_EQ(r.missed, 0);
  EXPECT_LT(largest(r.stream), 0.05);
}

TEST(StreamBar, EegInTimeOrder) {
  bool real = false;
  const Matrix<double> X = testing::eeg(real);
  StreamSeparator<double> stream(X.rows());
  Matrix<double> Y(X.rows(), X.cols());
  stream.process(X, Y);
  stream.finish();
  const double index = amari_index(stream.unmixing() * fobi(X).mixing);
  std::printf("[  FIGURE  ] stream, %s, %ld channels, time order: Amari index to batch FOBI %.1e\n",
              real ? "EEG" : "stand-in for EEG", static_cast<long>(X.rows()), index);
  EXPECT_LT(index, 0.02);
}

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

TEST(StreamBar, TrackAMixingThatIsReplaced) {
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
      "slowest %.0f frames; noticed after %.0f, at the latest %.0f; worst MSE after 3e4: %.4f\n",
      back, runs, quantile(delay, 0.5), largest(delay), quantile(noticed, 0.5), largest(noticed),
      largest(error));
  EXPECT_EQ(back, runs);
}

TEST(StreamBar, TrackAMixingThatRotates) {
  std::vector<double> error;
  std::int64_t alarms = 0;
  for (int k = 0; k < (full ? 20 : 3); ++k) {
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
      "[  FIGURE  ] stream, track, 1 radian in 1e6 frames: MSE median %.4f, worst %.4f; %ld false alarms\n",
      quantile(error, 0.5), largest(error), static_cast<long>(alarms));
  EXPECT_LT(largest(error), 0.02);
}

// Speech, over and over, with the mixing replaced: seldom noticed, since no window of speech is like another,
// and then forgotten over some memories. No bar: this is what to expect.
TEST(StreamBar, TrackSpeechWhoseMixingIsReplaced) {
  bool real = false;
  const Matrix<double> S = testing::speech(real);
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
      "%.1f "
      "memories (median), %.1f at the latest; %ld false alarms before\n",
      real ? "speech" : "stand-in for speech", noticed, runs, quantile(memories, 0.5), largest(memories),
      static_cast<long>(false_alarms));
  EXPECT_EQ(false_alarms, 0);
  EXPECT_LT(largest(memories), 1e9);
}

TEST(StreamBar, Outliers) {
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
          "clean "
          "figure (%.1e), with it %.2fx; on clean data %.2fx\n",
          name, samples, quantile(dirty, 0.5) / reference, reference, quantile(robust, 0.5) / reference,
          quantile(robust_clean, 0.5) / reference);
      EXPECT_LE(quantile(robust, 0.5), 2 * reference);
      EXPECT_LE(quantile(robust_clean, 0.5), 1.2 * reference);
    }
  }
}

// What the other two ways of learning do with the same frames.
TEST(StreamBar, ReplayAndFrameOnSpeech) {
  bool real = false;
  const Matrix<double> S = testing::speech(real);
  for (const bool replay : {true, false}) {
    StreamOptions options;
    options.learn = replay ? StreamOptions::Learn::replay : StreamOptions::Learn::frame;
    Result r;
    for (int k = 0; k < 20; ++k) {
      const Matrix<double> X = any_mixing(3, k) * S;
      r.add(separate(X, S, options), mse(S, fobi(X).apply(X)));
    }
    r.print(replay ? "learning from replay (16384 frames), speech in time order"
                   : "learning from the frame, speech in time order");
    if (replay) {
      EXPECT_EQ(r.missed, 0);
      EXPECT_LT(r.ratio(), 5);
    }
  }
}

}  // namespace
}  // namespace demix
