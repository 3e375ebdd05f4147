#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>

#include "demix/compare.hpp"
#include "demix/metrics.hpp"

namespace demix {

Index Problem::size() const {
  return recording.size() > 0 ? recording.rows() : static_cast<Index>(sources.size());
}

Index Problem::frames(Index asked) const {
  return recording.size() > 0 ? std::min(asked, recording.cols()) : asked;
}

Mixture Problem::draw(Index asked, std::uint64_t seed) const {
  Random random(seed);
  const Index d = size();
  const Matrix<double> A =
      condition > 0 ? conditioned_mixing(d, condition, random) : normal_mixing(d, random);
  if (recording.size() == 0) return mix(make_sources(sources, asked, Timing::iid, random), A, white);
  if (!shuffle) return mix(standardized(recording.leftCols(frames(asked))), A, white);
  Matrix<double> shuffled = recording;
  for (Index t = shuffled.cols() - 1; t > 0; --t) shuffled.col(t).swap(shuffled.col(random.below(t + 1)));
  return mix(standardized(shuffled.leftCols(frames(asked))), A, white);
}

Problem scenario_problem(int scenario) {
  Problem p;
  p.name = "scenario " + std::to_string(scenario);
  p.sources = scenario_sources(scenario);
  p.white = scenario_is_white(scenario);
  p.eta = p.white ? 5e-3 : 5e-4;
  p.tau = p.white ? 0.75 : 0.85;
  p.lambda = {1, 1.5, scenario <= 2 ? 1.8 : 6.07};
  return p;
}

Contender contender_named(const std::string& text) {
  Contender c{text, nullptr, {}};
  c.label.erase(std::remove(c.label.begin(), c.label.end(), ' '), c.label.end());
  std::string name = c.label;
  if (const auto at = name.find('@'); at != std::string::npos) {
    const std::string word = name.substr(at + 1);
    double eta = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), eta);
    if (error != std::errc() || end != word.data() + word.size() || !(eta > 0) || !std::isfinite(eta)) {
      throw std::invalid_argument("method " + text + ": expected a positive learning rate after @, got '" +
                                  word + "'");
    }
    c.options.eta = eta;
    name.resize(at);
  }
  if (const auto colon = name.find(':'); colon != std::string::npos) {
    c.options.form = name.substr(colon + 1);
    name.resize(colon);
  }
  c.method = &method_named(name);
  static_cast<void>(c.method->checked(c.options));
  return c;
}

std::vector<Contender> paper_contenders() {
  std::vector<Contender> all;
  for (const char* name :
       {"sm-ica:published", "sm-ica", "hj", "easi", "nonlinear-oja", "infomax:cubic", "amari", "stream"}) {
    all.push_back(contender_named(name));
  }
  return all;
}

}  // namespace demix
