#include <nlohmann/json.hpp>

#include <array>
#include <cstdio>
#include <string>
#include <utility>

#include "core/checksum.hpp"
#include "demix/amica.hpp"
#include "demix/io.hpp"
#include "demix/signal_files.hpp"

/// The model as one JSON file: readable anywhere, with a checksum so that a damaged one is refused.
namespace demix::io {
namespace {

using nlohmann::ordered_json;

constexpr const char* format = "demix-model";
constexpr int format_version = 1;

constexpr std::array<std::pair<Warning::Kind, const char*>, 12> warning_kinds{
    {{Warning::Kind::unresolved, "unresolved"},
     {Warning::Kind::gaussian, "gaussian"},
     {Warning::Kind::reduced_rank, "reduced_rank"},
     {Warning::Kind::few_samples, "few_samples"},
     {Warning::Kind::not_converged, "not_converged"},
     {Warning::Kind::refused_frames, "refused_frames"},

     {Warning::Kind::convolved, "convolved"},
     {Warning::Kind::dependent, "dependent"},
     {Warning::Kind::glitches, "glitches"},
     {Warning::Kind::drift, "drift"},
     {Warning::Kind::clipped, "clipped"},
     {Warning::Kind::unstable, "unstable"}}};

// Bytes that are no UTF-8 (a channel name in some old encoding) are replaced, not refused.
std::string text_of(const ordered_json& json, int indent) {
  return json.dump(indent, ' ', false, ordered_json::error_handler_t::replace);
}

// Of the text of everything else
std::string checksum_text(const ordered_json& json) {
  std::array<char, 17> hex{};
  std::snprintf(hex.data(), hex.size(), "%016llx",
                static_cast<unsigned long long>(demix::checksum(text_of(json, -1))));
  return hex.data();
}

ordered_json rows_of(const Matrix<double>& m) {
  ordered_json rows = ordered_json::array();
  for (Index i = 0; i < m.rows(); ++i) {
    ordered_json row = ordered_json::array();
    for (Index j = 0; j < m.cols(); ++j) row.push_back(m(i, j));
    rows.push_back(std::move(row));
  }
  return rows;
}

ordered_json list_of(const Vector<double>& v) { return std::vector<double>(v.data(), v.data() + v.size()); }

Vector<double> vector_from(const ordered_json& json) {
  const auto values = json.get<std::vector<double>>();
  return Eigen::Map<const Vector<double>>(values.data(), static_cast<Index>(values.size()));
}

Matrix<double> matrix_from(const ordered_json& json) {
  const auto rows = json.get<std::vector<std::vector<double>>>();
  Matrix<double> m(static_cast<Index>(rows.size()), rows.empty() ? 0 : static_cast<Index>(rows[0].size()));
  for (Index i = 0; i < m.rows(); ++i) {
    const auto& row = rows[static_cast<std::size_t>(i)];
    if (static_cast<Index>(row.size()) != m.cols())
      throw std::invalid_argument("a matrix has rows of different length");
    for (Index j = 0; j < m.cols(); ++j) m(i, j) = row[static_cast<std::size_t>(j)];
  }
  return m;
}

// What JSON calls a number may be far beyond an integer.
std::int64_t count_from(const ordered_json& json) {
  if (!json.is_number_unsigned() || json.get<std::uint64_t>() >= (std::uint64_t{1} << 62))
    throw std::invalid_argument("a count is not a whole number");
  return json.get<std::int64_t>();
}

ordered_json diagnosis_json(const Diagnosis& d) {
  ordered_json json;
  if (d.crosstalk) {
    json["crosstalk"] = {{"expected", d.crosstalk->expected},
                         {"bound", d.crosstalk->bound},
                         {"pairs", rows_of(d.crosstalk->pairs)}};
  } else {
    json["crosstalk"] = nullptr;
    json["no_crosstalk"] = d.no_crosstalk;
  }
  if (d.coherence.size() > 0) json["coherence"] = rows_of(d.coherence);
  if (d.magnitudes.size() > 0) json["magnitudes"] = rows_of(d.magnitudes);
  return json;
}

Diagnosis diagnosis_from(const ordered_json& json) {
  Diagnosis d;
  if (const ordered_json& c = json.at("crosstalk"); !c.is_null()) {
    d.crosstalk = {c.at("expected").get<double>(), c.at("bound").get<double>(), matrix_from(c.at("pairs"))};
  } else {
    d.no_crosstalk = json.at("no_crosstalk").get<std::string>();
  }
  if (json.contains("coherence")) d.coherence = matrix_from(json["coherence"]);
  if (json.contains("magnitudes")) d.magnitudes = matrix_from(json["magnitudes"]);
  return d;
}

std::vector<Index> counts_from(const ordered_json& json) {
  std::vector<Index> counts;
  for (const auto& count : json) counts.push_back(count_from(count));
  return counts;
}

}  // namespace

std::string to_json(const Model& model) {
  model.validate();
  ordered_json json;
  json["format"] = format;
  json["format_version"] = format_version;
  json["version"] = model.version;
  json["method"] = model.method;
  json["options"] = model.options;
  json["samples"] = model.samples;
  json["names"] = model.names;
  json["kurtosis"] = list_of(model.kurtosis);
  if (model.stability.size() > 0) json["stability"] = list_of(model.stability);
  if (model.convergence.has_steps()) {
    json["convergence"] = {{"converged", model.convergence.converged},
                           {"iterations", model.convergence.iterations},
                           {"objective", model.convergence.objective}};
  }
  json["mean"] = list_of(model.mean);
  json["unmixing"] = rows_of(model.unmixing);
  json["mixing"] = rows_of(model.mixing);
  json["diagnosis"] = diagnosis_json(model.diagnosis);
  json["warnings"] = ordered_json::array();
  for (const Warning& w : model.warnings) {
    const char* kind = "?";
    for (const auto& [value, text] : warning_kinds) {
      if (value == w.kind) kind = text;
    }
    json["warnings"].push_back({{"kind", kind}, {"text", w.text}, {"components", w.components}});
    if (!w.frames.empty()) json["warnings"].back()["frames"] = w.frames;
  }
  for (const Suggestion& s : model.suggestions) {
    json["suggestions"].push_back({{"component", s.component}, {"kind", s.kind}, {"reason", s.reason}});
  }
  json["checksum"] = checksum_text(json);
  return text_of(json, 1) + "\n";
}

Model parse_model(std::string_view text, const std::string& name) {
  const auto refuse = [&](const std::string& why) { return Error(name + ": " + why); };
  // Writing JSON, for the checksum, recurses: deeper than any model would end the stack.
  const auto not_deep = [&](int depth, ordered_json::parse_event_t, ordered_json&) {
    if (depth > 16) throw refuse("not a demix model");
    return true;
  };
  ordered_json json = ordered_json::parse(text, not_deep, false);
  if (json.is_discarded()) throw refuse("not a model, or damaged: the JSON is broken or cut off");
  try {
    if (!json.is_object() || !json.contains("format") || json["format"] != format)
      throw refuse("not a demix model");
    if (json.at("format_version") != format_version) {
      throw refuse("model format " + json.at("format_version").dump() +
                   " is not the one this program understands (" + std::to_string(format_version) +
                   "); update demix");
    }
    const std::string stated = json.at("checksum").get<std::string>();
    json.erase("checksum");
    if (checksum_text(json) != stated) throw refuse("damaged: the checksum does not match its contents");
    Model model;
    model.version = json.at("version").get<std::string>();
    model.method = json.at("method").get<std::string>();
    model.options = json.at("options").get<std::map<std::string, std::string>>();
    model.samples = count_from(json.at("samples"));
    model.names = json.at("names").get<std::vector<std::string>>();
    model.kurtosis = vector_from(json.at("kurtosis"));
    if (json.contains("stability")) model.stability = vector_from(json["stability"]);
    if (json.contains("convergence")) {
      const ordered_json& c = json["convergence"];
      model.convergence = {c.at("converged").get<bool>(), count_from(c.at("iterations")),
                           c.at("objective").get<std::vector<double>>()};
    }
    if (json.contains("diagnosis")) model.diagnosis = diagnosis_from(json["diagnosis"]);
    model.mean = vector_from(json.at("mean"));
    model.unmixing = matrix_from(json.at("unmixing"));
    model.mixing = matrix_from(json.at("mixing"));
    for (const auto& w : json.at("warnings")) {
      for (const auto& [value, kind] : warning_kinds) {
        if (w.at("kind") == kind) {
          Warning warning{value, w.at("text").get<std::string>(), counts_from(w.at("components"))};
          if (w.contains("frames")) warning.frames = counts_from(w["frames"]);
          model.warnings.push_back(std::move(warning));
        }
      }
    }
    if (json.contains("suggestions")) {
      for (const auto& s : json["suggestions"]) {
        model.suggestions.push_back({count_from(s.at("component")), s.at("kind").get<std::string>(),
                                     s.at("reason").get<std::string>()});
      }
    }
    model.validate();
    return model;
  } catch (const nlohmann::json::exception&) {
    throw refuse("damaged: a field is missing, or does not hold what it should");
  } catch (const std::invalid_argument& e) {
    throw refuse(std::string("damaged: ") + e.what());
  }
}

namespace {

bool is_dataset(const std::filesystem::path& path) {
  return is_supported(path) && format_of(path).name == "EEGLAB";
}

}  // namespace

std::vector<std::filesystem::path> model_paths(const std::filesystem::path& path) {
  if (is_amica(path)) return amica_paths(path);
  if (is_dataset(path)) return FileRecording({path}).files();
  return {path};
}

Model load_model(const std::filesystem::path& path) {
  if (is_amica(path)) return read_amica(path);
  if (is_dataset(path)) {
    const auto ica = open_signals(path)->info().ica;
    if (!ica) throw Error(path.string() + ": holds no ICA; a model is expected");
    return *ica;
  }
  return parse_model(read_file(path), path.string());
}

void save_model(const std::filesystem::path& path, const Model& model) { write_file(path, to_json(model)); }

}  // namespace demix::io
