#include "files/chosen_channels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <numeric>
#include <stdexcept>

namespace demix {
namespace {

// * is any text, ? any character.
bool matches(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern[0] == '*') {
    return matches(pattern.substr(1), text) || (!text.empty() && matches(pattern, text.substr(1)));
  }
  const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  return !text.empty() && (pattern[0] == '?' || lower(pattern[0]) == lower(text[0])) &&
         matches(pattern.substr(1), text.substr(1));
}

io::ChannelType type_of(const io::SignalInfo& info, Index channel) {
  return info.types.empty() ? io::ChannelType::unknown : info.types[static_cast<std::size_t>(channel)];
}

std::string listed(const io::SignalInfo& info) {
  constexpr Index most = 12;
  std::string text;
  for (Index i = 0; i < std::min(info.channels, most); ++i)
    text += (i == 0 ? "" : ", ") + channel_name(info, i);
  return text + (info.channels > most ? ", ..." : "");
}

bool is_of(const std::string& term, const io::SignalInfo& info, Index channel) {
  if (term == "all" || matches(term, channel_name(info, channel))) return true;
  const auto type = io::type_named(term);
  return type && io::type_name(*type) == term && *type == type_of(info, channel);
}

std::vector<bool> marked(const std::vector<std::string>& terms, const io::SignalInfo& info,
                         const char* option) {
  std::vector<bool> marks(static_cast<std::size_t>(info.channels), false);
  for (const std::string& term : terms) {
    bool any = false;
    for (Index i = 0; i < info.channels; ++i) {
      if (!is_of(term, info, i)) continue;
      marks[static_cast<std::size_t>(i)] = any = true;
    }
    if (!any) {
      throw std::invalid_argument(fmt::format("{}: no channel is of the type or name '{}'; there are {}",
                                              option, term, listed(info)));
    }
  }
  return marks;
}

}  // namespace

std::string channel_name(const io::SignalInfo& info, Index channel) {
  const auto i = static_cast<std::size_t>(channel);
  return info.names.empty() || info.names[i].empty() ? fmt::format("channel {}", channel + 1) : info.names[i];
}

std::vector<Index> chosen_channels(const io::SignalInfo& info, io::Kind kind,
                                   const std::vector<std::string>& pick,
                                   const std::vector<std::string>& exclude) {
  std::vector<bool> wanted(static_cast<std::size_t>(info.channels), true);
  if (!pick.empty()) {
    wanted = marked(pick, info, "pick");
  } else if (kind == io::Kind::biosignal) {
    const bool has_eeg = std::ranges::count(info.types, io::ChannelType::eeg) > 0;
    for (Index i = 0; i < info.channels; ++i) {
      const io::ChannelType type = type_of(info, i);
      const bool is_signal = type == io::ChannelType::eeg || type == io::ChannelType::unknown;
      wanted[static_cast<std::size_t>(i)] = type != io::ChannelType::status && (!has_eeg || is_signal);
    }
    // A file of nothing else is taken as it is.
    if (std::ranges::count(wanted, true) < 2) wanted.assign(wanted.size(), true);
  }
  const std::vector<bool> unwanted = marked(exclude, info, "exclude");
  std::vector<Index> picks;
  for (Index i = 0; i < info.channels; ++i) {
    const auto k = static_cast<std::size_t>(i);
    if (wanted[k] && !unwanted[k]) picks.push_back(i);
  }
  if (picks.empty()) throw std::invalid_argument("pick: no channel is left to learn from");
  return picks;
}

io::SignalInfo info_of(const io::SignalInfo& info, const std::vector<Index>& channels) {
  io::SignalInfo out = info;
  out.channels = static_cast<Index>(channels.size());
  const auto some = [&](auto& list, const auto& all) {
    if (all.empty()) return;
    list.clear();
    for (const Index i : channels) list.push_back(all[static_cast<std::size_t>(i)]);
  };
  some(out.names, info.names);
  some(out.units, info.units);
  some(out.types, info.types);
  some(out.positions, info.positions);
  return out;
}

std::optional<std::vector<Index>> nameless_channels(const Model& model, const io::SignalInfo& info) {
  if (info.types.empty()) return {};
  std::vector<Index> picks = chosen_channels(info, io::Kind::biosignal, {}, {});
  if (std::ssize(picks) != model.channels()) return {};
  return picks;
}

std::vector<Index> channels_of_model(const Model& model, const io::SignalInfo& info,
                                     const std::string& file) {
  std::vector<Index> channels(static_cast<std::size_t>(info.channels));
  std::iota(channels.begin(), channels.end(), Index{0});
  if (info.channels == model.channels()) return channels;
  const auto other = [&](const std::string& why) {
    return std::invalid_argument(
        fmt::format("{}: has {} channels, the model needs {}{}", file, info.channels, model.channels(), why));
  };
  if (info.channels < model.channels()) throw other("");
  if (model.names.empty()) {
    if (auto found = nameless_channels(model, info)) return *found;
    throw other("; it does not name its channels");
  }
  std::vector<Index> picks;
  for (const std::string& name : model.names) {
    const auto is_it = [&](Index i) { return channel_name(info, i) == name; };
    const auto found = std::ranges::find_if(channels, is_it);
    if (found == channels.end()) throw other(fmt::format("; none of its channels is called '{}'", name));
    if (std::ranges::count_if(channels, is_it) > 1)
      throw other(fmt::format("; several are called '{}'", name));
    picks.push_back(*found);
  }
  return picks;
}

std::string left_out(const io::SignalInfo& info, const std::vector<Index>& picks) {
  std::string names;
  Index count = 0;
  for (Index i = 0; i < info.channels; ++i) {
    if (std::ranges::count(picks, i) > 0) continue;
    const io::ChannelType type = type_of(info, i);
    names += (count++ > 0 ? ", " : "") + channel_name(info, i);
    if (type != io::ChannelType::unknown) names += fmt::format(" ({})", io::type_name(type));
  }
  if (count == 0) return "";
  return fmt::format("{} channel{} not learned from: {}", count, count == 1 ? " is" : "s are", names);
}

}  // namespace demix
