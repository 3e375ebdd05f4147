#include "report/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>
#include <numeric>

#include "core/strongest_channel.hpp"
#include "report/markup.hpp"

namespace demix::report {
namespace {

using Kind = Warning::Kind;

std::string sentence(std::string text) {
  if (text.empty()) return text;
  text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text.ends_with('.') ? text : text + ".";
}

std::string advice(const Warning& w, const Model& model) {
  switch (w.kind) {
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
      return " What is heard or seen as a source may still hold others. Record closer to the sources, or use "
             "a method for convolved mixtures.";
    case Kind::drift:
      return " Slow drifts take up components that sources need.";
    case Kind::clipped:
      return " What was cut off is not a sum of sources any more.";
    case Kind::glitches:
      return w.components.empty()
                 ? " The model was learned without them; they are in the sources all the same."
                 : " Look at these frames before you trust the component.";
    case Kind::unstable:
      return " Another recording of the same kind may give different components.";
    case Kind::unresolved:
    case Kind::gaussian:
      return std::ssize(w.components) < model.components() ? " The other components are not concerned." : "";
    case Kind::dependent:
      break;
  }
  return "";
}

}  // namespace

std::vector<std::string> warnings_in_words(const Model& model) {
  std::vector<std::string> out;
  for (const Warning& w : model.warnings) out.push_back(sentence(w.text) + advice(w, model));
  return out;
}

std::string crosstalk_text(const Diagnosis& diagnosis) {
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

Matrix<double> weights_of(const Page& page) { return channel_shares(page.model.mixing); }

std::vector<Component> components_of(const Page& page) {
  // Of the recording as it is, drifts and all.
  Matrix<double> added = page.model.mixing;
  for (Index k = 0; k < added.cols(); ++k) added.col(k) *= page.sources.summary.channel(k).deviation();
  double power = 0;  // of the channels
  for (Index i = 0; i < added.rows(); ++i) {
    const double deviation = page.mixtures.summary.channel(i).deviation();
    const bool by_itself = mixed_units(page);
    power += !by_itself ? deviation * deviation : deviation > 0 ? 1 : 0;
    if (by_itself) added.row(i) *= deviation > 0 ? 1 / deviation : 0;
  }
  const Matrix<double> weights = weights_of(page);
  std::vector<Component> out(static_cast<std::size_t>(weights.cols()));
  for (Index k = 0; k < weights.cols(); ++k) {
    Component& c = out[static_cast<std::size_t>(k)];
    c.power = added.col(k).squaredNorm() / power;
    c.strongest = strongest_channel(weights.col(k));
  }
  return out;
}

}  // namespace demix::report
