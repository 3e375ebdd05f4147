#include "live/site.hpp"

#include <arpa/inet.h>
#include <sys/random.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstring>
#include <limits>
#include <optional>
#include <stdexcept>

#include "demix/io.hpp"

namespace demix::live {
namespace {

constexpr Index most_columns = 4096;
constexpr Index most_values = Index{1} << 20;  // of one answer: 4 MB
constexpr int most_event_streams = 16;
constexpr auto between_statuses = std::chrono::milliseconds(500);

std::string random_key() {
  std::array<unsigned char, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw std::runtime_error("no random numbers to make a key of");
  std::string key;
  for (const unsigned char b : bytes) {
    key += "0123456789abcdef"[b >> 4U];
    key += "0123456789abcdef"[b & 15U];
  }
  return key;
}

std::string param(const Request& r, const char* name) {
  const auto found = r.params.find(name);
  return found == r.params.end() ? "" : found->second;
}

std::int64_t number(const Request& r, const char* name, std::optional<std::int64_t> otherwise,
                    std::int64_t least, std::int64_t most) {
  const std::string text = param(r, name);
  if (text.empty() && otherwise) return *otherwise;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least || value > most) {
    throw std::invalid_argument(std::string(name) + ": expected " + std::to_string(least) + " to " +
                                std::to_string(most));
  }
  return value;
}

bool is_on(const Request& r) { return number(r, "on", 1, 0, 1) == 1; }

Response refusal(int status, const std::string& why) {
  return {.status = status, .type = "text/plain; charset=utf-8", .body = why + "\n"};
}

template <typename T>
void append(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);  // little-endian, as the machine
}

}  // namespace

bool same(std::string_view a, std::string_view b) {
  volatile unsigned char differ = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < b.size(); ++i) {
    const char other = i < a.size() ? a[i] : '\0';
    differ = static_cast<unsigned char>(
        differ | (static_cast<unsigned char>(other) ^ static_cast<unsigned char>(b[i])));
  }
  return differ == 0;
}

Site::Site(Watch& watch, int port) : watch_(watch), port_(port), key_(random_key()) {}

// A name that another site's owner could make point here is not taken: numbers, localhost and this machine's
// own name only.
bool Site::allowed_host(const std::string& host) const {
  const std::string port = ":" + std::to_string(port_);
  if (!host.ends_with(port)) return false;
  std::string name = host.substr(0, host.size() - port.size());
  if (name == "localhost") return true;
  std::array<char, 256> own{};
  if (::gethostname(own.data(), own.size() - 1) == 0 && name == own.data()) return true;
  std::array<unsigned char, 16> bytes{};
  if (name.starts_with('[') && name.ends_with(']')) {
    return ::inet_pton(AF_INET6, name.substr(1, name.size() - 2).c_str(), bytes.data()) == 1;
  }
  return ::inet_pton(AF_INET, name.c_str(), bytes.data()) == 1;
}

Response Site::answer(const Request& r) {
  if (!allowed_host(r.host)) return refusal(403, "this is not the name of this page");
  if (!r.origin.empty() && r.origin != "http://" + r.host) return refusal(403, "not for other sites");
  if (!r.fetch_site.empty() && r.fetch_site != "same-origin" && r.fetch_site != "none")
    return refusal(403, "not for other sites");
  if (!same(param(r, "key"), key_))
    return refusal(403, "the key is missing or wrong: use the address demix printed");
  if (r.has_body) return refusal(413, "no request here has a body");
  try {
    if (r.method == "GET") return get(r);
    if (r.method == "POST") return post(r);
  } catch (const std::invalid_argument& e) {
    return refusal(400, e.what());
  } catch (const io::Error& e) {
    return refusal(500, e.what());
  }
  return refusal(405, "only GET and POST");
}

Response Site::get(const Request& r) {
  for (const PageFile& f : page_files()) {
    if (r.path == f.path) return file(f);
  }
  if (r.path == "/status") return {.body = watch_.status()};
  if (r.path == "/events") return events();
  if (r.path == "/frames") return frames(r);
  if (r.path == "/output") {
    return {.body = watch_.output(number(r, "output", {}, 1, watch_.options().outputs) - 1)};
  }
  if (r.path == "/model.json") return {.body = io::to_json(watch_.model())};
  return refusal(404, "there is no such page");
}

Response Site::post(const Request& r) {
  const auto output = [&] { return number(r, "output", {}, 1, watch_.options().outputs) - 1; };
  if (r.path == "/mute") return {.body = watch_.mute(output(), is_on(r))};
  if (r.path == "/freeze") return {.body = watch_.freeze(is_on(r))};
  if (r.path == "/rename") return {.body = watch_.rename(output(), param(r, "name"))};
  if (r.path == "/mark") return {.body = watch_.mark(param(r, "text"))};
  if (r.path == "/save") return {.body = watch_.save()};
  return refusal(404, "there is no such action");
}

// The key goes into the addresses of what belongs to the page.
Response Site::file(const PageFile& f) const {
  constexpr std::string_view mark = "KEY-OF-THIS-PAGE";
  std::string text(f.text);
  for (std::size_t at = 0; (at = text.find(mark, at)) != std::string::npos;)
    text.replace(at, mark.size(), key_);
  return {.type = f.type, .body = text};
}

Response Site::frames(const Request& r) {
  constexpr std::int64_t far = std::int64_t{1} << 50;
  const std::int64_t step = number(r, "step", 1, 1, far);
  const Index count = number(r, "count", 1000, 1, most_columns);
  const Index first = number(r, "first", 0, 0, watch_.rows() - 1);
  const Index rows = number(r, "rows", watch_.rows() - first, 1, watch_.rows() - first);
  if (count * rows * 2 > most_values) {
    throw std::invalid_argument("count: so many rows and columns are more than " +
                                std::to_string(most_values / 2) + " together");
  }
  const std::int64_t end = watch_.end();
  const std::int64_t latest = std::max<std::int64_t>(0, (end / step - count) * step);
  const History::Columns c = watch_.columns(number(r, "from", latest, 0, far), step, count, first, rows);
  Response out{.type = "application/octet-stream", .body = "demixfr1"};
  append(out.body, c.from);
  append(out.body, c.step);
  append(out.body, end);
  append(out.body, static_cast<std::uint32_t>(c.count));
  append(out.body, static_cast<std::uint32_t>(c.rows));
  append(out.body, static_cast<std::uint32_t>(c.each));
  append(out.body, static_cast<std::uint32_t>(c.first));
  out.body.append(reinterpret_cast<const char*>(c.values.data()), c.values.size() * sizeof(float));
  return out;
}

Response Site::events() {
  if (event_streams_ >= most_event_streams) return refusal(503, "too many browsers are watching");
  ++event_streams_;
  const std::shared_ptr<void> counted(nullptr, [this](void*) { --event_streams_; });
  return {.type = "text/event-stream",
          .body = {},
          .next = [this, counted, last = watch_.last_event(), due = std::chrono::steady_clock::time_point{},
                   over = false](std::string& part) mutable {
            if (over) return false;
            const auto now = std::chrono::steady_clock::now();
            const auto wait = std::chrono::duration_cast<std::chrono::milliseconds>(due - now);
            for (const std::string& e : watch_.events(last, std::max(std::chrono::milliseconds(0), wait)))
              part += "event: action\ndata: " + e + "\n\n";
            over = watch_.ended();
            if (over || std::chrono::steady_clock::now() >= due) {
              part += "event: status\ndata: " + watch_.status() + "\n\n";
              due = std::chrono::steady_clock::now() + between_statuses;
            }
            return true;
          }};
}

}  // namespace demix::live
