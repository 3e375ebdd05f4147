#include "io/deflate.hpp"

#include <algorithm>
#include <memory>
#include <new>

#include "demix/io.hpp"
#include "io/failure.hpp"

#ifdef DEMIX_HAVE_ZLIB
#include <zlib.h>
#endif

namespace demix::io {
namespace {

constexpr std::uint64_t most_in_memory = std::uint64_t{1} << 32;

// What deflate can make of so many bytes.
constexpr std::uint64_t most_of(std::uint64_t packed) { return (packed + 16) * 1032; }

}  // namespace

void check_inflated_size(std::uint64_t announced, std::uint64_t packed, const std::string& name) {
  if (announced > most_of(packed)) {
    throw Error(name + ": " + std::to_string(packed) + " compressed bytes cannot hold the " +
                std::to_string(announced) + " it announces; it is damaged");
  }
  if (announced > most_in_memory) {
    throw Error(name + ": unpacks to " + std::to_string(announced >> 20) + " MiB; at most " +
                std::to_string(most_in_memory >> 20) +
                " are unpacked into memory; save it without compression, which is read in blocks");
  }
}

#ifdef DEMIX_HAVE_ZLIB
namespace {

constexpr std::size_t piece = 1 << 18;  // zlib counts in 32 bits

class Inflater {
 public:
  Inflater(const Part& from, Deflated how, const std::string& name) : from_(from), name_(name) {
    if (inflateInit2(&stream_, how == Deflated::bare ? -MAX_WBITS : MAX_WBITS) != Z_OK)
      throw std::bad_alloc();
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  std::string take(std::uint64_t most) {
    std::string out;
    out.reserve(static_cast<std::size_t>(std::min(most, most_of(from_.size))));
    const auto buffer = std::make_unique_for_overwrite<char[]>(piece);
    for (;;) {
      const auto room = static_cast<std::size_t>(std::min<std::uint64_t>(most - out.size(), piece));
      const int status = step(buffer.get(), room);
      out.append(buffer.get(), room - stream_.avail_out);
      if (status == Z_STREAM_END || out.size() == most) return out;
      if (status != Z_OK) throw Error(name_ + ": its compressed data is damaged or cut off");
    }
  }

 private:
  int step(char* to, std::size_t room) {
    if (stream_.avail_in == 0) fill();
    stream_.next_out = reinterpret_cast<Bytef*>(to);
    stream_.avail_out = static_cast<uInt>(room);
    return ::inflate(&stream_, Z_NO_FLUSH);
  }

  void fill() {
    const auto now = static_cast<std::size_t>(std::min<std::uint64_t>(from_.size - read_, piece));
    packed_.resize(now);
    const char* there = from_.fetch(read_, now, packed_.data());
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(there));
    stream_.avail_in = static_cast<uInt>(now);
    read_ += now;
  }

  const Part& from_;
  const std::string& name_;
  std::string packed_;
  std::uint64_t read_ = 0;  // of from_
  z_stream stream_{};
};

}  // namespace

std::string inflated(const Part& from, Deflated how, std::uint64_t most, const std::string& name) {
  try {
    return Inflater(from, how, name).take(most);
  } catch (const std::bad_alloc&) {
    throw Error(name + ": there is not enough memory to unpack it; save it without compression");
  }
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
  return built_without("zlib", name, "compressed and .npz files", "files that are not compressed");
}

}  // namespace

std::string inflated(const Part&, Deflated, std::uint64_t, const std::string& name) { throw without(name); }
std::uint32_t checksum(std::string_view, const std::string& name, std::uint32_t) { throw without(name); }
std::uint32_t joined_checksum(std::uint32_t, std::uint32_t, std::uint64_t) { return 0; }
#endif

}  // namespace demix::io
