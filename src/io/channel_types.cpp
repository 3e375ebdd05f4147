#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <utility>

#include "demix/channels.hpp"

namespace demix::io {
namespace {

constexpr std::array<std::string_view, 7> type_names = {"unknown", "eeg",  "eog",   "ecg",
                                                        "emg",     "misc", "status"};

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

// The letters a name begins with.
std::string_view letters(std::string_view name) {
  std::size_t end = 0;
  while (end < name.size() && std::isalpha(static_cast<unsigned char>(name[end])) != 0) ++end;
  return name.substr(0, end);
}

// An electrode of the 10-05 system: letters, then z or a number from 1 to 10, then perhaps h. The dots are
// what some programs fill labels with.
bool is_electrode(std::string_view name) {
  constexpr std::array<std::string_view, 34> places = {
      "nz",  "n",   "fp", "afp", "af",  "aff", "f",  "ff", "ffc", "fft", "fc", "ft",
      "fcc", "ftt", "c",  "t",   "ccp", "ttp", "cp", "tp", "cpp", "tpp", "p",  "ppo",
      "po",  "poo", "o",  "oi",  "i",   "a",   "m",  "iz", "oz",  "tt"};
  while (!name.empty() && name.back() == '.') name.remove_suffix(1);
  if (name.ends_with('h')) name.remove_suffix(1);
  std::string_view place = name;
  if (name.ends_with('z')) {
    place.remove_suffix(1);
  } else {
    std::size_t digits = 0;
    while (digits < 2 && !place.empty() && place.back() >= '0' && place.back() <= '9') {
      place.remove_suffix(1);
      ++digits;
    }
    const std::string_view number = name.substr(place.size());
    if (digits == 0 || number.front() == '0' || (digits == 2 && number != "10")) return false;
  }
  return std::ranges::count(places, place) > 0;
}

}  // namespace

std::string_view type_name(ChannelType type) { return type_names[static_cast<std::size_t>(type)]; }

std::optional<ChannelType> type_named(std::string_view word) {
  constexpr std::array<std::pair<std::string_view, ChannelType>, 27> words = {
      {{"eeg", ChannelType::eeg},         {"eog", ChannelType::eog},
       {"veog", ChannelType::eog},        {"heog", ChannelType::eog},
       {"ecg", ChannelType::ecg},         {"ekg", ChannelType::ecg},
       {"emg", ChannelType::emg},         {"misc", ChannelType::misc},
       {"resp", ChannelType::misc},       {"respiration", ChannelType::misc},
       {"temp", ChannelType::misc},       {"gsr", ChannelType::misc},
       {"eda", ChannelType::misc},        {"bio", ChannelType::misc},
       {"aux", ChannelType::misc},        {"sao2", ChannelType::misc},
       {"ppg", ChannelType::misc},        {"pulse", ChannelType::misc},
       {"audio", ChannelType::misc},      {"status", ChannelType::status},
       {"stim", ChannelType::status},     {"sti", ChannelType::status},
       {"trig", ChannelType::status},     {"trigger", ChannelType::status},
       {"triggers", ChannelType::status}, {"marker", ChannelType::status},
       {"markers", ChannelType::status}}};
  const std::string name = lower(word);
  const auto found = std::ranges::find(words, std::string_view(name), [](const auto& w) { return w.first; });
  if (found == words.end()) return {};
  return found->second;
}

ChannelType type_of_name(std::string_view name) {
  const std::string low = lower(name);
  std::string_view text = low;
  const std::string_view word = letters(text);
  if (const auto type = type_named(word)) return *type;
  if (text.starts_with("sao2") || text.starts_with("spo2")) return ChannelType::misc;
  // "Fp1-Ref", "Fp1-A2": what stands before the reference.
  if (is_electrode(text.substr(0, text.find('-')))) return ChannelType::eeg;
  if (word == "loc" || word == "roc") return ChannelType::eog;
  // "HEOGL", "VEOGb", "EOGre", "HEO", "VEOU": the rest is a side.
  for (const std::string_view eye : {"eog", "heo", "veo"}) {
    if (word.starts_with(eye)) return ChannelType::eog;
  }
  return ChannelType::unknown;
}

}  // namespace demix::io
