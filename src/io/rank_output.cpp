#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <string>

#include "core/ranks.hpp"
#include "demix/output_files.hpp"
#include "io/descriptor.hpp"
#include "io/failure.hpp"
#include "io/format_files.hpp"
#include "io/frame_bytes.hpp"
#include "io/npy.hpp"

/// One file written by all ranks of a job side by side.
namespace demix::io {
namespace {

namespace fs = std::filesystem;

// How frames lie in a file where each has its place.
struct Places {
  Encoding encoding;
  std::string header;
};

std::optional<Places> places_in(const fs::path& path, const Recording& recording) {
  const Format& format = format_of(path);
  if (format.encoding && *format.encoding <= Encoding::s32) return Places{*format.encoding, ""};
  if (format.create == create_npy) {
    const auto frames = static_cast<std::uint64_t>(recording.frames());
    return Places{Encoding::f64, npy_header(frames, recording.channels())};
  }
  return {};
}

void put(const Descriptor& file, std::string_view bytes, std::uint64_t at, const fs::path& path) {
  while (!bytes.empty()) {
    const ssize_t n = ::pwrite(file.get(), bytes.data(), bytes.size(), static_cast<off_t>(at));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw failure(path, "cannot write");
    at += static_cast<std::uint64_t>(n);
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

}  // namespace

bool is_written_by_all_ranks(const fs::path& path, const MappedRecording& recording) {
  return ranks() && ranks()->count() > 1 && recording.has_shares() && places_in(path, recording).has_value();
}

void write_by_all_ranks(NewFiles& files, const fs::path& path, const SignalInfo& info,
                        const MappedRecording& recording) {
  Ranks& all = *ranks();
  std::string temporary;
  if (all.rank() == 0) temporary = fs::absolute(files.add(path)).string();
  all.broadcast(temporary);
  const Descriptor file(::open(temporary.c_str(), O_WRONLY | O_CLOEXEC), true);
  const bool all_see_it = all_gathered(all, file.get() >= 0 ? "" : "no").empty();
  if (!all_see_it) {
    if (all.rank() == 0) {
      const auto writer = format_of(path).create(temporary, info, {});
      recording.pass([&](const Frames<double>& block) { writer->write(block); });
      writer->finish();
    }
    return;
  }
  const Places places = *places_in(path, recording);
  if (all.rank() == 0) put(file, places.header, 0, path);
  const std::size_t size = bytes_of_frame(places.encoding, recording.channels());
  recording.pass_share([&](std::int64_t before, const Frames<double>& chunk) {
    put(file, frames_as_bytes(places.encoding, chunk),
        places.header.size() + static_cast<std::uint64_t>(before) * size, path);
  });
  if (::fsync(file.get()) != 0) throw failure(path, "cannot write");
  all_gathered(all, "");  // all of them have written
}

}  // namespace demix::io
