#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "demix/compare.hpp"
#include "demix/linear_algebra.hpp"
#include "demix/metrics.hpp"
#include "demix/report.hpp"
#include "paper/items.hpp"
#include "paper/runs.hpp"

/// What a modulator must be. The paper says that it must be fast; here it is delayed, low-passed, noisy,
/// coarse, or that of a neighbourhood, and the error is measured.
///
///   y = M^-1 c,  c = W h,  m_i what neuron i hears in place of a = ||y||^2
///   W_i  <- W_i + eta s (lambda_i^2 y_i - m_i c_i) / (1 + eta s m_i ||h||^2) h^T,     s = 1/(d + 2)
///   M_ij <- M_ij + mu (sqrt(M_ii M_jj) y_i y_j - M_ij) / (1 + mu a),                  mu = .6 eta
///
/// the natural steps on white inputs. A stimulus stays for 20 time steps, as an image does for a fixation;
/// time is told in such stays.
namespace demix::paper {
namespace {

constexpr Index stay = 20;

struct Signal {
  Index delay = 0;   // time steps
  double tau = 0;    // of a low-pass, in time steps; 0: none
  double noise = 0;  // deviation of the logarithm, drawn for each stimulus; the mean stays
  Index levels = 0;  // between 0 and 3 d; 0: not quantised
  Index pool = 0;    // neurons heard, oneself and the next on a ring, scaled up to all; 0: all
};

double learned_error(const Mixture& m, const Signal& signal, std::uint64_t seed) {
  const Index d = m.mixtures.rows();
  const auto n = static_cast<double>(d);
  Random random(seed + 50);
  const Vector<double> lambda2 = geometric_lambda2(d);
  Matrix<double> M = (lambda2 / (n + 2)).asDiagonal();
  Matrix<double> W = M * random.orthogonal(d);
  Matrix<double> sum = Matrix<double>::Zero(d, d);
  std::vector<Vector<double>> past(static_cast<std::size_t>(signal.delay) + 1,
                                   Vector<double>::Constant(d, n));
  Vector<double> slow = Vector<double>::Constant(d, n);
  Vector<double> y(d);
  Cholesky<double> factor(d);
  Index time = 0;
  const Index stimuli = m.mixtures.cols();
  for (Index k = 0; k < stimuli; ++k) {
    const Vector<double> h = m.mixtures.col(k);
    const double factor_of_noise = std::exp(signal.noise * random.normal() - signal.noise * signal.noise / 2);
    const double eta =
        std::min(0.1, 8 / std::pow(50 + static_cast<double>(k), 0.6)) / static_cast<double>(stay);
    const double mu = 0.6 * eta;
    for (Index step = 0; step < stay; ++step, ++time) {
      const Vector<double> c = W * h;
      if (!factor.compute(M)) return std::numeric_limits<double>::infinity();
      y = c;
      factor.solve_in_place(y);
      const double a = y.squaredNorm();
      Vector<double> heard = Vector<double>::Constant(d, a);
      if (signal.pool > 0) {
        for (Index i = 0; i < d; ++i) {
          heard(i) = 0;
          for (Index j = 0; j < signal.pool; ++j) heard(i) += y((i + j) % d) * y((i + j) % d);
          heard(i) *= n / static_cast<double>(signal.pool);
        }
      }
      if (signal.tau > 0) {
        slow += (heard - slow) / std::max(1.0, signal.tau);
        heard = slow;
      }
      heard *= factor_of_noise;
      if (signal.levels > 0) {
        const double width = 3 * n / static_cast<double>(signal.levels);
        for (double& v : heard)
          v = (std::min(std::floor(v / width), static_cast<double>(signal.levels - 1)) + 0.5) * width;
      }
      past[static_cast<std::size_t>(time % static_cast<Index>(past.size()))] = heard;
      heard = past[static_cast<std::size_t>((time + 1) % static_cast<Index>(past.size()))];  // the oldest
      const double s = eta / (n + 2);
      for (Index i = 0; i < d; ++i) {
        const double f = std::max(heard(i), 0.0);
        W.row(i) += s * (lambda2(i) * y(i) - f * c(i)) / (1 + s * f * h.squaredNorm()) * h.transpose();
      }
      const Vector<double> v = M.diagonal().cwiseSqrt().cwiseProduct(y);
      M += mu / (1 + mu * a) * (v * v.transpose() - M);
    }
    if (2 * k >= stimuli) sum += inverse(M) * W;
  }
  const auto averaged = stimuli - (stimuli + 1) / 2;
  const Matrix<double> B = sum / static_cast<double>(averaged);
  const double error = mse_of_gain(B * m.mixing);
  return std::isfinite(error) ? error : std::numeric_limits<double>::infinity();
}

}  // namespace

Result modulator(const Setting& setting) {
  const Index draws = setting.quick ? 2 : 10;
  const Index stimuli = setting.quick ? 2000 : 20000;
  struct Question {
    std::string name, title, label;
    bool log;
    std::vector<double> x;
    Signal (*signal)(double);
  };
  const std::vector<Question> questions{
      {"delay",
       "delayed",
       "delay (stays)",
       false,
       {0, 0.1, 0.25, 0.5, 0.75, 1, 1.5, 2},
       [](double x) { return Signal{.delay = std::lround(x * stay)}; }},
      {"low_pass",
       "low-passed",
       "time constant (stays)",
       true,
       {0.05, 0.1, 0.25, 0.5, 1, 2.5, 5},
       [](double x) { return Signal{.tau = x * stay}; }},
      {"noise",
       "noisy",
       "deviation of its log",
       false,
       {0, 0.25, 0.5, 1, 1.5, 2},
       [](double x) { return Signal{.noise = x}; }},
      {"levels",
       "coarse",
       "levels",
       true,
       {2, 3, 4, 6, 8, 16, 32},
       [](double x) { return Signal{.levels = std::lround(x)}; }},
      {"pool", "pooled", "neurons heard, of 4", false, {1, 2, 3, 4}, [](double x) {
         return Signal{.pool = std::lround(x)};
       }}};
  Result out;
  out.length = length_of(setting, fmt::format("{} draws of {} stimuli", draws, stimuli));
  report::CurvesFigure figure;
  Table table{"modulator", {"modulator", "value", "separated", "median MSE"}, {}};
  double all = 0;
  double done = 0;
  for (const Question& q : questions) all += static_cast<double>(q.x.size());
  for (const Question& q : questions) {
    report::CurvesFigure::Panel panel{
        q.title, q.label, "MSE", q.log, true, {}, {{separated_mse, "separated", false}}};
    report::CurvesFigure::Curve curve{"median and quartiles", q.x, {}, {}, {}, false};
    for (const double x : q.x) {
      const auto errors = all_of(
          draws, setting.threads, part_of(setting.progress, done / all, (done + 1) / all), [&](Index k) {
            const auto seed = static_cast<std::uint64_t>(k);
            Random random(2100 + seed);
            const Matrix<double> A = normal_mixing(4, random);
            const Mixture m = mix(make_sources(four_sources, stimuli, Timing::iid, random), A, true);
            return learned_error(m, q.signal(x), seed);
          });
      ++done;
      curve.y.push_back(ranked(errors, 0.5));
      curve.low.push_back(ranked(errors, 0.25));
      curve.high.push_back(ranked(errors, 0.75));
      const auto separated =
          std::count_if(errors.begin(), errors.end(), [](double e) { return e < separated_mse; });
      table.rows.push_back({q.title, fmt::format("{:g}", x), fmt::format("{} of {}", separated, draws),
                            number(curve.y.back())});
      out.numbers.push_back({fmt::format("{}.{:g}", q.name, x), curve.y.back()});
    }
    panel.curves = {curve};
    figure.panels.push_back(panel);
  }
  draw(figure, setting, out.length, "modulator");
  out.tables = {table};
  out.pictures = {{"modulator", fmt::format("Error of the network with natural steps on four white sources, "
                                            "{} stimuli of {} time steps each, when the "
                                            "modulator is delayed, low-passed, noisy, quantised or that of "
                                            "neighbours only; median and quartiles "
                                            "over {} draws.",
                                            stimuli, stay, draws)}};
  const auto at = [&](const char* name) {
    for (const Number& n : out.numbers) {
      if (n.name == name) return number(n.value);
    }
    return std::string("?");
  };
  out.measured = fmt::format(
      "The error is {} with the modulator as it is, {} when it is half a stay late and {} when it is a whole "
      "one; {} with a time "
      "constant of half a stay, {} of two and a half; {} with noise of deviation 1 in its logarithm; {} with "
      "two levels, {} with "
      "four; {} when each neuron hears itself and one neighbour, {} itself alone.",
      at("delay.0"), at("delay.0.5"), at("delay.1"), at("low_pass.0.5"), at("low_pass.2.5"), at("noise.1"),
      at("levels.2"), at("levels.4"), at("pool.2"), at("pool.1"));
  return out;
}

}  // namespace demix::paper
