#include "demix/compare.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "demix/assignment.hpp"
#include "demix/metrics.hpp"
#include "experiments/parallel.hpp"
#include "experiments/run.hpp"

namespace demix {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinite = std::numeric_limits<double>::infinity();

// Error of y = G s with each output scaled to variance 1, for sources of covariance C: how well a matrix
// separates, whatever scale its rule gives the outputs.
double scaled_mse(Matrix<double> G, const Matrix<double>& C) {
  const Index d = C.rows();
  for (Index j = 0; j < d; ++j) {
    const double power = G.row(j) * C * G.row(j).transpose();
    if (!std::isfinite(power)) return nan;
    G.row(j) /= power > 0 ? std::sqrt(power) : 1;
  }
  const Matrix<double> GC = G * C;
  Matrix<double> cost(d, d);
  for (Index i = 0; i < d; ++i) {
    for (Index j = 0; j < d; ++j) {  // E(s_i -+ y_j)^2
      cost(i, j) = std::max(0.0, C(i, i) + G.row(j).dot(GC.row(j)) - 2 * std::abs(GC(j, i)));
    }
  }
  const std::vector<Index> match = assign(cost);
  double sum = 0;
  for (Index i = 0; i < d; ++i) sum += cost(i, match[static_cast<std::size_t>(i)]);
  return sum / static_cast<double>(d);
}

double quantile(std::vector<double> v, double p) {  // of what may hold infinities
  std::sort(v.begin(), v.end());
  const double at = p * static_cast<double>(v.size() - 1);
  const auto k = static_cast<std::size_t>(at);
  const double beyond = at - static_cast<double>(k);
  if (beyond == 0 || v[k] == v[k + 1]) return v[k];  // also where the next is infinite
  return v[k] + beyond * (v[k + 1] - v[k]);
}

}  // namespace

std::vector<Index> measured_frames(Index samples) {
  std::vector<Index> frames;
  for (int tenth = 10; frames.empty() || frames.back() < samples; tenth += 2) {
    const auto frame = static_cast<Index>(std::lround(std::pow(10, tenth / 10.)));
    frames.push_back(std::min(frame, samples));
  }
  return frames;
}

MethodOptions settings(const Contender& contender, const Problem& problem) {
  MethodOptions o = contender.options;
  if (contender.method->name == "sm-ica" && o.form == "published" && problem.eta > 0) {
    if (!o.eta) o.eta = problem.eta;
    if (!o.tau) o.tau = problem.tau;
    if (o.lambda.empty()) o.lambda = problem.lambda;
  }
  return contender.method->checked(o);
}

Run run_one(const Mixture& mixture, const Contender& contender, const Problem& problem, std::uint64_t seed,
            const std::vector<Index>& frames, NetworkTrace* trace) {
  const Matrix<double>& X = mixture.mixtures;
  const Index d = X.rows();
  MethodOptions options = settings(contender, problem);
  options.seed = seed;
  const std::unique_ptr<OnlineSeparator> separator = contender.method->start(d, d, options);
  Vector<double> mean = Vector<double>::Zero(d);
  if (contender.method->input != Input::any) mean = X.rowwise().mean();
  const auto S = mixture.sources.leftCols(frames.back());
  const Matrix<double> centred = S.colwise() - S.rowwise().mean();
  const Matrix<double> C = centred * centred.transpose() / static_cast<double>(frames.back());

  Run run{0, seed, std::vector<double>(frames.size(), nan), std::vector<double>(frames.size(), nan), 0};
  RunningMse running(d);
  Matrix<double> Y(d, 0);
  Vector<double> x(d);
  Vector<double> y(d);
  Index t = 0;
  for (std::size_t k = 0; k < frames.size(); ++k) {
    const Index start = t;
    Y.resize(d, frames[k] - start);
    for (; t < frames[k]; ++t) {
      x = X.col(t) - mean;
      if (!separator->step(x, y)) {
        run.diverged = t + 1;
        return run;
      }
      Y.col(t - start) = y;
      if (trace != nullptr) separator->note(*trace);
    }
    running.add(mixture.sources.middleCols(start, t - start), Y);
    if (k + 1 == frames.size()) separator->finish();
    Matrix<double> B = Matrix<double>::Zero(d, d);
    const Matrix<double> found = separator->unmixing();
    B.topRows(found.rows()) = found;
    run.mse[k] = scaled_mse(B * mixture.mixing, C);
    run.running[k] = running.mse();
  }
  if (!std::isfinite(run.mse.back())) run.diverged = t;
  return run;
}

void require_suitable(const Problem& problem, const std::vector<Contender>& contenders) {
  for (const Contender& c : contenders) {
    if (!c.method->online) {
      throw std::invalid_argument("method " + c.label + " is a batch method; an online method is needed");
    }
    try {
      c.method->start(problem.size(), problem.size(), settings(c, problem));
    } catch (const std::invalid_argument& e) {
      throw std::invalid_argument("method " + c.label + ": " + e.what());
    }
  }
}

Comparison compare(const Problem& problem, const std::vector<Contender>& contenders,
                   const CompareOptions& options) {
  if (contenders.empty()) throw std::invalid_argument("methods: none to compare");
  if (problem.frames(options.samples) < 10) throw std::invalid_argument("samples: expected at least 10");
  if (options.seeds < 1) throw std::invalid_argument("seeds: expected at least 1");
  require_suitable(problem, contenders);
  Comparison out;
  out.frames = measured_frames(problem.frames(options.samples));
  const auto n = static_cast<Index>(contenders.size());
  out.runs.resize(static_cast<std::size_t>(n * options.seeds));
  for (Index c = 0; c < n && options.trace; ++c) {
    if (contenders[static_cast<std::size_t>(c)].method->is_network)
      out.traces.emplace_back(c, NetworkTrace());
  }
  const auto trace_of = [&](Index k) -> NetworkTrace* {  // of run k
    for (auto& [c, trace] : out.traces) {
      if (c == k) return &trace;
    }
    return nullptr;
  };
  struct Drawn {  // by the same thread for one seed after the other
    std::uint64_t seed = 0;
    Mixture mixture;
  };
  parallel<Drawn>(n * options.seeds, options.threads, options.progress, [&](Index k, Drawn& drawn) {
    const std::uint64_t seed = options.seed + static_cast<std::uint64_t>(k / n);
    if (drawn.mixture.sources.size() == 0 || drawn.seed != seed) {
      drawn = {seed, problem.draw(options.samples, seed)};
    }
    Run& run = out.runs[static_cast<std::size_t>(k)];
    run = run_one(drawn.mixture, contenders[static_cast<std::size_t>(k % n)], problem, seed, out.frames,
                  trace_of(k));
    run.contender = k % n;
  });
  return out;
}

Summary summarise(const Comparison& comparison, Index contender, std::vector<double> Run::*measure) {
  Summary s;
  std::vector<std::vector<double>> at(comparison.frames.size());
  for (const Run& run : comparison.runs) {
    if (run.contender != contender) continue;
    ++s.runs;
    s.separated += run.separated() ? 1 : 0;
    s.diverged += run.diverged > 0 ? 1 : 0;
    for (std::size_t k = 0; k < at.size(); ++k) {
      const double value = (run.*measure)[k];
      at[k].push_back(std::isfinite(value) ? value : infinite);
    }
  }
  for (const std::vector<double>& values : at) {
    s.low.push_back(quantile(values, 0.25));
    s.median.push_back(quantile(values, 0.5));
    s.high.push_back(quantile(values, 0.75));
  }
  return s;
}

}  // namespace demix
