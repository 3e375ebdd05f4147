#include "report/eeg_section.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "report/bitmap.hpp"
#include "report/drawing.hpp"
#include "report/eeg_script.hpp"
#include "report/markup.hpp"
#include "report/page_signals.hpp"

namespace demix::report {
namespace {

using markup::escaped;
using markup::number;

constexpr std::size_t most_cards = 128;
constexpr double highest_shown = 60;  // Hz, of a spectrum

// Of what is seen of a map: the disc in its square.
double largest_seen(const Matrix<float>& map) {
  const double half = static_cast<double>(map.rows()) / 2;
  double most = 0;
  for (Index i = 0; i < map.rows(); ++i) {
    for (Index j = 0; j < map.cols(); ++j) {
      const bool is_seen =
          std::hypot(static_cast<double>(i) + 0.5 - half, static_cast<double>(j) + 0.5 - half) <= half;
      if (is_seen && std::isfinite(map(i, j)))
        most = std::max(most, std::abs(static_cast<double>(map(i, j))));
    }
  }
  return most;
}

std::string words_of(std::string kind) {
  std::ranges::replace(kind, '-', ' ');
  return kind;
}

// A head from above, the nose at the top.
std::string head(const Eeg& eeg, const ComponentCard& card, const std::string& name) {
  if (card.map.size() == 0) return "";
  const double r = eeg.map_radius;
  const double edge = std::max(1.16, r) + 0.02;
  std::string dots;
  for (const auto& [x, y] : eeg.electrodes) dots += fmt::format("M{:.3f} {:.3f}h0", x, -y);
  return fmt::format(
      "<svg class=\"map\" role=\"img\" aria-label=\"scalp map of {}\" viewBox=\"{:.3f} {:.3f} {:.3f} "
      "{:.3f}\">"
      "<clipPath id=\"scalp-{}\"><circle r=\"{:.3f}\"/></clipPath>"
      "<image x=\"{:.3f}\" y=\"{:.3f}\" width=\"{:.3f}\" height=\"{:.3f}\" preserveAspectRatio=\"none\" "
      "clip-path=\"url(#scalp-{})\" href=\"{}\"/>"
      "<path class=\"head\" d=\"M-1 0a1 1 0 0 1 2 0a1 1 0 0 1 -2 0M-.13 -.99L0 -1.14L.13 -.99"
      "M-.995 -.12q-.1 -.06 -.11 .12q.01 .18 .11 .12M.995 -.12q.1 -.06 .11 .12q-.01 .18 -.11 .12\"/>"
      "<path class=\"electrodes\" d=\"{}\"/></svg>\n",
      escaped(name), -edge, -edge, 2 * edge, 2 * edge, escaped(name), r, -r, -r, 2 * r, 2 * r, escaped(name),
      bitmap(card.map, largest_seen(card.map)), dots);
}

std::string spectrum(const Eeg& eeg, const ComponentCard& card) {
  std::vector<double> decibels;
  double to = 0;
  for (std::size_t f = 0; f < card.spectrum.size(); ++f) {
    if (eeg.frequencies[f] < 1 || eeg.frequencies[f] > highest_shown) continue;
    decibels.push_back(card.spectrum[f] > 0 ? 10 * std::log10(card.spectrum[f]) : NAN);
    to = eeg.frequencies[f];
  }
  return drawing::traces({{&decibels, "line"}}, drawing::range_of(decibels), "near") +
         fmt::format("<div class=\"ends\"><i>1</i><i>{} Hz</i></div>\n", number(std::round(to)));
}

std::string events(const Eeg& eeg, const ComponentCard& card) {
  if (card.trials.size() == 0) return "";
  std::vector<float> sizes;
  for (Index i = 0; i < card.trials.size(); ++i) {
    if (std::isfinite(card.trials(i))) sizes.push_back(std::abs(card.trials(i)));
  }
  if (sizes.empty()) return "";
  const auto high = sizes.begin() + static_cast<std::ptrdiff_t>(0.98 * static_cast<double>(sizes.size() - 1));
  std::ranges::nth_element(sizes, high);
  const double zero = 100 * -eeg.event_from / (eeg.event_to - eeg.event_from);
  return fmt::format(
             "<div class=\"trials\"><img alt=\"trials about {}\" src=\"{}\"/><b "
             "style=\"left:{:.1f}%\"></b></div>\n",
             escaped(eeg.event), bitmap(card.trials, *high), zero) +
         drawing::traces({{&card.average, "line"}}, drawing::range_of(card.average), "near") +
         fmt::format("<div class=\"ends\"><i>{}</i><i>{} s</i></div>\n", number(eeg.event_from),
                     number(eeg.event_to));
}

std::string card(const Page& page, std::size_t k) {
  const Eeg& eeg = *page.eeg;
  const ComponentCard& c = eeg.cards[k];
  const std::string name = std::to_string(k + 1);
  return fmt::format(
             "<figure class=\"card{}\">\n<figcaption><b>{}</b> {}<small>{:.1f} %, kurtosis {}</small>"
             "</figcaption>\n",
             c.kind.empty() ? "" : " found", name, escaped(words_of(c.kind)), 100 * c.power,
             number(c.kurtosis)) +
         head(eeg, c, name) + spectrum(eeg, c) + events(eeg, c) + "</figure>\n";
}

std::string list(const Matrix<double>& values) {
  std::string out;
  for (Index i = 0; i < values.rows(); ++i) {
    for (Index j = 0; j < values.cols(); ++j)
      out += fmt::format("{}{:.7g}", out.empty() ? "" : ",", values(i, j));
  }
  return out;
}

}  // namespace

std::string suggestions(const Page& page) {
  const Eeg& eeg = *page.eeg;
  std::string found;
  for (std::size_t k = 0; k < eeg.cards.size(); ++k) {
    const ComponentCard& c = eeg.cards[k];
    if (c.kind.empty()) continue;
    found += fmt::format("<li><b>{}</b>: {}, {}</li>\n", k + 1, escaped(words_of(c.kind)), escaped(c.reason));
  }
  return "<h2 id=\"suggestions\">What to remove</h2>\n" +
         (found.empty()
              ? "<p>No component is clearly of the eyes, the heart, muscles, the mains or one bad channel. "
                "Look at the components, and mark what to remove in the table.</p>\n"
              : "<ul class=\"suggestions\">\n" + found +
                    "</ul>\n<p>Rules say so, with the reasons given; look before you follow them, and mark "
                    "others in the table.</p>\n") +
         fmt::format("<pre><code id=\"removal\">{}</code></pre>\n", escaped(eeg.removal));
}

std::string component_cards(const Page& page) {
  const Eeg& eeg = *page.eeg;
  const bool maps = !eeg.cards.empty() && eeg.cards[0].map.size() > 0;
  std::string out =
      maps ? "<h2 id=\"maps\">Scalp maps</h2>\n" : "<h2 id=\"maps\">Components at a glance</h2>\n";
  out += "<p><small>";
  if (maps) {
    out +=
        "The map of each component from above, nose up: red and blue are opposite signs, each on its own "
        "scale; what is between electrodes is a spherical spline. ";
  } else {
    out += "There are no maps, as the places of the electrodes are not known; give --positions. ";
  }
  out += "Below, the spectrum in dB";
  if (!eeg.event.empty()) {
    out += fmt::format(", the trials about “{}” one under the other, and their average", escaped(eeg.event));
  }
  out += fmt::format(
      ".{}</small></p>\n<div class=\"cards\">\n",
      eeg.cards.size() > most_cards ? fmt::format(" Only the first {} are drawn.", most_cards) : "");
  for (const bool found : {true, false}) {
    for (std::size_t k = 0; k < std::min(most_cards, eeg.cards.size()); ++k) {
      if (eeg.cards[k].kind.empty() != found) out += card(page, k);
    }
  }
  return out + "</div>\n";
}

std::string eeg_table(const Page& page) {
  const Eeg& eeg = *page.eeg;
  const auto head_cell = [](const std::string& text, const char* look = "") {
    return fmt::format("<th scope=\"col\"{}><button type=\"button\">{}</button></th>", look, escaped(text));
  };
  std::string out =
      "<h2 id=\"components\">Components</h2>\n<p><small>A click on a title sorts. Marked components are "
      "taken out of the traces below. The kurtosis of a Gaussian is 3; r is the strongest correlation over "
      "lags up to 0.2 s, from 1 to 10 Hz for eyes and 5 to 20 Hz for the heart.</small></p>\n"
      "<div class=\"scroll\"><table id=\"sorted\">\n<thead><tr>" +
      head_cell("remove") + head_cell("component") + head_cell("power %") + head_cell("kurtosis");
  for (const std::string& name : eeg.references) out += head_cell("r " + name);
  out += head_cell("suggestion", " class=\"word\"") + head_cell("strongest on", " class=\"word\"") +
         "</tr></thead>\n<tbody>\n";
  for (std::size_t k = 0; k < eeg.cards.size(); ++k) {
    const ComponentCard& c = eeg.cards[k];
    out += fmt::format(
        "<tr><td data-value=\"{}\"><input type=\"checkbox\" aria-label=\"remove {}\" value=\"{}\"{}/></td>"
        "<th scope=\"row\">{}</th><td>{:.2f}</td><td data-value=\"{:.6g}\">{}</td>",
        c.kind.empty() ? 0 : 1, k + 1, k, c.kind.empty() ? "" : " checked=\"checked\"", k + 1, 100 * c.power,
        c.kurtosis, number(c.kurtosis));
    for (const double r : c.correlations)
      out += fmt::format("<td data-value=\"{:.4f}\">{:.2f}</td>", std::abs(r), r);
    out += fmt::format("<td class=\"word\">{}</td><td class=\"word\">{}</td></tr>\n",
                       escaped(words_of(c.kind)), escaped(c.strongest));
  }
  return out + "</tbody></table></div>\n";
}

std::string viewer(const Page& page) {
  const Viewer& v = page.eeg->viewer;
  if (v.frames.cols() == 0) return "";
  // 16 bits of each channel between its least and its most.
  std::string bytes;
  std::string offsets;
  std::string steps;
  std::string names;
  std::vector<float> step(static_cast<std::size_t>(v.frames.rows()));
  std::vector<float> middle(step.size());
  for (Index i = 0; i < v.frames.rows(); ++i) {
    const auto k = static_cast<std::size_t>(i);
    float lo = 0, hi = 0;
    bool is_first = true;
    for (Index t = 0; t < v.frames.cols(); ++t) {
      const float x = v.frames(i, t);
      if (!std::isfinite(x)) continue;
      lo = is_first ? x : std::min(lo, x);
      hi = is_first ? x : std::max(hi, x);
      is_first = false;
    }
    middle[k] = lo / 2 + hi / 2;
    step[k] = std::max((hi / 2 - lo / 2) / 32000, 1e-30F);
    offsets += fmt::format("{}{:.9g}", i == 0 ? "" : ",", middle[k]);
    steps += fmt::format("{}{:.9g}", i == 0 ? "" : ",", step[k]);
    names += fmt::format("<li>{}</li>", escaped(channel_name(page)(i)));
  }
  bytes.reserve(static_cast<std::size_t>(2 * v.frames.size()));
  for (Index t = 0; t < v.frames.cols(); ++t) {
    for (Index i = 0; i < v.frames.rows(); ++i) {
      const auto k = static_cast<std::size_t>(i);
      const float x = v.frames(i, t);
      const auto n =
          static_cast<std::uint16_t>(std::isfinite(x) ? std::lround((x - middle[k]) / step[k]) : 0);
      bytes += static_cast<char>(n & 0xffU);
      bytes += static_cast<char>(n >> 8U);
    }
  }
  return fmt::format(
             "<h2 id=\"before-after\">Before and after</h2>\n<p><small>{} <span class=\"key before\">As "
             "recorded</span>, and over it <span class=\"key after\">without the components marked above"
             "</span>. Drag to scroll, or Shift and the wheel, or the arrow keys; Ctrl and the wheel, + and "
             "- "
             "zoom.{}</small></p>\n"
             "<div class=\"controls\"><button type=\"button\" data-do=\"back\" aria-label=\"back\">◀</button>"
             "<button type=\"button\" data-do=\"on\" aria-label=\"on\">▶</button>"
             "<button type=\"button\" data-do=\"in\">zoom in</button><button type=\"button\" "
             "data-do=\"out\">zoom out"
             "</button><button type=\"button\" data-do=\"larger\">larger</button>"
             "<button type=\"button\" data-do=\"smaller\">smaller</button>"
             "<label><input type=\"checkbox\" id=\"show-sources\"/> sources</label></div>\n",
             v.is_whole ? "The whole recording." : "A stretch of the recording.",
             v.rate + 1e-9 < page.rate ? fmt::format(" Drawn at {} Hz.", number(v.rate)) : "") +
         fmt::format("<ol id=\"channel-names\" hidden=\"hidden\">{}</ol>\n", names) +
         fmt::format(
             "<div id=\"viewer\" tabindex=\"0\" role=\"img\" aria-label=\"channels before and after\" "
             "data-rate=\"{:.9g}\" data-first=\"{:.9g}\" data-offsets=\"{}\" data-steps=\"{}\" "
             "data-mean=\"{}\" data-mixing=\"{}\" data-unmixing=\"{}\" data-frames=\"{}\"><canvas></canvas>"
             "</div>\n<input id=\"place\" type=\"range\" min=\"0\" max=\"1000\" value=\"0\" "
             "aria-label=\"place in the recording\"/>\n",
             v.rate, v.first, offsets, steps, list(v.mean), list(v.mixing), list(v.unmixing),
             markup::base64(bytes));
}

std::string eeg_script() { return fmt::format("<script>//<![CDATA[\n{}//]]></script>\n", eeg_script_text); }

}  // namespace demix::report
