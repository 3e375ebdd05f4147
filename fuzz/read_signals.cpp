#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <vector>

#include "demix/signal_stream.hpp"
#include "targets.hpp"

// libsndfile 1.2 does not free what it had begun when a damaged OGG file turns out to be one: not ours to
// mend.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:vorbis_info_init"; }

/// A file of signals is opened and read to its end twice, in blocks of different size: both must say the
/// same.
namespace demix::fuzz {
namespace {

using io::Error;
using io::ReadOptions;
using io::SignalInfo;
using io::SignalReader;

constexpr std::size_t most_values = 1 << 20;  // a few bytes of a packed format may be hours of silence

// In memory, with a name that can be opened again and again.
class MemoryFile {
 public:
  MemoryFile() : fd_(::memfd_create("input", MFD_CLOEXEC)), path_("/proc/self/fd/" + std::to_string(fd_)) {}
  ~MemoryFile() { ::close(fd_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  void fill(std::string_view bytes) const {
    const bool done = ::ftruncate(fd_, 0) == 0 &&
                      ::pwrite(fd_, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size());
    require(done, "the input is put into a file in memory");
  }
  const std::string& path() const { return path_; }

 private:
  int fd_;
  std::string path_;
};

// A file and what is in it.
struct Input {
  std::string path;
  std::string_view bytes;
};

void check_message(const std::string& message, const Input& input) {
  fuzz::check_message(message, input.bytes);
  require(message.find(input.path) != std::string::npos, "an error names the file: " + message);
}

void check_facts(const SignalReader& reader) {
  const SignalInfo& f = reader.info();
  const auto one_each = [&](const auto& list) {
    return list.empty() || static_cast<Index>(list.size()) == f.channels;
  };
  require(f.channels >= 1, "there is a channel");
  require(f.rate >= 0 && std::isfinite(f.rate), "the rate is 0 or more and finite");
  require(one_each(f.names) && one_each(f.units), "names and units are one per channel or none");
  require(f.width >= 0 && f.height >= 0 && (f.width > 0) == (f.height > 0), "a picture has width and height");
  require(reader.resolution() >= 0 && reader.resolution() < 1, "the resolution is a small number");
  for (const io::Annotation& a : f.annotations) {
    require(std::isfinite(a.onset) && std::isfinite(a.duration), "annotations have finite times");
  }
}

struct Pass {
  std::vector<double> values;
  std::string error;  // how it ended, if not well

  bool is_cut() const { return values.size() >= most_values; }
};

Pass read_through(SignalReader& reader, Index block, const Input& input) {
  Pass pass;
  Matrix<double> part(reader.info().channels, block);
  bool ended = false;
  try {
    while (!pass.is_cut()) {
      const Index got = reader.read(part);
      require(got >= 0 && got <= block, "no more frames than there is room for");
      require(!ended || got == 0, "only the last block is short");
      if (got == 0) break;
      ended = got < block;
      pass.values.insert(pass.values.end(), part.data(), part.data() + got * part.rows());
    }
  } catch (const Error& e) {
    pass.error = e.what();
    check_message(pass.error, input);
  }
  return pass;
}

void check_same(const Pass& first, const Pass& again) {
  const std::size_t both = std::min(first.values.size(), again.values.size());
  const bool equal =
      both == 0 || std::memcmp(first.values.data(), again.values.data(), both * sizeof(double)) == 0;
  require(equal, "the same frames again after rewind()");
  if (first.is_cut() || again.is_cut()) return;
  require(first.error.empty() == again.error.empty(),
          "the same end again after rewind(): '" + first.error + "', '" + again.error + "'");
  // Before an error, frames of the block it is in may be lost.
  require(!first.error.empty() || first.values.size() == again.values.size(), "as many frames again");
}

using Open = std::function<std::unique_ptr<SignalReader>()>;

std::string read_twice(const Open& open, const Input& input) {
  std::unique_ptr<SignalReader> reader;
  try {
    reader = open();
  } catch (const Error& e) {
    check_message(e.what(), input);
    return e.what();
  }
  check_facts(*reader);
  const SignalInfo info = reader->info();
  const Index block = std::clamp<Index>((1 << 16) / info.channels, 1, 1000);
  const Pass first = read_through(*reader, block, input);
  reader->rewind();
  require(reader->info().channels == info.channels && reader->info().rate == info.rate,
          "the same info again");
  check_same(first, read_through(*reader, block / 3 + 1, input));
  if (info.width > 0 && first.error.empty() && !first.is_cut()) {
    const auto pixels = static_cast<std::size_t>(info.width * info.height * info.channels);
    require(first.values.size() == pixels, "a picture has as many frames as pixels");
  }
  return first.error;
}

// As a file and, where that can be, as a stream.
std::string read_with(const ReadOptions& options, std::string_view kind, const Input& input) {
  const io::Format& format = io::format_of("x." + std::string(kind));
  const std::string error = read_twice([&] { return format.open(input.path, options); }, input);
  if (!format.encoding) return error;
  read_twice([&] { return std::make_unique<io::StreamReader>(input.path, *format.encoding, options); },
             input);
  return error;
}

}  // namespace

std::string read_signals(std::string_view kind, std::string_view bytes) {
  static const MemoryFile file;
  file.fill(bytes);
  ReadOptions all;
  all.channels = 2;
  all.rate = 100;
  all.delimiter = ';';
  all.time_column = 1;
  all.variable = "x";
  all.planes = true;
  const std::string plain = read_with({}, kind, {file.path(), bytes});
  const std::string with_options = read_with(all, kind, {file.path(), bytes});
  return plain.empty() ? plain : with_options;
}

}  // namespace demix::fuzz
