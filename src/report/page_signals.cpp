#include "report/page_signals.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/drawing.hpp"
#include "report/markup.hpp"

namespace demix::report {
namespace {

using markup::escaped;
using markup::number;

Words names_of(const Part& part, const char* otherwise) {
  return [&part, otherwise](Index i) {
    return part.names.empty() ? fmt::format("{} {}", otherwise, i + 1)
                              : part.names[static_cast<std::size_t>(i)];
  };
}

std::string unit_of(const Part& part, Index i) {
  const std::string unit = part.units.empty() ? "" : part.units[static_cast<std::size_t>(i)];
  return unit.empty() ? "" : " " + unit;
}

std::string between(const std::string& from, const std::string& to) {
  return fmt::format("<span><i>{}</i><i>{}</i></span>", from, to);
}

// Of the excerpt. Its end is counted from its start: far into a recording the two would look the same.
std::string stretch(const Page& page, const Summary& s) {
  return between(moment(page, s.excerpt_start()),
                 "+ " + moment(page, std::min(s.frames(), Summary::excerpt_frames)));
}

bool has_excerpt(const Summary& s) { return s.frames() > Summary::excerpt_frames; }

std::string axis(const Page& page, const Summary& s) {
  std::string out = "<div class=\"row axis" + std::string(has_excerpt(s) ? "" : " short") + "\">";
  out += "<div class=\"name\"></div>";
  if (has_excerpt(s)) {
    out += stretch(page, s);
  }
  return out + between(moment(page, 0), moment(page, s.frames())) + "<div></div></div>\n";
}

std::string trace_row(const Part& part, Index i, const std::string& name, const std::string& more) {
  const Summary::Channel& c = part.summary.channel(i);
  const AxisRange range = drawing::range_of(c.envelope);
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

std::string picture(const Part& part, Index i, const char* look, const std::string& name) {
  const Picture& p = part.pictures[static_cast<std::size_t>(i)];
  const Summary::Channel& c = part.summary.channel(i);
  return fmt::format(
      "<figure class=\"{}\"><img alt=\"{}\" width=\"{}\" height=\"{}\" src=\"data:image/png;base64,{}\"/>"
      "<figcaption>{}</figcaption>{}</figure>\n",
      look, escaped(name), p.width, p.height, markup::base64(p.bytes), escaped(name),
      drawing::lying_histogram({&c.sample, "shape"}, drawing::range_of(c.sample)));
}

std::string pictures(const Part& part, const char* look, const Words& name) {
  std::string out = "<div class=\"pictures\">\n";
  const Index shown = std::min(static_cast<Index>(part.pictures.size()), most_rows);
  for (Index i = 0; i < shown; ++i) out += picture(part, i, look, name(i));
  return out + "</div>\n";
}

std::string sound(const Sound& s, const std::string& name) {
  std::string more = s.seconds > 0 ? markup::time(s.seconds) : "";
  if (s.gain != 1) more += fmt::format("{}gain {}", more.empty() ? "" : ", ", number(s.gain));
  std::string out = fmt::format("<div>{} <small>{}</small>", escaped(name), escaped(more));
  if (!s.bytes.empty()) {
    out += fmt::format(
        "<audio controls=\"controls\" preload=\"metadata\" aria-label=\"{}\" "
        "src=\"data:audio/wav;base64,{}\"></audio>",
        escaped(name), markup::base64(s.bytes));
  } else if (!s.file.empty()) {
    out += fmt::format(
        "<audio controls=\"controls\" preload=\"metadata\" aria-label=\"{0}\" src=\"{1}\"></audio>"
        "<small>Too long for this page; it is in <a href=\"{1}\">{2}</a>.</small>",
        escaped(name), markup::address(s.file), escaped(s.file));
  }
  return out + "</div>\n";
}

std::string sounds(const Part& part, const Words& name) {
  if (part.sounds.empty()) return "";
  std::string out = "<div class=\"sounds\">\n";
  for (std::size_t i = 0; i < part.sounds.size(); ++i) {
    out += sound(part.sounds[i], name(static_cast<Index>(i)));
  }
  return out + "</div>\n";
}

std::string signals(const Page& page, const Part& part, const char* look, const std::string& caption,
                    const Words& name, const Words& more) {
  const std::string all = caption + first_only(part.summary.channels(), "signals");
  if (!part.pictures.empty()) {
    return fmt::format("<p><small>{} Below each, its distribution.</small></p>\n", all) +
           pictures(part, look, name);
  }
  return sounds(part, name) + trace_figure(page, part, look, all, name, more);
}

std::string quality_of(const Truth& truth, Index i) {
  const double left = truth.residual.channel(i).deviation() / truth.sources.summary.channel(i).deviation();
  const double percent = 100 * left * left;
  return fmt::format("residual {} % of the power", percent < 0.01 ? "below 0.01" : number(percent));
}

std::string truth_row(const Truth& truth, Index i, const std::string& name) {
  const Summary::Channel& source = truth.sources.summary.channel(i);
  const Summary::Channel& found = truth.recovered.channel(i);
  const Summary::Channel& error = truth.residual.channel(i);
  const AxisRange range =
      drawing::joined(drawing::range_of(source.excerpt), drawing::range_of(found.excerpt));
  const double half = range.hi / 2 - range.lo / 2;
  const AxisRange whole = drawing::joined(drawing::range_of(source.sample), drawing::range_of(found.sample));
  const std::string quality = quality_of(truth, i);
  return fmt::format("<div class=\"row short beside\" role=\"img\" aria-label=\"{}: {}\">\n{}<div>",
                     escaped(name), quality, label(name, quality)) +
         drawing::traces({{&source.excerpt, "true"}, {&found.excerpt, "over"}}, range, "near") +
         drawing::traces({{&error.excerpt, "residual"}}, {-half, half}, "near") + "</div>\n" +
         drawing::histograms({{&source.sample, "true"}, {&found.sample, "over"}}, whole) + "</div>\n";
}

}  // namespace

Words channel_name(const Page& page) { return names_of(page.mixtures, "channel"); }
Words source_name(const Page& page) { return names_of(page.sources, "component"); }

std::string moment(const Page& page, std::int64_t frame) {
  return page.rate > 0 ? markup::time(static_cast<double>(frame) / page.rate) : markup::count(frame);
}

std::string first_only(Index all, const char* what) {
  return all <= most_rows ? "" : fmt::format(" Only the first {} of {} {} are drawn.", most_rows, all, what);
}

std::string label(const std::string& name, const std::string& more) {
  return fmt::format("<div class=\"name\">{}<small>{}</small></div>\n", escaped(name), escaped(more));
}

std::string mixtures(const Page& page) {
  const Part& part = page.mixtures;
  const auto range = [&](Index i) {
    const Summary::Channel& c = part.summary.channel(i);
    const AxisRange r = drawing::range_of(c.envelope);
    if (c.count == 0) return std::string("no numbers");
    if (r.lo == r.hi) return fmt::format("constant, {}{}", number(r.lo), unit_of(part, i));
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

std::string against_truth(const Page& page) {
  if (!page.truth) return "";
  const Part& part = page.truth->sources;
  const Summary& s = part.summary;
  std::string out = "<h2 id=\"truth\">Against the true sources</h2>\n";
  const Words name = names_of(part, "true source");
  const Index shown = std::min(s.channels(), most_rows);
  if (!part.pictures.empty()) {
    out += pictures(part, "mixed", name);
    for (Index i = 0; i < shown; ++i) {
      out += fmt::format("<p><small>{}: {}</small></p>\n", escaped(name(i)), quality_of(*page.truth, i));
    }
    return out;
  }
  out += sounds(part, name);
  out += fmt::format(
      "<figure{}>\n<figcaption>The <span class=\"key true\">true</span> sources, what was "
      "<span class=\"key recovered\">recovered</span> over them, and below the "
      "<span class=\"key residual\">residual</span>, all on one scale; at the right their distributions."
      "{}</figcaption>\n",
      s.channels() > many_rows ? " class=\"many\"" : "", first_only(s.channels(), "sources"));
  for (Index i = 0; i < shown; ++i) out += truth_row(*page.truth, i, name(i));
  return out + "<div class=\"row short axis\"><div class=\"name\"></div>" + stretch(page, s) +
         "<div></div></div>\n</figure>\n";
}

}  // namespace demix::report
