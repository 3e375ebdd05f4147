#include <nlohmann/json.hpp>

#include <array>
#include <cstdio>

#include "core/checksum.hpp"
#include "demix/io.hpp"
#include "targets.hpp"

/// A model that is accepted is written and read again unchanged.
namespace demix::fuzz {
namespace {

using nlohmann::ordered_json;

std::string parse(std::string_view text) {
  std::string written;
  try {
    written = io::to_json(io::parse_model(text, "m.json"));
  } catch (const io::Error& e) {
    const std::string message = e.what();
    check_message(message, text);
    require(message.starts_with("m.json: "), "an error names the file: " + message);
    return message;
  }
  require(io::to_json(io::parse_model(written, "m.json")) == written, "a model reads back as it was written");
  return {};
}

// With the checksum that fits, which no fuzzer would guess; nothing if it is no JSON object.
std::string signed_model(std::string_view text) {
  const auto not_deep = [](int depth, ordered_json::parse_event_t, ordered_json&) { return depth < 16; };
  ordered_json json = ordered_json::parse(text, not_deep, false);  // without what dump() would recurse into
  if (!json.is_object()) return {};
  const auto dump = [&] { return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace); };
  json.erase("checksum");
  std::array<char, 17> hex{};
  std::snprintf(hex.data(), hex.size(), "%016llx", static_cast<unsigned long long>(checksum(dump())));
  json["checksum"] = hex.data();
  return dump();
}

}  // namespace

std::string parse_model(std::string_view bytes) {
  const std::string refusal = parse(bytes);
  const std::string text = signed_model(bytes);
  return refusal.empty() || text.empty() ? refusal : parse(text);
}

}  // namespace demix::fuzz
