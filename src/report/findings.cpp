#include "report/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>
#include <numeric>

#include "report/markup.hpp"

namespace demix::report {
namespace {

using Kind = Warning::Kind;

std::string sentence(std::string text) {
  if (text.empty()) return text;
  text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text.ends_with('.') ? text : text + ".";
}

std::string advice(Kind kind) {
  switch (kind) {
    case Kind::reduced_rank:
      return " A channel may be a copy or a sum of others; there are as many components as independent "
             "signals.";
    case Kind::few_samples:
      return " Another recording of the same kind may give different components.";
    case Kind::not_converged:
      return " The result may still change: let it run longer, or choose another method.";
    case Kind::refused_frames:
      return " The outputs of those that hold NaN or Inf are 0.";
    case Kind::convolved:
      return " What is heard or seen as a source may still hold others.";
    case Kind::drift:
      return " Slow drifts take up components that sources need.";
    case Kind::clipped:
      return " What was cut off is not a sum of sources any more.";
    case Kind::glitches:
      return " Look at these frames before you trust the component.";
    case Kind::unstable:
      return " Another recording of the same kind may give different components.";
    case Kind::dependent:
    case Kind::close_kurtosis:
      break;
  }
  return "";
}

// Components joined by warnings of close kurtosis, directly or through others.
std::vector<std::vector<Index>> close_groups(const Model& model) {
  std::vector<Index> group(static_cast<std::size_t>(model.components()));
  std::iota(group.begin(), group.end(), Index{0});
  for (const Warning& w : model.warnings) {
    if (w.kind != Kind::close_kurtosis || w.components.size() < 2) continue;
    const Index a = group.at(static_cast<std::size_t>(w.components[0]));
    const Index b = group.at(static_cast<std::size_t>(w.components[1]));
    std::replace(group.begin(), group.end(), std::max(a, b), std::min(a, b));
  }
  std::vector<std::vector<Index>> members(group.size());
  for (std::size_t k = 0; k < group.size(); ++k) {
    members[static_cast<std::size_t>(group[k])].push_back(static_cast<Index>(k));
  }
  std::erase_if(members, [](const auto& m) { return m.size() < 2; });
  return members;
}

}  // namespace

std::string list_of(const std::vector<Index>& numbers) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t j = i;
    while (j + 1 < numbers.size() && numbers[j + 1] == numbers[j] + 1) ++j;
    if (j < i + 2) j = i;  // two in a row are not worth a "to"
    parts.push_back(j == i ? std::to_string(numbers[i] + 1)
                           : fmt::format("{} to {}", numbers[i] + 1, numbers[j] + 1));
    i = j + 1;
  }
  std::string out;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    out += (p == 0 ? "" : p + 1 < parts.size() ? ", " : " and ") + parts[p];
  }
  return out;
}

std::vector<std::string> warnings_in_words(const Model& model) {
  std::vector<std::string> out;
  for (const Warning& w : model.warnings) {
    if (w.kind == Kind::close_kurtosis && w.components.size() >= 2) continue;
    out.push_back(sentence(w.text) + advice(w.kind));
  }
  const auto groups = close_groups(model);
  if (groups.empty()) return out;
  std::string who;
  std::size_t concerned = 0;
  for (const auto& group : groups) {
    who += (who.empty() ? "" : "; ") + list_of(group);
    concerned += group.size();
  }
  out.push_back(fmt::format(
      "Components {} are too alike to tell apart with {} frames: {} may still be mixed with each other.{}",
      who, markup::count(model.samples), groups.size() == 1 ? "they" : "those of each group",
      concerned < static_cast<std::size_t>(model.components()) ? " The other components are not concerned."
                                                               : ""));
  return out;
}

std::string crosstalk_in_words(const Diagnosis& diagnosis) {
  if (!diagnosis.crosstalk) {
    return diagnosis.no_crosstalk.empty() ? "not known" : "cannot tell: " + diagnosis.no_crosstalk;
  }
  const auto decibels = [](double power) { return 10 * std::log10(power); };
  return fmt::format("about {:.0f} dB, below {:.0f} dB in 19 of 20 recordings",
                     decibels(diagnosis.crosstalk->expected), decibels(diagnosis.crosstalk->bound));
}

bool mixed_units(const Page& page) {
  const auto& units = page.mixtures.units;
  return std::adjacent_find(units.begin(), units.end(), std::not_equal_to<>()) != units.end();
}

Matrix<double> weights_of(const Page& page) {
  Matrix<double> weights = page.model.mixing;
  for (Index k = 0; k < weights.cols(); ++k) weights.col(k) *= page.sources.summary.channel(k).deviation();
  for (Index i = 0; i < weights.rows(); ++i) {
    const double deviation = page.mixtures.summary.channel(i).deviation();
    weights.row(i) *= deviation > 0 ? 1 / deviation : 0;
  }
  return weights;
}

std::vector<Component> components_of(const Page& page) {
  const Matrix<double> weights = weights_of(page);
  Vector<double> power(weights.rows());  // of the channels
  for (Index i = 0; i < power.size(); ++i) {
    const double deviation = page.mixtures.summary.channel(i).deviation();
    power(i) = mixed_units(page) ? (deviation > 0 ? 1 : 0) : deviation * deviation;
  }
  std::vector<Component> out(static_cast<std::size_t>(weights.cols()));
  for (Index k = 0; k < weights.cols(); ++k) {
    Component& c = out[static_cast<std::size_t>(k)];
    c.power = weights.col(k).cwiseAbs2().dot(power) / power.sum();
    if (weights.rows() > 0) weights.col(k).cwiseAbs().maxCoeff(&c.strongest);
  }
  return out;
}

}  // namespace demix::report
