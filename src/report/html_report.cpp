#include "demix/html_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "core/strongest_channel.hpp"
#include "report/drawing.hpp"
#include "report/eeg_section.hpp"
#include "report/findings.hpp"
#include "report/markup.hpp"
#include "report/page_signals.hpp"
#include "report/page_style.hpp"

namespace demix::report {
namespace {

using markup::escaped;
using markup::number;

constexpr Index most_bars = 128;  // more would be thinner than a pixel

void require(bool ok, const std::string& message) {
  if (!ok) throw std::invalid_argument(message);
}

template <typename List>
void require_one_each(const List& list, Index signals, const std::string& field) {
  require(list.empty() || static_cast<Index>(list.size()) == signals,
          fmt::format("{}: expected none or {}, got {}", field, signals, list.size()));
}

void validate(const Part& part, Index signals, const std::string& field) {
  require(part.summary.channels() == signals,
          fmt::format("{}.summary: expected {} channels, got {}", field, signals, part.summary.channels()));
  require_one_each(part.names, signals, field + ".names");
  require_one_each(part.units, signals, field + ".units");
  require_one_each(part.sounds, signals, field + ".sounds");
  require_one_each(part.pictures, signals, field + ".pictures");
}

void validate(const Eeg& eeg, Index channels, Index components) {
  require(static_cast<Index>(eeg.cards.size()) == components,
          fmt::format("eeg.cards: expected {}, got {}", components, eeg.cards.size()));
  for (const ComponentCard& card : eeg.cards) {
    require(card.spectrum.size() == eeg.frequencies.size(),
            "eeg.cards: a spectrum does not fit the frequencies");
    require(card.correlations.size() == eeg.references.size(),
            "eeg.cards: the correlations do not fit the references");
  }
  const Viewer& v = eeg.viewer;
  require(v.frames.cols() == 0 ||
              (v.frames.rows() == channels && v.mean.size() == channels && v.mixing.rows() == channels &&
               v.mixing.cols() == components && v.unmixing.rows() == components &&
               v.unmixing.cols() == channels && v.rate > 0),
          "eeg.viewer: frames, rate, mean, mixing and unmixing do not fit the model");
}

void validate(const Page& page) {
  const Index n = page.model.channels();
  const Index k = page.model.components();
  require(n > 0 && k > 0, "model: empty");
  require(page.model.mixing.rows() == n && page.model.mixing.cols() == k && page.model.kurtosis.size() == k,
          "model: mixing, unmixing and kurtosis do not fit together");
  validate(page.mixtures, n, "mixtures");
  validate(page.sources, k, "sources");
  if (page.eeg) validate(*page.eeg, n, k);
  if (!page.truth) return;
  const Index known = page.truth->sources.summary.channels();
  validate(page.truth->sources, known, "truth.sources");
  require(page.truth->recovered.channels() == known && page.truth->residual.channels() == known,
          fmt::format("truth: expected recovered and residual of {} sources", known));
}

std::string title_of(const Page& page) {
  if (!page.title.empty()) return page.title;
  return page.inputs.size() == 1
             ? "Separation of " + page.inputs[0].substr(page.inputs[0].find_last_of('/') + 1)
             : "Separation";
}

std::string length_of(const Page& page) {
  const std::int64_t frames = page.mixtures.summary.frames();
  const std::string count = markup::count(frames) + " frames";
  if (!page.mixtures.pictures.empty()) {
    const Picture& p = page.mixtures.pictures[0];
    return fmt::format("pictures of {} × {}, {} pixels", p.width, p.height, markup::count(frames));
  }
  if (!(page.rate > 0)) return count + ", rate unknown";
  const bool whole = page.rate < 1e9 && page.rate == std::floor(page.rate);
  return fmt::format("{} at {} Hz, {}", count,
                     whole ? markup::count(static_cast<long long>(page.rate)) : number(page.rate),
                     moment(page, frames));
}

std::string info(const Page& page) {
  std::string out = "<dl>\n";
  const auto fact = [&](const char* name, const std::string& value) {
    out += fmt::format("<dt>{}</dt><dd>{}</dd>\n", name, value);
  };
  std::string inputs;
  for (const std::string& input : page.inputs) inputs += (inputs.empty() ? "" : ", ") + escaped(input);
  if (!inputs.empty()) fact("Input", inputs);
  fact("Channels", std::to_string(page.model.channels()));
  fact("Length", length_of(page));
  fact("Components", std::to_string(page.model.components()));
  fact("Crosstalk to expect", crosstalk_text(page.model.diagnosis));
  fact("Method", escaped(page.model.method) + (page.why.empty() ? "" : ": " + escaped(page.why)));
  return out + "</dl>\n";
}

std::string warnings(const Page& page) {
  std::string out = "<h2 id=\"warnings\">Before you trust it</h2>\n";
  std::vector<std::string> all = warnings_in_words(page.model);
  for (Index i = 0; i < page.mixtures.summary.channels(); ++i) {
    const std::int64_t gaps = page.mixtures.summary.frames() - page.mixtures.summary.channel(i).count;
    if (gaps > 0) {
      all.push_back(fmt::format("{}: {} not {}.", channel_name(page)(i),
                                gaps == 1 ? "one value is" : markup::count(gaps) + " values are",
                                gaps == 1 ? "a number" : "numbers"));
    }
  }
  if (all.empty()) {
    out += "<p>The method found nothing to warn of.</p>\n";
  } else {
    out += "<ul class=\"warnings\">\n";
    for (const std::string& w : all) out += fmt::format("<li>{}</li>\n", escaped(w));
    out += "</ul>\n";
  }
  for (const std::string& note : page.notes) out += fmt::format("<p>{}</p>\n", escaped(note));
  return out;
}

std::string component_table(const Page& page) {
  const auto& clips = page.sources.sounds;
  const bool gains = std::any_of(clips.begin(), clips.end(), [](const Sound& s) { return s.gain != 1; });
  std::string out = "<h2 id=\"components\">Components</h2>\n<p>The kurtosis of a Gaussian is 3. ";
  out += mixed_units(page) ? "The channels have different units: power is counted in each one's own variance."
                           : "Power is the share of the power of all channels together.";
  out += fmt::format(
      "</p>\n<div class=\"scroll\"><table>\n<thead><tr><th scope=\"col\">component</th>"
      "<th scope=\"col\">kurtosis</th><th scope=\"col\">power</th>{}"
      "<th scope=\"col\" class=\"word\">strongest on</th></tr></thead>\n<tbody>\n",
      gains ? "<th scope=\"col\">gain</th>" : "");
  const std::vector<Component> all = components_of(page);
  for (std::size_t k = 0; k < all.size(); ++k) {
    const double percent = 100 * all[k].power;
    out += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td>", k + 1,
                       number(page.model.kurtosis(static_cast<Index>(k))),
                       std::isfinite(percent) ? fmt::format("{:.1f} %", percent) : "–");
    if (gains) out += fmt::format("<td>{}</td>", number(clips[k].gain));
    out += fmt::format("<td class=\"word\">{}</td></tr>\n", escaped(channel_name(page)(all[k].strongest)));
  }
  return out + "</tbody></table></div>\n";
}

// Above the bars; of many channels, every second or third.
std::string channel_names(const Page& page, Index channels) {
  const Index step = (channels + most_rows - 1) / most_rows;
  std::string out = fmt::format(
      "<div class=\"row\" aria-hidden=\"true\"><div class=\"name\"></div>"
      "<div class=\"channels\" style=\"font-size:min(.72rem,{:.2f}vw)\">",
      80.0 * static_cast<double>(step) / static_cast<double>(channels));
  for (Index i = 0; i < channels; ++i) {
    out += fmt::format("<span>{}</span>", i % step == 0 ? escaped(channel_name(page)(i)) : "");
  }
  return out + "</div></div>\n";
}

std::string weight_row(const Page& page, const std::string& name, const Vector<double>& weights,
                       Index drawn) {
  std::vector<std::string> titles;
  for (Index i = 0; i < drawn; ++i) {
    titles.push_back(fmt::format("{}: {}", channel_name(page)(i), number(weights(i))));
  }
  const Index most = strongest_channel(weights);
  const std::string strongest = fmt::format("{} on {}", number(weights(most)), channel_name(page)(most));
  return fmt::format("<div class=\"row\" role=\"img\" aria-label=\"weights of {}: {}\">{}", escaped(name),
                     escaped(strongest), label(name, strongest)) +
         drawing::bars(weights.head(drawn), titles) + "</div>\n";
}

std::string weights(const Page& page) {
  if (!page.weights) return "";
  const Matrix<double> all = weights_of(page);
  const Index channels = std::min(all.rows(), most_bars);
  const bool is_filtered = std::ranges::any_of(
      page.model.options, [](const auto& o) { return o.first.ends_with("pass") || o.first == "notch"; });
  std::string out = fmt::format(
      "<h2 id=\"weights\">Channel weights</h2>\n<figure class=\"weights{}\">\n<figcaption>How much of each "
      "channel a component makes, as a share of the channel's deviation{}: 1 or −1 is all of it. The bars of "
      "a component are enlarged to the height of the row; its largest share is written at the left.{}{}"
      "</figcaption>\n",
      all.cols() > many_rows ? " many" : "", is_filtered ? ", filtered as it was learned from" : "",
      first_only(all.cols(), "components"),
      channels < all.rows()
          ? fmt::format(" Only the first {} of {} channels are drawn.", channels, all.rows())
          : "");
  for (Index k = 0; k < std::min(all.cols(), most_rows); ++k) {
    if (k % 8 == 0) out += channel_names(page, channels);
    out += weight_row(page, source_name(page)(k), all.col(k), channels);
  }
  return out + "</figure>\n";
}

std::string origin(const Page& page) {
  std::string out = "<h2 id=\"origin\">How it was made</h2>\n";
  if (!page.command.empty()) out += fmt::format("<pre><code>{}</code></pre>\n", escaped(page.command));
  std::string options;
  for (const auto& [name, value] : page.model.options) {
    options += fmt::format("{}{} = {}", options.empty() ? ", with " : ", ", escaped(name), escaped(value));
  }
  return out + fmt::format("<p>demix {}, method {}{}.</p>\n", escaped(page.model.version),
                           escaped(page.model.method), options);
}

std::string contents(const Page& page) {
  std::string out = "<nav aria-label=\"Contents\">";
  const auto link = [&](const char* id, const char* text) {
    out += fmt::format("<a href=\"#{}\">{}</a> ", id, text);
  };
  if (page.eeg) {
    link("suggestions", "What to remove");
    link("maps", page.eeg->map_radius > 0 ? "Scalp maps" : "Components at a glance");
    link("components", "Components");
    if (page.eeg->viewer.frames.cols() > 0) link("before-after", "Before and after");
  }
  if (!page.eeg) link("mixtures", "Mixtures");
  link("sources", "Sources");
  if (page.eeg) link("mixtures", "Mixtures");
  if (page.truth) link("truth", "Against the truth");
  if (!page.eeg) link("components", "Components");
  if (page.weights) link("weights", "Channel weights");
  link("origin", "How it was made");
  return out + "</nav>\n";
}

// Of an EEG what to do comes first, then the sources, then the channels.
std::string sections(const Page& page) {
  if (!page.eeg) {
    return warnings(page) + mixtures(page) + sources(page) + against_truth(page) + component_table(page) +
           weights(page) + origin(page);
  }
  return suggestions(page) + warnings(page) + component_cards(page) + eeg_table(page) + viewer(page) +
         sources(page) + mixtures(page) + against_truth(page) + weights(page) + origin(page) + eeg_script();
}

}  // namespace

std::string html(const Page& page) {
  validate(page);
  const std::string title = escaped(title_of(page));
  return fmt::format(
             "<!DOCTYPE html>\n<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\">\n<head>\n"
             "<meta charset=\"utf-8\"/>\n"
             "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
             "<meta name=\"generator\" content=\"demix {}\"/>\n"
             "<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n<main>\n<h1>{}</h1>\n",
             escaped(page.model.version), title, page_style, title) +
         info(page) + contents(page) + sections(page) + "</main>\n</body>\n</html>\n";
}

}  // namespace demix::report
