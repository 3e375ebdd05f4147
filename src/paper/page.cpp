#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "demix/paper.hpp"
#include "demix/version.hpp"
#include "report/markup.hpp"
#include "report/page_style.hpp"

/// What was made, as a page, as JSON and as CSV, and against what was expected.
namespace demix::paper {
namespace {

using Json = nlohmann::ordered_json;
using report::markup::escaped;

constexpr std::string_view more_style = R"css(
.item img { display: block; width: min(100%, 32rem); height: auto; background: #fff; border-radius: 2px; }
.item figure { margin: .8rem 0; break-inside: avoid; }
.item dl { margin: .4rem 0 .8rem; max-width: 52rem; }
)css";

std::string table_html(const Table& table) {
  std::string html = "<div class=\"scroll\"><table><thead><tr>";
  for (const std::string& c : table.columns) html += "<th class=\"word\">" + escaped(c) + "</th>";
  html += "</tr></thead><tbody>";
  for (const auto& row : table.rows) {
    html += "<tr>";
    for (const std::string& cell : row) html += "<td class=\"word\">" + escaped(cell) + "</td>";
    html += "</tr>";
  }
  html += "</tbody></table></div>\n";
  if (!table.length.empty()) html += fmt::format("<p><small>{}</small></p>\n", escaped(table.length));
  return html;
}

std::string item_html(const Made& made) {
  const Item& item = *made.item;
  const Result& r = made.result;
  std::string html =
      fmt::format("<section class=\"item\" id=\"{0}\"><h2>{1}</h2>\n<dl>", item.name, escaped(item.title));
  const auto fact = [&](const char* what, std::string_view text) {
    if (!text.empty()) html += fmt::format("<dt>{}</dt><dd>{}</dd>", what, escaped(text));
  };
  fact("The paper says", item.says);
  fact("Lambda", item.lambda);
  fact("Measured", r.measured);
  fact("They differ", r.differs);
  fact("Data", r.data);
  html += fmt::format("<dt>Again</dt><dd><code>demix reproduce {}</code></dd></dl>\n", item.name);
  for (const Figure& p : r.pictures) {
    html += fmt::format(
        "<figure><img src=\"{0}.svg\" alt=\"{1}\" loading=\"lazy\"/><figcaption>{1} <a "
        "href=\"{0}.png\">PNG</a> <a href=\"{0}.svg\">SVG</a></figcaption></figure>\n",
        p.name, escaped(p.caption));
  }
  constexpr std::size_t most_rows = 16;  // longer ones are for programs
  for (const Table& t : r.tables) {
    if (t.rows.size() <= most_rows) html += table_html(t);
    html += fmt::format("<p><small><a href=\"{0}.csv\">{0}.csv</a></small></p>\n", t.name);
  }
  return html + "</section>\n";
}

// What a number should be, for data of which `data` is a part.
struct Expected {
  std::string data;
  double value = 0, allowed = 0;
};

std::invalid_argument not_expected(const std::string& what) {
  return std::invalid_argument("not expected numbers: " + what);
}

Expected expected_of(const Json& entry, const std::string& key) {
  const auto number = [&](const char* name) { return entry.contains(name) && entry[name].is_number(); };
  const bool diverges = entry.is_object() && entry.contains("value") && entry["value"].is_string();
  if (!entry.is_object() || !(diverges || number("value")) || !(number("absolute") || number("tolerance")) ||
      (entry.contains("data") && !entry["data"].is_string())) {
    throw not_expected(key + R"( has no "value" with a "tolerance" or "absolute" that is a number)");
  }
  Expected e;
  e.data = entry.value("data", "");
  e.value = diverges ? std::numeric_limits<double>::infinity() : entry["value"].get<double>();
  e.allowed = number("absolute") ? entry["absolute"].get<double>()
                                 : entry["tolerance"].get<double>() * std::abs(e.value);
  return e;
}

std::map<std::string, std::vector<Expected>> read_expected(const std::string& text, bool quick) {
  const char* part = quick ? "quick" : "full";
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) throw not_expected("not JSON");
  if (!json.is_object() || !json.contains(part) || !json[part].is_object()) {
    throw not_expected(fmt::format("no \"{}\" with names and values", part));
  }
  std::map<std::string, std::vector<Expected>> all;
  for (const auto& [key, entries] : json[part].items()) {
    if (!entries.is_array()) all[key].push_back(expected_of(entries, key));
    for (std::size_t k = 0; entries.is_array() && k < entries.size(); ++k)
      all[key].push_back(expected_of(entries[k], key));
  }
  return all;
}

}  // namespace

