// The stream separator, one default setting for everything, beside batch FastICA and FOBI of the same frames:
// synthetic sources i.i.d. and in the worst order, many channels, real recordings in time order.
// DEMIX_FULL=1 runs the full numbers of mixings.
#include "demix/stream_separator.hpp"

#include <cmath>
#include <cstdio>
#include <numeric>

#include "bars/recordings.hpp"
#include "bars/stream_runs.hpp"
#include "demix/fastica.hpp"
#include "demix/fobi.hpp"
#include "demix/linear_algebra.hpp"
#include "demix/metrics.hpp"
#include "demix/picard.hpp"
#include "support.hpp"

namespace demix {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)

struct Result {
  std::vector<double> stream, fastica, fobi;
  int missed = 0;  // batch FOBI separates (MSE below .05) and the stream does not
  void add(const Matrix<double>& X, const Matrix<double>& S) {
    stream.push_back(separate(X, S));
    fastica.push_back(mse(S, demix::fastica(X).apply(X)));
    fobi.push_back(mse(S, demix::fobi(X).apply(X)));
    missed += fobi.back() < 0.05 && stream.back() >= 0.05;
  }
  double to_fastica() const { return quantile(stream, 0.5) / quantile(fastica, 0.5); }
  double to_fobi() const { return quantile(stream, 0.5) / quantile(fobi, 0.5); }
  void expect(const char* what, double ratio, double most, const char* of) const {
    std::printf(
        "[  FIGURE  ] stream, %s, %zu mixings: median %.2e = %.3fx FastICA, %.3fx FOBI, worst %.1e "
        "(FastICA's %.1e), missed %d (bar: %.1fx %s, none missed): %s\n",
        what, stream.size(), quantile(stream, 0.5), to_fastica(), to_fobi(), largest(stream),
        largest(fastica), missed, most, of, verdict(ratio <= most && missed == 0));
    EXPECT_LE(ratio, most) << what;
    EXPECT_EQ(missed, 0) << what;
  }
  void expect_fastica(const char* what, double most) const { expect(what, to_fastica(), most, "FastICA"); }
  void expect_fobi(const char* what, double most) const { expect(what, to_fobi(), most, "FOBI"); }
};

Matrix<double> sorted_by_first(const Matrix<double>& S) {
  std::vector<Index> order(static_cast<std::size_t>(S.cols()));
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return S(0, a) < S(0, b); });
  return S(Eigen::all, order);
}

void expect_bar(const char* name, const std::vector<Source>& which, bool white) {
  const auto d = static_cast<Index>(which.size());
  for (const double samples : {1e4, 1e5, 1e6}) {
    for (const bool sorted : {false, true}) {
      const int mixings = full || samples < 5e4 ? 200 : samples < 5e5 ? 20 : 2;
      Result r;
      for (int k = 0; k < mixings; ++k) {
        Random random(static_cast<std::uint64_t>(9000 + k));
        const Matrix<double> A = conditioned_mixing(d, std::pow(1e6, random.uniform()), random);
        Matrix<double> S = make_sources(which, static_cast<Index>(samples), Timing::iid, random);
        if (sorted) S = sorted_by_first(S);
        const Mixture m = mix(S, A, white);
        r.add(m.mixtures, m.sources);
      }
      char what[100];
      std::snprintf(what, sizeof what, "%s, %s, T = %.0e", name,
                    sorted ? "sorted by the first source" : "i.i.d.", samples);
      if (sorted) {
        r.expect_fobi(what, samples < 5e5 ? 1 : 1.5);
      } else {
        r.expect_fastica(what, 1.1);
      }
    }
  }
}

TEST(StreamBar, Scenario1) { expect_bar("scenario 1", sub, true); }
TEST(StreamBar, Scenario2) { expect_bar("scenario 2", sub, false); }
TEST(StreamBar, Scenario3) { expect_bar("scenario 3", both, true); }
TEST(StreamBar, Scenario4) { expect_bar("scenario 4", both, false); }
TEST(StreamBar, FourSources) { expect_bar("four sources", four, false); }

