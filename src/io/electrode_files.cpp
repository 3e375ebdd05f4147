#include "demix/electrode_files.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <numbers>
#include <set>
#include <sstream>

#include "demix/io.hpp"

namespace demix::io {
namespace fs = std::filesystem;
namespace {

using Words = std::vector<std::string>;
constexpr double usual_radius = 0.095;  // metres

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

std::optional<double> number(const std::string& word) {
  char* end = nullptr;
  const double value = std::strtod(word.c_str(), &end);
  const bool whole = !word.empty() && end == word.c_str() + word.size();
  return whole && std::isfinite(value) && std::abs(value) < 1e6 ? std::optional(value) : std::nullopt;
}

// Lines as words, with their numbers, and what went wrong with one.
class Lines {
 public:
  explicit Lines(const fs::path& file) : name_(file.string()) {
    std::string text = read_file(file);
    if (text.starts_with("\xef\xbb\xbf")) text.erase(0, 3);
    std::replace(text.begin(), text.end(), '\r', '\n');
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) text_.push_back(line);
  }

  std::size_t count() const { return text_.size(); }
  const std::string& text(std::size_t i) const { return text_[i]; }
  Words words(std::size_t i) const {
    std::istringstream in(text_[i]);
    Words out;
    for (std::string word; in >> word;) out.push_back(word);
    return out;
  }
  Error wrong(std::size_t i, const std::string& what) const {
    return Error(name_ + ": line " + std::to_string(i + 1) + ": " + what);
  }
  Error wrong(const std::string& what) const { return Error(name_ + ": " + what); }

  std::array<double, 3> point(std::size_t i, const Words& words, std::size_t first) const {
    std::array<double, 3> p{};
    for (std::size_t k = 0; k < 3; ++k) {
      const auto value = first + k < words.size() ? number(words[first + k]) : std::nullopt;
      if (!value) throw wrong(i, "expected x, y and z as numbers");
      p[k] = *value;
    }
    return p;
  }