std::string to_csv(const Table& table) {
  const auto line = [&](std::vector<std::string> cells, const std::string& length) {
    if (!table.length.empty()) cells.push_back(length);
    std::string text;
    for (const std::string& cell : cells) {
      const bool quoted = cell.find_first_of(",\"\n") != std::string::npos;
      std::string shown = cell;
      for (std::size_t at = 0; quoted && (at = shown.find('"', at)) != std::string::npos; at += 2)
        shown.insert(at, 1, '"');
      text += (text.empty() ? "" : ",") + (quoted ? '"' + shown + '"' : shown);
    }
    return text + "\n";
  };
  std::string csv = line(table.columns, "length");
  for (const auto& row : table.rows) csv += line(row, table.length);
  return csv;
}

std::string to_json(const std::vector<Made>& made, bool quick) {
  Json json = {{"version", version}, {"quick", quick}};
  for (const Made& m : made) {
    Json item = {{"title", m.item->title}, {"paper", m.item->says}, {"measured", m.result.measured}};
    if (!m.result.differs.empty()) item["differs"] = m.result.differs;
    if (!m.result.length.empty()) item["length"] = m.result.length;
    if (!m.result.data.empty()) item["data"] = m.result.data;
    for (const Number& n : m.result.numbers) {
      item["numbers"][n.name] = std::isfinite(n.value) ? Json(n.value) : Json("diverged");
    }
    json["items"][std::string(m.item->name)] = item;
  }
  return json.dump(1) + "\n";
}

std::string to_html(const std::vector<Made>& made, bool quick, const std::string& command) {
  std::string html =
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
      "<title>SM-ICA, reproduced</title>\n<style>";
  html += report::page_style;
  html += more_style;
  html +=
      "</style></head><body>\n<h1>A normative and biologically plausible algorithm for independent component "
      "analysis, reproduced</h1>\n";
  html +=
      "<p>Bahroun, Chklovskii and Sengupta, NeurIPS 2021: every figure and table made again from fixed "
      "seeds, with what the paper says, what was measured, and where the two differ. A run has separated "
      "when its mean squared error per source of variance 1 is below 0.05.</p>\n";
  html +=
      "<p>The speech is from the TSP database (P. Kabal, McGill University, "
      "mmsp.ece.mcgill.ca/Documents/Data), the paper's pictures from research.ics.aalto.fi/ica/data/images; "
      "they are looked for in the folder that $DEMIX_DATA names, and generated stand-ins of similar kurtosis "
      "are used, and labelled, where they are not found.</p>\n";
  if (quick) {
    html +=
        "<p class=\"warnings\">Made with --quick: fewer and shorter runs, so the numbers are rough, and say "
        "nothing for or against the paper. Each item says how long its runs were.</p>\n";
  }
  html += "<nav>";
  for (const Made& m : made) html += fmt::format("<a href=\"#{0}\">{0}</a> ", m.item->name);
  html += "</nav>\n";
  for (const Made& m : made) html += item_html(m);
  html += fmt::format(
      "<p><small>demix {}, made by <code>{}</code>. All numbers: <a "
      "href=\"numbers.json\">numbers.json</a>.</small></p>\n"
      "</body></html>\n",
      version, escaped(command));
  return html;
}

std::vector<std::string> check(const std::vector<Made>& made, bool quick, const std::string& expected) {
  const auto all = read_expected(expected, quick);
  std::vector<std::string> off;
  for (const Made& m : made) {
    for (const Number& n : m.result.numbers) {
      const std::string key = fmt::format("{}.{}", m.item->name, n.name);
      const auto entries = all.find(key);
      if (entries == all.end()) {
        off.push_back(fmt::format("{}: {:.6g}, nothing expected", key, n.value));
        continue;
      }
      const auto e = std::ranges::find_if(entries->second, [&](const Expected& one) {
        return m.result.data.find(one.data) != std::string::npos;
      });
      if (e == entries->second.end() || n.value == e->value || std::abs(n.value - e->value) <= e->allowed)
        continue;
      off.push_back(
          fmt::format("{}: {:.6g}, expected {:.6g} within {:.2g}", key, n.value, e->value, e->allowed));
    }
  }
  return off;
}

}  // namespace demix::paper
