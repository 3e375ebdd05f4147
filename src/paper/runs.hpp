#pragma once

#include <vector>

#include "core/progress.hpp"
#include "demix/paper.hpp"
#include "demix/random.hpp"
#include "demix/sm_ica_network.hpp"
#include "demix/sm_ica_offline.hpp"
#include "demix/synthetic.hpp"
#include "experiments/parallel.hpp"

/// What the items share: the sources of figure 2, and runs of the algorithms on mixtures of them.
namespace demix::paper {

/// The synthetic ones.
inline const std::vector<Source> four_sources{Source::square, Source::sine, Source::sawtooth,
                                              Source::laplace};

/// Sources as the paper has them, and its settings for them (table 1).
struct Task {
  std::string name;                ///< synthetic, speech, photographs
  Matrix<double> sources;          ///< mean 0, variance 1
  std::vector<std::string> names;  ///< of the sources
  Index width = 0, height = 0;     ///< of pictures
  bool stand_in = false;
  std::string data;     ///< what it is made on, in words
  Vector<double> peak;  ///< what the sources are divided by before they are mixed
  double mixing = 0.5;  ///< entries are uniform in +- this
  Matrix<double>
      authors;      ///< the mixing of the authors' notebook, of sources of variance 1; empty: not known
  Index steps = 0;  ///< of the offline algorithm, as in the authors' notebooks
  double offline_eta = 0, offline_tau = 0;
  double online_eta = 2e-5, online_tau = 1.5;
  std::vector<double> lambda;  ///< as tabulated
  Index epochs = 0;            ///< of the online algorithm: those of the authors' notebook for speech
  Index long_epochs = 0;       ///< enough for most mixings

  Index size() const { return sources.rows(); }
  Mixture mix(std::uint64_t seed) const;
  Mixture authors_mix() const;
};

Task synthetic_task();
Task speech_task(const Setting& setting);
Task photographs_task(const Setting& setting);

/// How a run ended. Outputs are B (x - mean).
struct Ended {
  Matrix<double> B;
  Vector<double> mean;
  double mse = 0;         ///< the paper's; infinite if it diverged
  bool diverged = false;  ///< then B is 0
  Index steps = 0;
  std::vector<double> course;  ///< the error on the way, where it was asked for

  bool separated() const;
};

/// The paper's algorithms as published. `at`: steps after which the error is noted, increasing.
Ended published_offline(const Task& task, const Mixture& m, double eta, double tau, Index iterations,
                        std::uint64_t seed, const std::vector<Index>& at = {});
Ended published_online(const Mixture& m, const SmIcaNetworkOptions& options, Index epochs,
                       const std::vector<Index>& at = {});  ///< `at`: epochs, here
SmIcaNetworkOptions published_options(double eta, double tau, const std::vector<double>& lambda,
                                      std::uint64_t seed);

/// demix's own.
Ended natural_offline(const Mixture& m, std::uint64_t seed);
Ended by_fobi(const Mixture& m);
Ended natural_online(const Mixture& m, Index passes, std::uint64_t seed);  ///< shuffled in every pass
Ended by_stream(const Mixture& m, Index passes);

/// run(0) ... run(count - 1), on all cores.
template <typename Run>
auto all_of(Index count, int threads, const ProgressCallback& progress, const Run& run) {
  struct Nothing {};
  std::vector<decltype(run(Index{0}))> results(static_cast<std::size_t>(count));
  parallel<Nothing>(count, threads, progress,
                    [&](Index k, Nothing&) { results[static_cast<std::size_t>(k)] = run(k); });
  return results;
}

/// Which of the runs has the median error.
std::size_t median_run(const std::vector<Ended>& runs);
/// The least value that at least this share of them are not above: 0.5 for the median.
double ranked(std::vector<double> values, double share);
double median_mse(const std::vector<Ended>& runs);
double least_mse(const std::vector<Ended>& runs);
double largest_mse(const std::vector<Ended>& runs);
Index count_separated(const std::vector<Ended>& runs);
Index count_diverged(const std::vector<Ended>& runs);

/// Outputs in the order and with the signs of the sources.
Matrix<double> matched_outputs(const Mixture& m, const Ended& run);

std::string number(double x);  ///< three digits; "diverged" if it is infinite

}  // namespace demix::paper
