#include "paper/runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "demix/compare.hpp"
#include "demix/fobi.hpp"
#include "demix/linear_algebra.hpp"
#include "demix/metrics.hpp"
#include "demix/natural_network.hpp"
#include "demix/stream_separator.hpp"

namespace demix::paper {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

Ended ended(const Mixture& m, Matrix<double> B, Vector<double> mean, Index steps) {
  const double error = mse(m.sources, B * (m.mixtures.colwise() - mean));
  return {std::move(B), std::move(mean), std::isfinite(error) ? error : infinite, false, steps, {}};
}

Ended diverged(const Mixture& m, Index steps) {
  const Index d = m.sources.rows();
  return {Matrix<double>::Zero(d, d), Vector<double>::Zero(d), infinite, true, steps, {}};
}

// step(frame) for all of them, in a new random order every time; stops, and returns false, when it does.
template <typename Step>
bool shuffled(const Matrix<double>& X, Index epochs, std::uint64_t seed, const Step& step) {
  Random random(seed + 1000000);
  std::vector<Index> order(static_cast<std::size_t>(X.cols()));
  std::iota(order.begin(), order.end(), Index{0});
  for (Index epoch = 0; epoch < epochs; ++epoch) {
    for (std::size_t i = order.size() - 1; i > 0; --i) {
      std::swap(order[i], order[static_cast<std::size_t>(random.below(static_cast<Index>(i) + 1))]);
    }
    for (const Index t : order) {
      if (!step(X.col(t))) return false;
    }
  }
  return true;
}

// Where it is among n that are in order.
std::size_t rank(std::size_t n, double share) {
  return static_cast<std::size_t>(std::max(1.0, std::ceil(share * static_cast<double>(n)))) - 1;
}

}  // namespace

bool Ended::separated() const { return mse < separated_mse; }

Mixture Task::mix(std::uint64_t seed) const {
  Random random(seed);
  const Matrix<double> A = uniform_mixing(size(), mixing, random);
  return demix::mix(sources, A * peak.cwiseInverse().asDiagonal());
}

Mixture Task::authors_mix() const { return demix::mix(sources, authors); }

Ended published_offline(const Task& task, const Mixture& m, double eta, double tau, Index iterations,
                        std::uint64_t seed, const std::vector<Index>& at) {
  SmIcaOfflineOptions o;
  o.steps = SmIcaOfflineOptions::Steps::published;
  o.eta = eta;
  o.tau = tau;
  o.lambda2 = lambda2_from_table(task.lambda, LambdaReading::inverse_square);
  o.max_iterations = iterations;
  o.tolerance = 1e-12;  // to the end: a saddle is flat, too
  o.seed = seed;
  std::vector<double> course;
  const Vector<double> mean = m.mixtures.rowwise().mean();
  o.watch = [&](Index step, const Matrix<double>& W, const Matrix<double>& M) {
    if (course.size() == at.size() || step != at[course.size()]) return;
    course.push_back(ended(m, inverse(M) * W, mean, step).mse);
  };
  const SmIcaOffline run = sm_ica_offline(m.mixtures, o);
  Ended end = run.status == OfflineStatus::diverged
                  ? diverged(m, run.iterations)
                  : ended(m, run.model.unmixing, run.model.mean, run.iterations);
  course.resize(at.size(), end.mse);
  end.course = course;
  return end;
}

SmIcaNetworkOptions published_options(double eta, double tau, const std::vector<double>& lambda,
                                      std::uint64_t seed) {
  SmIcaNetworkOptions o;
  o.eta = eta;
  o.tau = tau;
  o.lambda2 = lambda2_from_table(lambda, LambdaReading::inverse_square);
  o.seed = seed;
  return o;
}

