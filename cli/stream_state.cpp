#include "stream_state.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "console.hpp"
#include "core/checksum.hpp"
#include "demix/io.hpp"
#include "demix/temporary.hpp"

namespace demix::cli {
namespace {

constexpr std::string_view kind = "demix stream file ";
constexpr std::string_view version = "3\n";

std::string checksum_line(std::string_view bytes) { return fmt::format("{:016x}\n", checksum(bytes)); }

// Up to the end of the first line, with it.
std::string_view take_line(std::string_view& bytes) {
  const std::size_t end = bytes.find('\n');
  if (end == std::string_view::npos) throw std::invalid_argument("damaged (it is cut off)");
  const std::string_view line = bytes.substr(0, end + 1);
  bytes.remove_prefix(end + 1);
  return line;
}

}  // namespace

std::string to_bytes(const StreamState& s) {
  const nlohmann::json where = {{"read", s.read},
                                {"format", s.format},
                                {"channels", s.picks},
                                {"written", s.written.bytes},
                                {"unwritten", s.written.unwritten.size()}};
  const std::string body = where.dump() + "\n" + s.written.unwritten + s.separator;
  return std::string(kind) + std::string(version) + checksum_line(body) + body;
}

StreamState parse_stream_state(std::string_view bytes) {
  if (!bytes.starts_with(kind)) throw std::invalid_argument("not a state that demix stream has saved");
  bytes.remove_prefix(kind.size());
  if (take_line(bytes) != version) throw std::invalid_argument("saved by another version of demix");
  const std::string_view sum = take_line(bytes);
  if (sum != checksum_line(bytes)) {
    throw std::invalid_argument("damaged (its checksum does not fit)");
  }
  const std::string_view line = take_line(bytes);
  const nlohmann::json where = nlohmann::json::parse(line, nullptr, false);
  const auto count = [&](const char* name) {
    if (!where.is_object() || !where.contains(name) || !where[name].is_number_unsigned() ||
        where[name].get<std::uint64_t>() > std::uint64_t{1} << 62) {
      throw std::invalid_argument(fmt::format("damaged ({} is not a count)", name));
    }
    return where[name].get<std::uint64_t>();
  };
  StreamState s;
  s.read = static_cast<std::int64_t>(count("read"));
  s.written.bytes = count("written");
  s.written.frames = s.read;
  const std::uint64_t unwritten = count("unwritten");
  if (unwritten > bytes.size() || !where.contains("format") || !where["format"].is_string()) {
    throw std::invalid_argument("damaged");
  }
  s.format = where["format"];
  if (!where.contains("channels") || !where["channels"].is_array()) throw std::invalid_argument("damaged");
  for (const nlohmann::json& channel : where["channels"]) {
    if (!channel.is_number_integer()) throw std::invalid_argument("damaged");
    s.picks.push_back(channel.get<Index>());
  }
  s.written.unwritten = bytes.substr(0, unwritten);
  s.separator = bytes.substr(unwritten);
  return s;
}

std::optional<StreamState> load_stream_state(const std::string& file) {
  if (file.empty() || !std::filesystem::exists(file)) return std::nullopt;
  try {
    return parse_stream_state(io::read_file(file));
  } catch (const std::invalid_argument& e) {
    throw Failure(fmt::format("{}: {}; name another file, or remove it to start anew", file, e.what()));
  }
}

std::filesystem::path StateLock::file_for(const std::string& state) {
  return state.empty() ? "" : followed(state).string() + ".lock";
}

StateLock::StateLock(const std::string& state) : file_(file_for(state)) {
  if (file_.empty()) return;
  for (;;) {
    descriptor_ = ::open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor_ < 0)
      throw Failure(fmt::format("{}: cannot write: {}", file_.string(), std::strerror(errno)));
    struct flock lock {};
    lock.l_type = F_WRLCK;
    if (::fcntl(descriptor_, F_SETLK, &lock) != 0 && (errno == EACCES || errno == EAGAIN)) {
      const bool known =
          ::fcntl(descriptor_, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK && lock.l_pid > 0;
      ::close(descriptor_);
      throw Failure(fmt::format("{}: in use by {}; name another --state", state,
                                known ? fmt::format("process {}", lock.l_pid) : "another process"));
    }
    struct stat held {};
    struct stat named {};
    const bool is_it = ::fstat(descriptor_, &held) == 0 && ::stat(file_.c_str(), &named) == 0 &&
                       held.st_dev == named.st_dev && held.st_ino == named.st_ino;
    if (is_it) return;
    ::close(descriptor_);  // whoever had it has removed it meanwhile
  }
}

StateLock::~StateLock() {
  if (descriptor_ < 0) return;
  ::unlink(file_.c_str());
  ::close(descriptor_);
}

}  // namespace demix::cli
