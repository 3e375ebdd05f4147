// The network with natural steps on shuffled data, one pass, one setting for everything, beside batch FOBI on
// the same samples. Mixings of condition number up to 1e6, drawn log-uniformly. DEMIX_FULL=1 runs the full
// numbers of mixings.
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "bars/recordings.hpp"
#include "demix/fobi.hpp"
#include "demix/metrics.hpp"
#include "demix/natural_network.hpp"
#include "demix/synthetic.hpp"
#include "support.hpp"

namespace demix {
namespace {

using testing::quantile;

struct Result {
  std::vector<double> network, fobi, ratio;
  double below = 0;  // share of runs below MSE .05
};

Result compare(const std::vector<Source>& which, bool white, Index samples, int mixings) {
  Result r;
  const auto d = static_cast<Index>(which.size());
  for (int k = 0; k < mixings; ++k) {
    Random random(static_cast<std::uint64_t>(9000 + k));
    const Matrix<double> A = conditioned_mixing(d, std::pow(1e6, random.uniform()), random);
    const Mixture m = mix(make_sources(which, samples, Timing::iid, random), A, white);
    NaturalNetworkOptions options;
    options.seed = static_cast<std::uint64_t>(k);
    NaturalNetwork<double> network(d, options);
    Vector<double> y(d);
    for (Index t = 0; t < samples; ++t) network.step(m.mixtures.col(t), y);
    EXPECT_TRUE(y.allFinite());
    EXPECT_EQ(network.rank(), d);
    r.network.push_back(mse(m.sources, network.unmixing() * (m.mixtures.colwise() - network.mean())));
    r.fobi.push_back(mse(m.sources, fobi(m.mixtures).apply(m.mixtures)));
    r.ratio.push_back(r.network.back() / r.fobi.back());
    r.below += (r.network.back() < 0.05) / static_cast<double>(mixings);
  }
  return r;
}

void expect_bar(const char* name, const std::vector<Source>& which, bool white) {
  const bool full = std::getenv("DEMIX_FULL") != nullptr;
  for (const double samples : {1e4, 1e5, 1e6}) {
    const int mixings = full ? 200 : samples < 5e4 ? 200 : samples < 5e5 ? 40 : 5;
    const Result r = compare(which, white, static_cast<Index>(samples), mixings);
    const double median = quantile(r.network, 0.5) / quantile(r.fobi, 0.5);
    const double tail = quantile(r.network, 0.9) / quantile(r.fobi, 0.9);
    std::printf(
        "[  FIGURE  ] natural steps, %s, T = %.0e, %d mixings: median %.2e = %.2fx FOBI, 90th percentile "
        "%.2fx FOBI's "
        "(of the ratio run by run: %.2f), worst %.1e, %.1f %% below .05\n",
        name, samples, mixings, quantile(r.network, 0.5), median, tail, quantile(r.ratio, 0.9),
        testing::largest(r.network), 100 * r.below);
    if (samples < 5e4) {
      EXPECT_GE(r.below, 0.98);
      EXPECT_LE(median, 1.5);
    } else {
      EXPECT_EQ(testing::largest(r.network) < 0.05, true);
      EXPECT_LE(median, mixings >= 200  ? 1.2
                        : mixings >= 40 ? 1.7
                                        : 2.5);  // of few runs, the median scatters
      EXPECT_LE(tail, mixings >= 40 ? 2 : 3);
    }
  }
}

const std::vector<Source> sub{Source::square, Source::sine, Source::sawtooth};
const std::vector<Source> both{Source::square, Source::sine, Source::laplace};

TEST(NaturalBar, Scenario1) { expect_bar("scenario 1", sub, true); }
TEST(NaturalBar, Scenario2) { expect_bar("scenario 2", sub, false); }
TEST(NaturalBar, Scenario3) { expect_bar("scenario 3", both, true); }
TEST(NaturalBar, Scenario4) { expect_bar("scenario 4", both, false); }
TEST(NaturalBar, FourSources) {
  expect_bar("four sources", {Source::square, Source::sine, Source::sawtooth, Source::laplace}, false);
}

// Real speech, its frames shuffled: works. In time order: neighbouring frames are alike, and it does not.
TEST(NaturalBar, SpeechShuffledAndInTimeOrder) {
  bool real = false;
  const Matrix<double> S = testing::speech(real);
  for (const bool shuffled : {true, false}) {
    std::vector<double> network_error;
    std::vector<double> fobi_error;
    int separated = 0;
    for (int k = 0; k < 20; ++k) {
      Random random(static_cast<std::uint64_t>(300 + k));
      const Matrix<double> A = normal_mixing(3, random);
      const Matrix<double> X = A * S;
      std::vector<Index> order(static_cast<std::size_t>(S.cols()));
      for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<Index>(i);
      for (std::size_t i = order.size() - 1; shuffled && i > 0; --i) {
        std::swap(order[i], order[static_cast<std::size_t>(random.below(static_cast<Index>(i) + 1))]);
      }
      NaturalNetwork<double> network(3);
      Vector<double> y(3);
      for (const Index t : order) network.step(X.col(t), y);
      network_error.push_back(mse(S, network.unmixing() * (X.colwise() - network.mean())));
      fobi_error.push_back(mse(S, fobi(X).apply(X)));
      separated += network_error.back() < 0.05;
    }
    const double ratio = quantile(network_error, 0.5) / quantile(fobi_error, 0.5);
    std::printf(
        "[  FIGURE  ] natural steps, speech%s, %s, one pass, 20 mixings: median %.1e = %.2fx FOBI, %d of 20 "
        "below .05\n",
        real ? " (TSP)" : " (stand-in)", shuffled ? "shuffled" : "in time order",
        quantile(network_error, 0.5), ratio, separated);
    if (shuffled) {
      EXPECT_EQ(separated, 20);
      EXPECT_LT(ratio, 3);
    }
  }
}

}  // namespace
}  // namespace demix
