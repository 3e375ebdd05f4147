#include "io/numbers.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <limits>
#include <type_traits>

#include "core/frame_kernels.hpp"
#include "demix/frame_io.hpp"
#include "io/failure.hpp"

namespace demix::io {
namespace fs = std::filesystem;
namespace {

template <typename T, bool swapped>
void decode(const char* __restrict from, Index count, double* __restrict to) {
  for (Index i = 0; i < count; ++i) {
    char raw[sizeof(T)];
    std::memcpy(raw, from + static_cast<std::size_t>(i) * sizeof(T), sizeof(T));
    if constexpr (swapped) std::reverse(raw, raw + sizeof(T));
    T value;
    std::memcpy(&value, raw, sizeof(T));
    to[i] = static_cast<double>(value);
  }
}

// What most large files are of.
void decode_floats(const char* from, Index count, double* to) {
  if (reinterpret_cast<std::uintptr_t>(from) % alignof(float) != 0)
    return decode<float, false>(from, count, to);
  widen(reinterpret_cast<const float*>(from), count, to);
}

template <typename T>
NumberType type_of(bool swapped) {
  using Rounded = std::conditional_t<std::is_same_v<T, float>, float, double>;  // whole numbers are exact
  return {sizeof(T), swapped ? decode<T, true> : decode<T, false>,
          static_cast<double>(std::numeric_limits<Rounded>::epsilon()), false};
}

class NumbersReader final : public SignalReader {
 public:
  NumbersReader(const fs::path& path, NumbersLayout layout)
      : path_(path), layout_(std::move(layout)), file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC), true) {
    if (file_.get() < 0) throw failure(path, "cannot open");
    struct stat info {};
    if (::fstat(file_.get(), &info) != 0) throw failure(path, "cannot read");
    if (S_ISDIR(info.st_mode)) throw Error(path.string() + ": is a folder, not a file");
    count_frames(static_cast<std::uint64_t>(info.st_size));
  }
  NumbersReader(const fs::path& path, std::shared_ptr<const std::string> memory, NumbersLayout layout)
      : path_(path), layout_(std::move(layout)), file_(-1, false), memory_(std::move(memory)) {
    count_frames(memory_->size());
  }

  const Facts& facts() const override { return layout_.facts; }
  double resolution() const override { return layout_.type.resolution; }
  void rewind() override { at_ = 0; }

  bool anywhere() const override { return !layout_.planar; }
  void read_at(Index first, Eigen::Ref<Matrix<double>> out) const override {
    const Index channels = layout_.facts.channels;
    numbers(static_cast<std::uint64_t>(first) * static_cast<std::uint64_t>(channels), out.cols() * channels,
            out.data());
  }

  bool holds_floats() const override { return layout_.type.floats; }
  void read_at(Index first, Matrix<float>& out) const override {
    const std::size_t bytes = static_cast<std::size_t>(out.size()) * sizeof(float);
    char* to = reinterpret_cast<char*>(out.data());
    const char* from = fetch(layout_.offset + static_cast<std::uint64_t>(first) *
                                                  static_cast<std::uint64_t>(out.rows()) * sizeof(float),
                             bytes, to);
    if (from != to) std::memcpy(to, from, bytes);
  }

  Index read(Eigen::Ref<Matrix<double>> out) override {
    const Index n = std::min<Index>(out.cols(), static_cast<Index>(frames_ - at_));
    const Index channels = layout_.facts.channels;
    if (layout_.planar) {
      row_.resize(n);
      for (Index i = 0; i < channels; ++i) {
        numbers(static_cast<std::uint64_t>(i) * frames_ + at_, n, row_.data());
        out.row(i).head(n) = row_;
      }
    } else {
      read_at(static_cast<Index>(at_), out.leftCols(n));
    }
    at_ += static_cast<std::uint64_t>(n);
    return n;
  }