 private:
  std::string name_;
  std::vector<std::string> text_;
};

double length(const std::array<double, 3>& p) { return std::hypot(p[0], p[1], p[2]); }

// `unit`: in metres; 0 = not known: heads measure about 0.1 m, 10 cm, 100 mm, or 1 where they are a sphere.
void to_metres(std::vector<Electrode>& all, double unit, const Lines& lines) {
  std::vector<double> sizes;
  for (const Electrode& e : all) sizes.push_back(length(e.position));
  if (sizes.empty()) throw lines.wrong("holds no electrodes");
  std::ranges::nth_element(sizes, sizes.begin() + std::ssize(sizes) / 2);
  const double size = sizes[sizes.size() / 2];
  if (unit == 0) unit = size < 0.3 ? 1 : size < 2 ? usual_radius / size : size < 30 ? 0.01 : 0.001;
  if (!(size * unit > 0.02 && size * unit < 0.5)) {
    throw lines.wrong("its positions are not those of a head: most are " + std::to_string(size) +
                      " from the origin");
  }
  for (Electrode& e : all) {
    for (double& x : e.position) x *= unit;
  }
}

// Number, degrees to the right of the nose, distance from the vertex (0.5 = 90 degrees), label.
std::vector<Electrode> read_loc(const Lines& lines) {
  std::vector<Electrode> out;
  for (std::size_t i = 0; i < lines.count(); ++i) {
    const Words words = lines.words(i);
    if (words.empty()) continue;
    const auto angle = words.size() >= 4 ? number(words[1]) : std::nullopt;
    const auto radius = words.size() >= 4 ? number(words[2]) : std::nullopt;
    if (!angle || !radius) throw lines.wrong(i, "expected a number, an angle, a radius and a label");
    const double from_nose = *angle * std::numbers::pi / 180;
    const double from_top = *radius * std::numbers::pi;
    std::string name = words[3];
    while (name.size() > 1 && name.back() == '.') name.pop_back();
    out.push_back(
        {name,
         {usual_radius * std::sin(from_top) * std::sin(from_nose),
          usual_radius * std::sin(from_top) * std::cos(from_nose), usual_radius * std::cos(from_top)}});
  }
  to_metres(out, 1, lines);
  return out;
}

std::vector<Electrode> read_sfp(const Lines& lines) {
  std::vector<Electrode> out;
  for (std::size_t i = 0; i < lines.count(); ++i) {
    const Words words = lines.words(i);
    if (words.empty()) continue;
    const auto point = lines.point(i, words, 1);
    if (lower(words[0]) != "headshape") out.push_back({words[0], point});
  }
  to_metres(out, 0, lines);
  return out;
}

// "Positions" and a line for each, "name : x y z" or "x y z"; the names of these follow after "Labels".
std::vector<Electrode> read_elc(const Lines& lines) {
  std::vector<Electrode> out;
  double unit = 0;
  std::size_t named = 0;
  enum class Part { head, positions, labels, rest } part = Part::head;
  for (std::size_t i = 0; i < lines.count(); ++i) {
    Words words = lines.words(i);
    if (words.empty() || words[0].starts_with('#')) continue;
    const std::string key = lower(words[0]);
    if (key == "unitposition") {
      static const std::map<std::string, double> units = {{"m", 1}, {"cm", 0.01}, {"mm", 0.001}};
      const auto found = units.find(words.size() > 1 ? lower(words[1]) : "");
      if (found == units.end()) throw lines.wrong(i, "expected m, cm or mm");
      unit = found->second;
    } else if (key == "positions") {
      part = Part::positions;
    } else if (key == "labels") {
      part = Part::labels;
    } else if (key.starts_with("numberhsh") || key == "headshapepoints") {
      part = Part::rest;
    } else if (part == Part::positions) {
      const auto colon = std::ranges::find(words, ":");
      const bool has_name = colon != words.end() && colon != words.begin();
      const std::size_t first = has_name ? static_cast<std::size_t>(colon - words.begin()) + 1 : 0;
      out.push_back({has_name ? words[0] : "", lines.point(i, words, first)});
    } else if (part == Part::labels) {
      for (const std::string& word : words) {
        if (named < out.size()) out[named].name = word;
        ++named;
      }
    }
  }
  if (named > 0 && named != out.size()) {
    throw lines.wrong("has " + std::to_string(out.size()) + " positions and " + std::to_string(named) +
                      " labels");
  }
  to_metres(out, unit, lines);
  return out;
}

// What coordsystem.json says: the unit in metres (0 = not told), and whether x is to the nose, y to the left.
struct System {
  double unit = 0;
  bool x_to_nose = false;
};

System read_system(const fs::path& beside) {
  System out;
  const auto json = nlohmann::json::parse(read_file(beside), nullptr, false);
  if (!json.is_object()) throw Error(beside.string() + ": not JSON");
  const auto text = [&](const char* key) {
    return json.contains(key) && json[key].is_string() ? lower(json[key].get<std::string>()) : "";
  };
  const std::string unit = text("EEGCoordinateUnits");
  out.unit = unit == "m" ? 1 : unit == "cm" ? 0.01 : unit == "mm" ? 0.001 : 0;
  const std::string system = text("EEGCoordinateSystem");
  out.x_to_nose =
      std::set<std::string>{"ctf", "4dbti", "kityokogawa"}.contains(system) || system.starts_with("eeglab");
  return out;
}

std::optional<fs::path> system_beside(const fs::path& file) {
  const std::string name = file.filename().string();
  const auto at = name.rfind("electrodes.tsv");
  if (at == std::string::npos) return {};
  const fs::path beside = file.parent_path() / (name.substr(0, at) + "coordsystem.json");
  std::error_code ignored;
  return fs::exists(beside, ignored) ? std::optional(beside) : std::nullopt;
}

std::vector<Electrode> read_bids(const Lines& lines, const fs::path& file) {
  const auto cells = [&](std::size_t i) {
    Words out(1);
    for (const char c : lines.text(i)) {
      if (c == '\t') {
        out.emplace_back();
      } else {
        out.back().push_back(c);
      }
    }
    return out;
  };
  if (lines.count() == 0) throw lines.wrong("is empty");
  const Words head = cells(0);
  std::array<std::size_t, 4> column{};
  const std::array<const char*, 4> wanted = {"name", "x", "y", "z"};
  for (std::size_t k = 0; k < 4; ++k) {
    const auto found = std::ranges::find(head, wanted[k]);
    if (found == head.end()) throw lines.wrong(0, std::string("has no column ") + wanted[k]);
    column[k] = static_cast<std::size_t>(found - head.begin());
  }
  const std::optional<fs::path> beside = system_beside(file);
  const System system = beside ? read_system(*beside) : System{};
  std::vector<Electrode> out;
  for (std::size_t i = 1; i < lines.count(); ++i) {
    const Words row = cells(i);
    if (row.size() == 1 && row[0].empty()) continue;
    if (row.size() != head.size()) throw lines.wrong(i, "expected as many columns as in the first line");
    const Words place = {row[column[1]], row[column[2]], row[column[3]]};
    if (std::ranges::all_of(place, [](const std::string& s) { return s == "n/a"; })) continue;
    auto p = lines.point(i, place, 0);
    if (system.x_to_nose) p = {-p[1], p[0], p[2]};
    out.push_back({row[column[0]], p});
  }
  to_metres(out, system.unit, lines);
  return out;
}

}  // namespace

std::vector<Electrode> read_electrodes(const fs::path& file) {
  const std::string kind = lower(file.extension().string());
  if (!std::set<std::string>{".loc", ".locs", ".eloc", ".elc", ".sfp", ".tsv"}.contains(kind)) {
    throw Error(file.string() + ": not a known file of electrodes; expected .loc, .locs, .elc, .sfp or .tsv");
  }
  const Lines lines(file);
  if (kind == ".elc") return read_elc(lines);
  if (kind == ".sfp") return read_sfp(lines);
  return kind == ".tsv" ? read_bids(lines, file) : read_loc(lines);
}

std::vector<fs::path> electrode_paths(const fs::path& file) {
  std::vector<fs::path> paths{file};
  if (const auto beside = system_beside(file)) paths.push_back(*beside);
  return paths;
}

std::vector<std::optional<std::array<double, 3>>> positions_of(const std::vector<std::string>& names,
                                                               const std::vector<Electrode>& electrodes,
                                                               const std::string& file) {
  std::map<std::string, std::array<double, 3>> known;
  for (const Electrode& e : electrodes) known.emplace(lower(e.name), e.position);
  std::vector<std::optional<std::array<double, 3>>> out;
  bool is_any = false;
  for (const std::string& name : names) {
    const auto found = known.find(lower(name));
    out.push_back(found == known.end() ? std::nullopt : std::optional(found->second));
    is_any = is_any || out.back();
  }
  if (!is_any) throw Error(file + ": none of its electrodes has the name of a channel");
  return out;
}

}  // namespace demix::io