// Sources of equal kurtosis, sub- and super-Gaussian, at 1e5 frames: no draw may be worse than this times the
// Amari index of batch FastICA.
void expect_many(Index laplace, Index uniform, int draws, double most) {
  std::vector<Source> which(static_cast<std::size_t>(laplace), Source::laplace);
  which.resize(static_cast<std::size_t>(laplace + uniform), Source::uniform);
  const Index d = laplace + uniform;
  std::vector<double> stream;
  std::vector<double> batch;
  std::vector<double> ratio;
  for (int k = 0; k < draws; ++k) {
    Random random(static_cast<std::uint64_t>(300 + k));
    const Matrix<double> A = conditioned_mixing(d, std::pow(1e4, random.uniform()), random);
    const Matrix<double> X = A * make_sources(which, 100000, Timing::iid, random);
    StreamSeparator<double> separator(d);
    Matrix<double> Y(d, X.cols());
    separator.process(X, Y);
    separator.finish();
    stream.push_back(amari_index(separator.unmixing() * A));
    batch.push_back(amari_index(fastica(X).unmixing * A));
    ratio.push_back(stream.back() / batch.back());
  }
  std::printf(
      "[  FIGURE  ] stream, %ld Laplace + %ld uniform, T = 1e5, %d draws: Amari median %.5f, FastICA %.5f; "
      "ratio median %.3f, largest %.3f (bar: %.1f in every draw): %s\n",
      static_cast<long>(laplace), static_cast<long>(uniform), draws, quantile(stream, 0.5),
      quantile(batch, 0.5), quantile(ratio, 0.5), largest(ratio), most, verdict(largest(ratio) <= most));
  EXPECT_LE(largest(ratio), most);
}

TEST(StreamBar, SixteenAndSixteen) { expect_many(16, 16, full ? 10 : 3, 1.1); }
TEST(StreamBar, EightLaplace) { expect_many(8, 0, full ? 10 : 3, 1.1); }
TEST(StreamBar, SixteenLaplace) { expect_many(16, 0, full ? 10 : 3, 1.1); }
TEST(StreamBar, EightAndEight) { expect_many(8, 8, full ? 10 : 3, 1.1); }
TEST(StreamBar, ThirtyTwoAndThirtyTwo) { expect_many(32, 32, full ? 10 : 1, 1.1); }
TEST(StreamBar, SixtyFourAndSixtyFour) { expect_many(64, 64, full ? 10 : 1, 1.2); }

// The instantaneous demixing matrix from half a second on, scored twice: against sources of unit variance
// over the whole recording, and over what has been heard so far. A separator cannot know how loud a voice
// will become, so the first has a floor that is a matter of scale alone; batch FastICA of as many frames
// shows it too.
TEST(StreamBar, SpeechInTimeOrder) {
  bool real = false;
  const Matrix<double> S = speech(real);
  const int mixings = full ? 200 : 20;
  Result r;
  double worst_heard = 0;
  double worst_whole = 0;
  double batch_whole = 0;
  for (int k = 0; k < mixings; ++k) {
    const Matrix<double> X = any_mixing(3, k) * S;
    r.add(X, S);
    if (k >= 5) continue;  // the mixing hardly matters, and this takes long
    separate(X, S, {}, [&](Index t, const StreamSeparator<double>& stream) {
      if (t < 8000 || t % 800 != 0) return;
      const Matrix<double> Y = stream.unmixing() * (X.colwise() - stream.mean());
      Matrix<double> heard = S.leftCols(t);
      standardise(heard);
      worst_heard = std::max(worst_heard, mse(heard, Matrix<double>(Y.leftCols(t))));
      worst_whole = std::max(worst_whole, mse(S, Y));
      batch_whole = std::max(batch_whole, mse(S, fastica(Matrix<double>(X.leftCols(t))).apply(X)));
    });
  }
  r.expect_fastica(real ? "TSP speech + noise, time order" : "stand-in for speech, time order", 1.3);
  std::printf(
      "[  FIGURE  ] stream, the same, live from 0.5 s on: worst MSE %.4f against what was heard so far; %.4f "
      "against sources scaled over all 2 s (batch FastICA of as many frames: %.4f)\n",
      worst_heard, worst_whole, batch_whole);
  int below = 0;
  for (std::size_t k = 0; k < r.stream.size(); ++k) below += r.stream[k] < r.fobi[k];
  std::printf("[  FIGURE  ] stream, the same: below FOBI's MSE in %d of %d (bar: all): %s\n", below, mixings,
              verdict(below == mixings));
  EXPECT_EQ(below, mixings);
  EXPECT_LT(worst_heard, 0.05);
  EXPECT_LT(worst_whole, 1.2 * batch_whole);
}