 private:
  void count_frames(std::uint64_t size) {
    const auto channels = static_cast<std::uint64_t>(layout_.facts.channels);
    if (channels == 0) {
      throw Error(path_.string() + ": raw numbers do not say how many channels they are of; give --channels");
    }
    const std::uint64_t there = size - std::min(size, layout_.offset);
    const std::uint64_t values = there / layout_.type.bytes;
    frames_ = layout_.frames > 0 ? layout_.frames : values / channels;
    const bool fits =
        frames_ <= values / channels && (layout_.frames > 0 || there % (channels * layout_.type.bytes) == 0);
    if (!fits) {
      throw Error(path_.string() + ": " + std::to_string(there) + " bytes of numbers are not " +
                  (layout_.frames > 0 ? std::to_string(frames_) : "a whole number of") + " frames of " +
                  std::to_string(channels) + " channels of " + std::to_string(layout_.type.bytes) +
                  " bytes; it is cut off, or has another number of channels");
    }
    if (frames_ == 0) throw Error(path_.string() + ": there are no numbers in it");
    layout_.facts.frames = static_cast<Index>(frames_);
  }

  void numbers(std::uint64_t first, Index count, double* to) const {
    constexpr std::size_t chunk = 1 << 16;  // stays in cache between reading and decoding
    const auto step = static_cast<Index>(chunk / layout_.type.bytes);
    const auto buffer = memory_ ? nullptr : std::make_unique_for_overwrite<char[]>(chunk);
    for (Index done = 0; done < count; done += step) {
      const Index now = std::min(step, count - done);
      const char* from =
          fetch(layout_.offset + (first + static_cast<std::uint64_t>(done)) * layout_.type.bytes,
                static_cast<std::size_t>(now) * layout_.type.bytes, buffer.get());
      layout_.type.decode(from, now, to + done);
    }
  }

  const char* fetch(std::uint64_t offset, std::size_t bytes, char* buffer) const {
    if (memory_) return memory_->data() + offset;
    for (std::size_t got = 0; got < bytes;) {
      const ssize_t n = ::pread(file_.get(), buffer + got, bytes - got, static_cast<off_t>(offset + got));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) throw failure(path_, "cannot read");
      if (n == 0) throw Error(path_.string() + ": has become shorter while it was read");
      got += static_cast<std::size_t>(n);
    }
    return buffer;
  }

  fs::path path_;
  NumbersLayout layout_;
  Descriptor file_;
  std::shared_ptr<const std::string> memory_;  // instead of the file
  std::uint64_t frames_ = 0;
  std::uint64_t at_ = 0;
  Eigen::RowVectorXd row_;
};

}  // namespace

NumberType number_type(char kind, std::size_t bytes, bool swapped) {
  if (kind == 'f' && bytes == 4 && !swapped && std::endian::native == std::endian::little) {
    return {4, decode_floats, type_of<float>(false).resolution, true};
  }
  if (kind == 'f' && bytes == 4) return type_of<float>(swapped);
  if (kind == 'f' && bytes == 8) return type_of<double>(swapped);
  if (kind == 'i' && bytes == 1) return type_of<std::int8_t>(swapped);
  if (kind == 'i' && bytes == 2) return type_of<std::int16_t>(swapped);
  if (kind == 'i' && bytes == 4) return type_of<std::int32_t>(swapped);
  if (kind == 'i' && bytes == 8) return type_of<std::int64_t>(swapped);
  if ((kind == 'u' || kind == 'b') && bytes == 1) return type_of<std::uint8_t>(swapped);
  if (kind == 'u' && bytes == 2) return type_of<std::uint16_t>(swapped);
  if (kind == 'u' && bytes == 4) return type_of<std::uint32_t>(swapped);
  if (kind == 'u' && bytes == 8) return type_of<std::uint64_t>(swapped);
  return {};
}

std::unique_ptr<SignalReader> open_numbers(const fs::path& path, NumbersLayout layout) {
  return std::make_unique<NumbersReader>(path, std::move(layout));
}

std::unique_ptr<SignalReader> open_numbers(const fs::path& path, std::shared_ptr<const std::string> memory,
                                           NumbersLayout layout) {
  return std::make_unique<NumbersReader>(path, std::move(memory), std::move(layout));
}

}  // namespace demix::io