Ended published_online(const Mixture& m, const SmIcaNetworkOptions& options, Index epochs,
                       const std::vector<Index>& at) {
  const Index d = m.sources.rows();
  const Index T = m.mixtures.cols();
  SmIcaNetwork<double> network(d, d, options);
  Vector<double> y(d);
  std::vector<double> course;
  const bool lived = shuffled(m.mixtures, epochs, options.seed, [&](const auto& x) {
    if (network.step(x, y) != NetworkStatus::ok) return false;
    if (course.size() < at.size() && network.frames() == at[course.size()] * T) {
      course.push_back(ended(m, network.unmixing(), Vector<double>::Zero(d), network.frames()).mse);
    }
    return true;
  });
  Ended end = lived ? ended(m, network.unmixing(), Vector<double>::Zero(d), network.frames())
                    : diverged(m, network.frames());
  course.resize(at.size(), end.mse);
  end.course = course;
  return end;
}

Ended natural_online(const Mixture& m, Index passes, std::uint64_t seed) {
  NaturalNetworkOptions o;
  o.seed = seed;
  NaturalNetwork<double> network(m.mixtures.rows(), o);
  Vector<double> y(m.mixtures.rows());
  shuffled(m.mixtures, passes, seed, [&](const auto& x) {
    network.step(x, y);
    return true;
  });
  network.refresh();
  return ended(m, network.unmixing(), network.mean(), network.frames());
}

Ended natural_offline(const Mixture& m, std::uint64_t seed) {
  SmIcaOfflineOptions o;
  o.seed = seed;
  const SmIcaOffline run = sm_ica_offline(m.mixtures, o);
  return ended(m, run.model.unmixing, run.model.mean, run.iterations);
}

Ended by_fobi(const Mixture& m) {
  const Model model = fobi(m.mixtures);
  return ended(m, model.unmixing, model.mean, 0);
}

Ended by_stream(const Mixture& m, Index passes) {
  StreamSeparator<double> stream(m.mixtures.rows());
  Vector<double> y(m.mixtures.rows());
  for (Index pass = 0; pass < passes; ++pass) {
    for (Index t = 0; t < m.mixtures.cols(); ++t) stream.step(m.mixtures.col(t), y);
  }
  const Model model = stream.model();
  return ended(m, model.unmixing, model.mean, passes * m.mixtures.cols());
}

std::size_t median_run(const std::vector<Ended>& runs) {
  std::vector<std::size_t> order(runs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return runs[a].mse < runs[b].mse; });
  return order[rank(order.size(), 0.5)];
}

double ranked(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[rank(values.size(), share)];
}

double median_mse(const std::vector<Ended>& runs) { return runs[median_run(runs)].mse; }

double least_mse(const std::vector<Ended>& runs) {
  double least = infinite;
  for (const Ended& run : runs) least = std::min(least, run.mse);
  return least;
}

double largest_mse(const std::vector<Ended>& runs) {
  double most = 0;
  for (const Ended& run : runs) most = std::max(most, run.mse);
  return most;
}

Index count_separated(const std::vector<Ended>& runs) {
  return std::count_if(runs.begin(), runs.end(), [](const Ended& run) { return run.separated(); });
}

Index count_diverged(const std::vector<Ended>& runs) {
  return std::count_if(runs.begin(), runs.end(), [](const Ended& run) { return run.diverged; });
}

Matrix<double> matched_outputs(const Mixture& m, const Ended& run) {
  const Matrix<double> Y = run.B * (m.mixtures.colwise() - run.mean);
  RunningMse measure(Y.rows());
  measure.add(Frames<double>(m.sources), Frames<double>(Y));
  const Matching match = measure.matching();
  Matrix<double> matched(Y.rows(), Y.cols());
  for (Index i = 0; i < Y.rows(); ++i) {
    const auto k = static_cast<std::size_t>(i);
    matched.row(i) = match.sign[k] * Y.row(match.output[k]);
  }
  return matched;
}

std::string number(double x) { return std::isinf(x) ? "diverged" : fmt::format("{:.3g}", x); }

}  // namespace demix::paper
