#include "demix/html_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <stdexcept>

#include "report/drawing.hpp"
#include "report/findings.hpp"
#include "report/markup.hpp"
#include "report/page_style.hpp"

namespace demix::report {
namespace {

using drawing::Range;
using markup::escaped;
using markup::number;

constexpr Index most_rows = 40;   // of a figure; more would be a page nobody reads
constexpr Index many_rows = 12;   // drawn lower
constexpr Index most_bars = 128;  // more would be thinner than a pixel

using Words = std::function<std::string(Index)>;  // of a signal

Words names_of(const Part& part, const char* otherwise) {
  return [&part, otherwise](Index i) {
    return part.names.empty() ? fmt::format("{} {}", otherwise, i + 1)
                              : part.names[static_cast<std::size_t>(i)];
  };
}
Words channel_name(const Page& page) { return names_of(page.mixtures, "channel"); }
Words source_name(const Page& page) { return names_of(page.sources, "component"); }

std::string unit_of(const Part& part, Index i) {
  const std::string unit = part.units.empty() ? "" : part.units[static_cast<std::size_t>(i)];
  return unit.empty() ? "" : " " + unit;
}

// Checks

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

void validate(const Page& page) {
  const Index n = page.model.channels();
  const Index k = page.model.components();
  require(page.model.mixing.rows() == n && page.model.mixing.cols() == k && page.model.kurtosis.size() == k,
          "model: mixing, unmixing and kurtosis do not fit together");
  validate(page.mixtures, n, "mixtures");
  validate(page.sources, k, "sources");
  if (!page.truth) return;
  const Index known = page.truth->sources.summary.channels();
  validate(page.truth->sources, known, "truth.sources");
  require(page.truth->recovered.channels() == known && page.truth->residual.channels() == known,
          fmt::format("truth: expected recovered and residual of {} sources", known));
}

// The parts of a page

std::string title_of(const Page& page) {
  if (!page.title.empty()) return page.title;
  return page.inputs.size() == 1
             ? "Separation of " + page.inputs[0].substr(page.inputs[0].find_last_of('/') + 1)
             : "Separation";
}

// Where a frame is: as time if the rate is known.
std::string moment(const Page& page, std::int64_t frame) {
  return page.rate > 0 ? markup::time(static_cast<double>(frame) / page.rate) : markup::count(frame);
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

std::string facts(const Page& page) {
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
  fact("Method", escaped(page.model.method) + (page.why.empty() ? "" : ": " + escaped(page.why)));
  return out + "</dl>\n";
}

std::string warnings(const Page& page) {
  std::string out = "<h2 id=\"warnings\">Before you trust it</h2>\n";
  std::vector<std::string> all = warnings_in_words(page.model);
  for (Index i = 0; i < page.mixtures.summary.channels(); ++i) {
    const std::int64_t gaps = page.mixtures.summary.frames() - page.mixtures.summary.channel(i).count;
    if (gaps > 0) all.push_back(fmt::format("{}: {} values are not numbers.", channel_name(page)(i), gaps));
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

// Traces

std::string label(const std::string& name, const std::string& more) {
  return fmt::format("<div class=\"name\">{}<small>{}</small></div>\n", escaped(name), escaped(more));
}

std::string between(const std::string& from, const std::string& to) {
  return fmt::format("<span><i>{}</i><i>{}</i></span>", from, to);
}

std::string first_only(Index all, const char* what) {
  return all <= most_rows ? "" : fmt::format(" Only the first {} of {} {} are drawn.", most_rows, all, what);
}

bool has_excerpt(const Summary& s) { return s.frames() > Summary::excerpt_frames; }

std::string axis(const Page& page, const Summary& s) {
  std::string out = "<div class=\"row axis" + std::string(has_excerpt(s) ? "" : " short") + "\">";
  out += "<div class=\"name\"></div>";
  if (has_excerpt(s)) {
    out +=
        between(moment(page, s.excerpt_start()), moment(page, s.excerpt_start() + Summary::excerpt_frames));
  }
  return out + between(moment(page, 0), moment(page, s.frames())) + "<div></div></div>\n";
}

std::string trace_row(const Part& part, Index i, const std::string& name, const std::string& more) {
  const Summary::Channel& c = part.summary.channel(i);
  const Range range = drawing::range_of(c.envelope);
  const bool excerpt = has_excerpt(part.summary);
  std::string out = fmt::format("<div class=\"row{}\" role=\"img\" aria-label=\"{}: {}\">\n{}",
                                excerpt ? "" : " short", escaped(name), escaped(more), label(name, more));
  if (excerpt) out += drawing::traces({{&c.excerpt, "line"}}, drawing::range_of(c.excerpt), "near");
  out += excerpt ? drawing::envelope(c.envelope, range, "whole")
                 : drawing::traces({{&c.excerpt, "line"}}, range, "whole");
  return out + drawing::histograms({{&c.sample, "shape"}}, range) + "</div>\n";
}

std::string trace_figure(const Page& page, const Part& part, const std::string& look,
                         const std::string& caption, const Words& name, const Words& more) {
  const Index rows = std::min(part.summary.channels(), most_rows);
  std::string out = fmt::format("<figure class=\"{}{}\">\n<figcaption>{} {}</figcaption>\n", look,
                                rows > many_rows ? " many" : "", caption,
                                has_excerpt(part.summary)
                                    ? "Left: a stretch, enlarged to the height of the row. Right: the whole "
                                      "recording, with its distribution on the same scale."
                                    : "At the right of each, its distribution on the same scale.");
  for (Index i = 0; i < rows; ++i) out += trace_row(part, i, name(i), more(i));
  return out + axis(page, part.summary) + "</figure>\n";
}

// Pictures and sounds

std::string picture(const Part& part, Index i, const char* look) {
  const Picture& p = part.pictures[static_cast<std::size_t>(i)];
  const Summary::Channel& c = part.summary.channel(i);
  return fmt::format(
      "<figure class=\"{}\"><img alt=\"{}\" width=\"{}\" height=\"{}\" src=\"data:image/png;base64,{}\"/>"
      "<figcaption>{}</figcaption>{}</figure>\n",
      look, escaped(p.label), p.width, p.height, markup::base64(p.bytes), escaped(p.label),
      drawing::lying_histogram({&c.sample, "shape"}, drawing::range_of(c.sample)));
}

std::string pictures(const Part& part, const char* look) {
  std::string out = "<div class=\"pictures\">\n";
  const Index shown = std::min(static_cast<Index>(part.pictures.size()), most_rows);
  for (Index i = 0; i < shown; ++i) out += picture(part, i, look);
  return out + "</div>\n";
}

std::string sound(const Sound& s) {
  std::string more = s.seconds > 0 ? markup::time(s.seconds) : "";
  if (s.gain != 1) more += fmt::format("{}gain {}", more.empty() ? "" : ", ", number(s.gain));
  std::string out = fmt::format("<div>{} <small>{}</small>", escaped(s.label), escaped(more));
  if (!s.bytes.empty()) {
    out += fmt::format(
        "<audio controls=\"controls\" preload=\"metadata\" aria-label=\"{}\" "
        "src=\"data:audio/wav;base64,{}\"></audio>",
        escaped(s.label), markup::base64(s.bytes));
  } else if (!s.file.empty()) {
    out += fmt::format(
        "<audio controls=\"controls\" preload=\"metadata\" aria-label=\"{0}\" src=\"{1}\"></audio>"
        "<small>Too long for this page; it is in <a href=\"{1}\">{2}</a>.</small>",
        escaped(s.label), markup::address(s.file), escaped(s.file));
  }
  return out + "</div>\n";
}

std::string sounds(const Part& part) {
  if (part.sounds.empty()) return "";
  std::string out = "<div class=\"sounds\">\n";
  for (const Sound& s : part.sounds) out += sound(s);
  return out + "</div>\n";
}

std::string signals(const Page& page, const Part& part, const char* look, const std::string& caption,
                    const Words& name, const Words& more) {
  const std::string all = caption + first_only(part.summary.channels(), "signals");
  if (!part.pictures.empty()) {
    return fmt::format("<p><small>{} Below each, its distribution.</small></p>\n", all) +
           pictures(part, look);
  }
  return sounds(part) + trace_figure(page, part, look, all, name, more);
}

std::string mixtures(const Page& page) {
  const Part& part = page.mixtures;
  const auto range = [&](Index i) {
    const Range r = drawing::range_of(part.summary.channel(i).envelope);
    return fmt::format("{} to {}{}", number(r.lo), number(r.hi), unit_of(part, i));
  };
  return "<h2 id=\"mixtures\">Mixtures</h2>\n" +
         signals(page, part, "mixed", "What was recorded.", channel_name(page), range);
}

std::string sources(const Page& page) {
  const Vector<double>& kurtosis = page.model.kurtosis;
  const bool sorted = std::is_sorted(kurtosis.begin(), kurtosis.end(), std::greater<>());
  const auto peakedness = [&](Index k) { return "kurtosis " + number(kurtosis(k)); };
  return "<h2 id=\"sources\">Sources</h2>\n" +
         signals(page, page.sources, "recovered",
                 fmt::format("The components that were found{}. Sign and size of a source cannot be known.",
                             sorted ? ", by descending kurtosis" : ""),
                 source_name(page), peakedness);
}

// Against the truth

std::string quality_of(const Truth& truth, Index i) {
  const double left = truth.residual.channel(i).deviation() / truth.sources.summary.channel(i).deviation();
  return fmt::format("residual {} % of the power", number(100 * left * left));
}

std::string truth_row(const Truth& truth, Index i, const std::string& name) {
  const Summary::Channel& source = truth.sources.summary.channel(i);
  const Summary::Channel& found = truth.recovered.channel(i);
  const Summary::Channel& error = truth.residual.channel(i);
  const Range range = drawing::joined(drawing::range_of(source.excerpt), drawing::range_of(found.excerpt));
  const double middle = range.lo / 2 + range.hi / 2;
  const Range around_zero{range.lo - middle, range.hi - middle};
  const Range whole = drawing::joined(drawing::range_of(source.sample), drawing::range_of(found.sample));
  const std::string quality = quality_of(truth, i);
  return fmt::format("<div class=\"row short\" role=\"img\" aria-label=\"{}: {}\">\n{}<div>", escaped(name),
                     quality, label(name, quality)) +
         drawing::traces({{&source.excerpt, "true"}, {&found.excerpt, "over"}}, range, "near") +
         drawing::traces({{&error.excerpt, "residual"}}, around_zero, "error") + "</div>\n" +
         drawing::histograms({{&source.sample, "true"}, {&found.sample, "over"}}, whole) + "</div>\n";
}

std::string against_truth(const Page& page) {
  if (!page.truth) return "";
  const Part& part = page.truth->sources;
  const Summary& s = part.summary;
  std::string out = "<h2 id=\"truth\">Against the true sources</h2>\n";
  const Words name = names_of(part, "true source");
  const Index shown = std::min(s.channels(), most_rows);
  if (!part.pictures.empty()) {
    out += pictures(part, "mixed");
    for (Index i = 0; i < shown; ++i) {
      out += fmt::format("<p><small>{}: {}</small></p>\n", escaped(name(i)), quality_of(*page.truth, i));
    }
    return out;
  }
  out += sounds(part);
  out += fmt::format(
      "<figure{}>\n<figcaption>The <span class=\"key true\">true</span> sources, what was <span class=\"key "
      "recovered\">recovered</span> over them, and below the <span class=\"key residual\">residual</span>, "
      "all on "
      "one scale; at the right their distributions.{}</figcaption>\n",
      s.channels() > many_rows ? " class=\"many\"" : "", first_only(s.channels(), "sources"));
  for (Index i = 0; i < shown; ++i) out += truth_row(*page.truth, i, name(i));
  const std::int64_t end = std::min(s.frames(), s.excerpt_start() + Summary::excerpt_frames);
  return out + "<div class=\"row short axis\"><div class=\"name\"></div>" +
         between(moment(page, s.excerpt_start()), moment(page, end)) + "<div></div></div>\n</figure>\n";
}

// Components

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

std::string channel_names(const Page& page, Index channels) {
  std::string out = fmt::format(
      "<div class=\"row\" aria-hidden=\"true\"><div class=\"name\"></div>"
      "<div class=\"channels\" style=\"font-size:min(.72rem,{:.2f}vw)\">",
      80.0 / static_cast<double>(channels));
  for (Index i = 0; i < channels; ++i) out += fmt::format("<span>{}</span>", escaped(channel_name(page)(i)));
  return out + "</div></div>\n";
}

std::string weight_row(const Page& page, const std::string& name, const Vector<double>& weights) {
  std::vector<std::string> titles;
  for (Index i = 0; i < weights.size(); ++i) {
    titles.push_back(fmt::format("{}: {}", channel_name(page)(i), number(weights(i))));
  }
  Index most = 0;
  weights.cwiseAbs().maxCoeff(&most);
  const std::string strongest = fmt::format("{} on {}", number(weights(most)), channel_name(page)(most));
  return fmt::format("<div class=\"row\" role=\"img\" aria-label=\"weights of {}: {}\">{}", escaped(name),
                     escaped(strongest), label(name, strongest)) +
         drawing::bars(weights, titles) + "</div>\n";
}

std::string weights(const Page& page) {
  if (!page.weights) return "";
  const Matrix<double> all = weights_of(page);
  const Index channels = std::min(all.rows(), most_bars);
  std::string out = fmt::format(
      "<h2 id=\"weights\">Channel weights</h2>\n<figure class=\"weights{}\">\n<figcaption>How much of each "
      "channel a component makes, as a share of the channel's deviation: 1 or −1 is all of it. The bars of a "
      "component are enlarged to the height of the row; its largest share is written at the left.{}{}"
      "</figcaption>\n",
      all.cols() > many_rows ? " many" : "", first_only(all.cols(), "components"),
      channels < all.rows()
          ? fmt::format(" Only the first {} of {} channels are drawn.", channels, all.rows())
          : "");
  for (Index k = 0; k < std::min(all.cols(), most_rows); ++k) {
    if (k % 8 == 0) out += channel_names(page, channels);
    out += weight_row(page, source_name(page)(k), all.col(k).head(channels));
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
  link("mixtures", "Mixtures");
  link("sources", "Sources");
  if (page.truth) link("truth", "Against the truth");
  link("components", "Components");
  if (page.weights) link("weights", "Channel weights");
  link("origin", "How it was made");
  return out + "</nav>\n";
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
         facts(page) + contents(page) + warnings(page) + mixtures(page) + sources(page) +
         against_truth(page) + component_table(page) + weights(page) + origin(page) +
         "</main>\n</body>\n</html>\n";
}

}  // namespace demix::report
