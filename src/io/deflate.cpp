#include "io/deflate.hpp"

#include <algorithm>
#include <array>

#include "demix/io.hpp"

#ifdef DEMIX_HAVE_ZLIB
#include <zlib.h>
#endif

namespace demix::io {
#ifdef DEMIX_HAVE_ZLIB
namespace {

constexpr std::size_t piece = 1 << 20;  // zlib counts in 32 bits

class Inflater {
 public:
  Inflater(Deflated how, const std::string& name) : name_(name) {
    if (inflateInit2(&stream_, how == Deflated::bare ? -MAX_WBITS : MAX_WBITS) != Z_OK) {
      throw Error(name_ + ": no memory to decompress it");
    }
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  std::string take(std::string_view from, std::uint64_t most) {
    std::string out;
    std::string buffer(static_cast<std::size_t>(std::min<std::uint64_t>(most, piece)), '\0');
    for (;;) {
      const auto room = static_cast<std::size_t>(std::min<std::uint64_t>(most - out.size(), buffer.size()));
      const int status = step(from, buffer.data(), room);
      out.append(buffer, 0, room - stream_.avail_out);
      if (status == Z_STREAM_END || out.size() == most) return out;
      if (status != Z_OK) throw Error(name_ + ": its compressed data is damaged or cut off");
    }
  }

 private:
  int step(std::string_view& from, char* to, std::size_t room) {
    const std::size_t now = std::min(from.size(), piece);
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(from.data()));
    stream_.avail_in = static_cast<uInt>(now);
    stream_.next_out = reinterpret_cast<Bytef*>(to);
    stream_.avail_out = static_cast<uInt>(room);
    const int status = ::inflate(&stream_, Z_NO_FLUSH);
    from.remove_prefix(now - stream_.avail_in);
    return status;
  }

  std::string name_;
  z_stream stream_{};
};

}  // namespace

std::string inflated(std::string_view from, Deflated how, std::uint64_t most, const std::string& name) {
  return Inflater(how, name).take(from, most);
}

std::uint32_t checksum(std::string_view bytes, const std::string&, std::uint32_t before) {
  return static_cast<std::uint32_t>(
      ::crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

std::uint32_t joined_checksum(std::uint32_t first, std::uint32_t second, std::uint64_t second_bytes) {
  return static_cast<std::uint32_t>(::crc32_combine(first, second, static_cast<z_off_t>(second_bytes)));
}
#else
namespace {

Error without(const std::string& name) {
  return Error(name + ": this demix was built without zlib, which compressed and .npz files need; " +
               "use files that are not compressed");
}

}  // namespace

std::string inflated(std::string_view, Deflated, std::uint64_t, const std::string& name) {
  throw without(name);
}
std::uint32_t checksum(std::string_view, const std::string& name, std::uint32_t) { throw without(name); }
std::uint32_t joined_checksum(std::uint32_t, std::uint32_t, std::uint64_t) { return 0; }
#endif

}  // namespace demix::io
