#include "demix/synthetic.hpp"

#include <array>
#include <cmath>
#include <stdexcept>
#include <string>

#include "demix/linear_algebra.hpp"

namespace demix {
namespace {

struct Entry {
  Source source;
  std::string_view name;
  double kurtosis;
  double hertz;
};
constexpr std::array<Entry, 6> table{{{Source::square, "square", 1, 155},
                                      {Source::sine, "sine", 1.5, 180},
                                      {Source::sawtooth, "sawtooth", 1.8, 200},
                                      {Source::laplace, "laplace", 6, 0},
                                      {Source::uniform, "uniform", 1.8, 0},
                                      {Source::nonnegative, "nonnegative", 2.376, 0}}};

const Entry& entry(Source source) { return table[static_cast<std::size_t>(source)]; }

constexpr double root2 = 1.4142135623730951;
constexpr double root3 = 1.7320508075688772;

// phase in turns; each of unit variance
double value(Source source, double phase, Random& random) {
  switch (source) {
    case Source::square:
      return portable_sin2pi(phase + 0.25) >= 0 ? 1 : -1;
    case Source::sine:
      return root2 * portable_sin2pi(phase);
    case Source::sawtooth:
      return root3 * (2 * (phase - std::floor(phase)) - 1);
    case Source::laplace:
      return random.laplace();
    case Source::uniform:
      return root3 * random.uniform(-1, 1);
    case Source::nonnegative: {
      constexpr double most = 3.0983866769659336;  // sqrt(48/5)
      const double u = random.uniform(-1, 1);
      return u < 0 ? 0 : most * u;
    }
  }
  return 0;
}

Matrix<double> well_conditioned(Random& random, Index d, double (*draw)(Random&, double), double scale) {
  for (;;) {
    Matrix<double> A(d, d);
    for (Index i = 0; i < A.size(); ++i) A.data()[i] = draw(random, scale);
    const Vector<double> s = singular_values(A);
    if (s(d - 1) > 1e-12 * s(0)) return A;
  }
}

}  // namespace

double source_kurtosis(Source source) { return entry(source).kurtosis; }
std::string_view source_name(Source source) { return entry(source).name; }

std::vector<std::string> source_names() {
  std::vector<std::string> names;
  for (const Entry& e : table) names.emplace_back(e.name);
  return names;
}

Source source_named(std::string_view name) {
  std::string known;
  for (const Entry& e : table) {
    if (e.name == name) return e.source;
    known += (known.empty() ? "" : ", ") + std::string(e.name);
  }
  throw std::invalid_argument("source: expected one of " + known + ", got '" + std::string(name) + "'");
}

Matrix<double> make_sources(const std::vector<Source>& which, Index samples, Timing timing, Random& random,
                            const ProgressCallback& progress) {
  if (samples < 1)
    throw std::invalid_argument("samples: expected at least 1, got " + std::to_string(samples));
  Matrix<double> S(static_cast<Index>(which.size()), samples);
  const double dt = samples > 1 ? 1 / static_cast<double>(samples - 1) : 0;
  for (Index t = 0; t < samples; ++t) {
    if (progress && t % (1 << 16) == 0) progress(static_cast<double>(t) / static_cast<double>(samples));
    for (Index i = 0; i < S.rows(); ++i) {
      const Source source = which[static_cast<std::size_t>(i)];
      const bool noise = entry(source).hertz == 0;
      double phase = 0;
      if (!noise)
        phase = timing == Timing::iid ? random.uniform() : entry(source).hertz * dt * static_cast<double>(t);
      S(i, t) = value(source, phase, random);
    }
  }
  return S;
}

Matrix<double> normal_mixing(Index d, Random& random) {
  return well_conditioned(
      random, d, [](Random& r, double) { return r.normal(); }, 1);
}

Matrix<double> uniform_mixing(Index d, double half, Random& random) {
  return well_conditioned(
      random, d, [](Random& r, double h) { return r.uniform(-h, h); }, half);
}

Matrix<double> conditioned_mixing(Index d, double condition, Random& random) {
  if (!(condition >= 1)) throw std::invalid_argument("condition: expected at least 1");
  Vector<double> s(d);
  for (Index i = 0; i < d; ++i) {
    s(i) = d > 1 ? std::pow(condition, -static_cast<double>(i) / static_cast<double>(d - 1)) : 1;
  }
  const Matrix<double> U = random.orthogonal(d);
  return U * s.asDiagonal() * random.orthogonal(d).transpose();
}

std::vector<Source> scenario_sources(int scenario) {
  if (scenario < 1 || scenario > 4) {
    throw std::invalid_argument("scenario: expected 1 to 4, got " + std::to_string(scenario));
  }
  return {Source::square, Source::sine, scenario <= 2 ? Source::sawtooth : Source::laplace};
}

bool scenario_is_white(int scenario) { return scenario == 1 || scenario == 3; }

Mixture mix(Matrix<double> sources, const Matrix<double>& mixing, bool white) {
  if (mixing.cols() != sources.rows()) {
    throw std::invalid_argument("mixing: expected " + std::to_string(sources.rows()) + " columns, got " +
                                std::to_string(mixing.cols()));
  }
  Mixture out;
  out.sources = std::move(sources);
  out.mixing = mixing;
  out.mixtures = mixing * out.sources;
  if (white) {
    const Matrix<double> C =
        out.mixtures * out.mixtures.transpose() / static_cast<double>(out.mixtures.cols());
    const Eigenpairs eig = symmetric_eigen(C);
    if (!(eig.values(0) > 1e-13 * eig.values(C.rows() - 1))) {
      throw std::invalid_argument("samples: " + std::to_string(out.mixtures.cols()) +
                                  " frames are too few to whiten " + std::to_string(C.rows()) + " mixtures");
    }
    out.mixing = inverse_sqrt(eig) * mixing;
    out.mixtures = out.mixing * out.sources;
  }
  return out;
}

Mixture make_scenario(int scenario, Index samples, std::uint64_t seed, Timing timing) {
  Random random(seed);
  const std::vector<Source> which = scenario_sources(scenario);
  const Matrix<double> A =
      normal_mixing(static_cast<Index>(which.size()), random);  // first: the same for any T
  Matrix<double> sources = make_sources(which, samples, timing, random);
  return mix(std::move(sources), A, scenario_is_white(scenario));
}

}  // namespace demix