TEST(StreamBar, PhotographsInRasterOrder) {
  bool real = false;
  const Matrix<double> S = photographs(real);
  Result r;
  for (int k = 0; k < (full ? 200 : 10); ++k) r.add(any_mixing(3, k) * S, S);
  r.expect_fastica(real ? "photographs, raster order" : "stand-in for photographs, raster order", 1.2);
}

// One source is silent in the first half, another in the second.
TEST(StreamBar, Pauses) {
  Result r;
  for (int k = 0; k < (full ? 100 : 20); ++k) {
    Random random(static_cast<std::uint64_t>(400 + k));
    Matrix<double> S =
        make_sources({Source::laplace, Source::laplace, Source::uniform}, 100000, Timing::iid, random);
    S.row(0).head(50000).setZero();
    S.row(1).tail(50000).setZero();
    standardise(S);
    r.add(conditioned_mixing(3, std::pow(1e4, random.uniform()), random) * S, S);
  }
  r.expect_fastica("two Laplace with pauses + uniform, T = 1e5", 1.5);
}

// Entropy in nats by m-spacings, m = sqrt(n); dithered, since values of a recording tie.
double entropy(const Vector<double>& y) {
  const double deviation = std::sqrt((y.array() - y.mean()).square().mean());
  const Index n = y.size();
  const auto m = static_cast<Index>(std::sqrt(static_cast<double>(n)));
  Random random(5);
  Vector<double> v(n);
  for (Index t = 0; t < n; ++t) v(t) = y(t) / deviation + 1e-9 * random.normal();
  std::sort(v.begin(), v.end());
  const Eigen::ArrayXd spacing = (v.tail(n - m) - v.head(n - m)).array();
  return (spacing * (static_cast<double>(n + 1) / static_cast<double>(m))).log().mean() + std::log(deviation);
}

// Mutual information taken out: sum H(x_i) - sum H(y_i) + log |det U|, nats per frame.
double information_removed(const Matrix<double>& U, const Matrix<double>& X) {
  const auto entropies = [](const Matrix<double>& Y) {
    double sum = 0;
    for (Index i = 0; i < Y.rows(); ++i) sum += entropy(Y.row(i).transpose());
    return sum;
  };
  return entropies(X) - entropies(U * X) + std::log(std::abs(determinant(U)));
}

TEST(StreamBar, EegInTimeOrder) {
  bool real = false;
  const Matrix<double> X = eeg(real);
  StreamSeparator<double> stream(X.rows());
  Vector<double> y(X.rows());
  double behind = 0;
  for (Index t = 0; t < X.cols(); ++t) {
    stream.step(X.col(t), y);
    if ((t + 1) % 4000 != 0) continue;
    const Matrix<double> heard = X.leftCols(t + 1);
    const double live = information_removed(stream.unmixing(), heard);
    const double batch = information_removed(picard(heard).unmixing, heard);
    std::printf("[  FIGURE  ] stream, EEG after %ld frames: MIR %.2f, Picard on the same %.2f\n",
                static_cast<long>(t + 1), live, batch);
    behind = std::max(behind, batch - live);
  }
  stream.finish();
  const double by_stream = information_removed(stream.unmixing(), X);
  const double by_picard = information_removed(picard(X).unmixing, X);
  std::printf(
      "[  FIGURE  ] stream, %s, %ld channels, time order: MIR %.3f, Picard %.3f (bar: within .05): %s; "
      "FastICA %.3f, FOBI %.3f; live at most %.2f behind Picard on the prefix from 4000 frames on (bar: .2): "
      "%s\n",
      real ? "EEG" : "stand-in for EEG", static_cast<long>(X.rows()), by_stream, by_picard,
      verdict(by_stream > by_picard - 0.05), information_removed(fastica(X).unmixing, X),
      information_removed(fobi(X).unmixing, X), behind, verdict(behind < 0.2));
  EXPECT_GT(by_stream, by_picard - 0.05);
  EXPECT_LT(behind, real ? 0.2 : 5);  // the stand-in has other optima
}

}  // namespace
}  // namespace demix
