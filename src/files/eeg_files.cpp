#include "demix/eeg_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <map>

#include "demix/electrode_files.hpp"
#include "demix/output_files.hpp"
#include "files/before_fit.hpp"
#include "files/chosen_channels.hpp"

namespace demix {
namespace {

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

std::vector<eeg::Reference> references_of(const io::SignalInfo& info) {
  std::vector<eeg::Reference> out;
  for (std::size_t i = 0; i < info.types.size(); ++i) {
    const bool is_eye = info.types[i] == io::ChannelType::eog;
    if (!is_eye && info.types[i] != io::ChannelType::ecg) continue;
    out.push_back({static_cast<Index>(i),
                   info.names.empty() ? fmt::format("channel {}", i + 1) : info.names[i],
                   is_eye ? eeg::Reference::Kind::eog : eeg::Reference::Kind::ecg});
  }
  return out;
}

// The annotation there is most of, at least 5 times; the first on a tie. Bad stretches and joints are none.
std::string most_frequent(const std::vector<io::Annotation>& annotations) {
  std::map<std::string, int> counts;
  for (const io::Annotation& a : annotations) ++counts[a.text];
  std::string best;
  int most = 4;
  for (const auto& [text, count] : counts) {
    const std::string kind = lower(text);
    if (kind.starts_with("bad") || kind.starts_with("boundary") || kind.starts_with("new segment")) continue;
    if (count > most) {
      best = text;
      most = count;
    }
  }
  return best;
}

eeg::Positions positions_of(const io::SignalInfo& info, const EegOptions& options) {
  if (!options.positions.empty()) {
    return io::positions_of(info.names, io::read_electrodes(options.positions), options.positions.string());
  }
  return eeg::with_standard(info.positions, info.names);
}

bool is_eeg(const io::FileRecording& recording, const eeg::Positions& positions, const EegOptions& options) {
  const io::Kind kind = io::format_of(recording.paths()[0]).kind;
  if (kind == io::Kind::sound || kind == io::Kind::picture || !(recording.info().rate > 0)) return false;
  if (kind == io::Kind::biosignal || !options.positions.empty()) return true;
  const auto known = std::ranges::count_if(positions, [](const auto& p) { return p.has_value(); });
  return known >= 8 && 2 * known > std::ssize(positions);
}

// As a shell takes it for one word.
std::string shell_word(const std::string& text) {
  const bool is_plain = !text.empty() && std::ranges::all_of(text, [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("-_./:,+=@%").find(static_cast<char>(c)) != std::string_view::npos;
  });
  if (is_plain) return text;
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

}  // namespace

void check_positions(const io::FileRecording& file, const EegOptions& options) {
  static_cast<void>(positions_of(file.info(), options));
}

std::optional<EegFaces> eeg_faces(const Model& model, const Recording& frames, const io::FileRecording& file,
                                  const EegOptions& options) {
  const io::SignalInfo& info = file.info();
  const eeg::Positions positions = positions_of(info, options);
  if (!is_eeg(file, positions, options)) return {};
  EegFaces out;
  eeg::RecordingFacts facts;
  facts.rate = info.rate;
  if (const auto channels = channels_of(model, info)) facts.channels = *channels;
  facts.references = references_of(info);
  out.event = most_frequent(info.annotations);
  for (const io::Annotation& a : info.annotations) {
    if (!out.event.empty() && a.text == out.event) facts.events.push_back(std::llround(a.onset * info.rate));
  }
  std::ranges::sort(facts.events);
  out.faces = eeg::faces_of(model, frames, facts);
  for (Index i = 0; i < model.channels(); ++i) {
    const auto at =
        static_cast<std::size_t>(facts.channels.empty() ? i : facts.channels[static_cast<std::size_t>(i)]);
    const bool is_on_scalp = info.types.empty() || info.types[at] == io::ChannelType::eeg ||
                             info.types[at] == io::ChannelType::unknown;
    out.positions.push_back(at < positions.size() && is_on_scalp ? positions[at] : std::nullopt);
  }
  return out;
}

std::optional<std::vector<Index>> channels_of(const Model& model, const io::SignalInfo& info) {
  if (model.names.empty()) return nameless_channels(model, info);
  std::vector<Index> out;
  for (const std::string& name : model.names) {
    const auto found = std::ranges::find(info.names, name);
    if (found == info.names.end()) return {};
    out.push_back(found - info.names.begin());
  }
  return out;
}

std::optional<EegFaces> suggest(Model& model, const io::FileRecording& file, const FilterOptions& filters,
                                const EegOptions& options) {
  FilterOptions same = filters;
  same.decimate = 1;
  Model shown = model;
  if (same.highpass > 0) shown.mean.setZero();  // it is filtered out
  const FilteredRecording smooth(file, design(same, file.info().rate), boundaries_of(file.info()));
  const Recording& frames = same.any() ? static_cast<const Recording&>(smooth) : file;
  std::optional<EegFaces> out = eeg_faces(shown, frames, file, options);
  model.suggestions.clear();
  if (out) model.suggestions = eeg::suggestions(out->faces, out->positions);
  return out;
}

std::vector<Index> named_components(const Model& model, const std::vector<std::string>& names,
                                    std::vector<std::string>* missing) {
  constexpr std::array<std::string_view, 7> known = {"suggested",  "blink",   "eye-movement", "heart",
                                                     "line-noise", "channel", "muscle"};
  std::vector<Index> out;
  for (const std::string& name : names) {
    if (name == "none") continue;
    Index number = 0;
    const auto [end, wrong] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (wrong == std::errc() && end == name.data() + name.size()) {
      if (number < 1 || number > model.components()) {
        throw std::invalid_argument(
            fmt::format("has components 1 to {}, not {}", model.components(), number));
      }
      out.push_back(number - 1);
      continue;
    }
    const std::size_t before = out.size();
    std::string kinds;
    for (const Suggestion& s : model.suggestions) {
      if (s.kind == name || name == "suggested") out.push_back(s.component);
      if (kinds.find(s.kind) == std::string::npos) kinds += (kinds.empty() ? "" : ", ") + s.kind;
    }
    if (out.size() > before) continue;
    const std::string why = kinds.empty() ? "it has no suggestions" : "its suggestions are of " + kinds;
    if (std::ranges::count(known, name) == 0) {
      throw std::invalid_argument(
          fmt::format("suggests no '{}': {}; kinds are {}", name, why, fmt::join(known, ", ")));
    }
    if (missing == nullptr) throw std::invalid_argument(fmt::format("suggests no '{}': {}", name, why));
    missing->push_back(fmt::format("suggests no '{}': {}", name, why));
  }
  std::ranges::sort(out);
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::string removal_command(const Model& model, const std::filesystem::path& model_file,
                            const std::vector<std::filesystem::path>& inputs) {
  std::string numbers;
  for (const Suggestion& s : model.suggestions) {
    numbers += fmt::format("{}{}", numbers.empty() ? "" : ",", s.component + 1);
  }
  std::string text = "demix apply " + shell_word(model_file.string());
  for (const std::filesystem::path& input : inputs) text += " " + shell_word(input.string());
  const bool is_pipe = inputs[0] == "-";
  if (is_pipe) text += " --format csv";
  return text + " --remove " + (numbers.empty() ? "none" : numbers) + " -o " +
         shell_word("clean" + (is_pipe ? ".csv" : io::written_extension(inputs[0])));
}

}  // namespace demix
