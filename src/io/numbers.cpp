#include "io/numbers.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "core/frame_kernels.hpp"
#include "io/bytes.hpp"
#include "io/orientation.hpp"

namespace demix::io {
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

// Half precision: a sign, 5 bits of exponent, 10 of fraction.
template <bool swapped>
void decode_half(const char* from, Index count, double* to) {
  for (Index i = 0; i < count; ++i, from += 2) {
    const auto low = static_cast<unsigned char>(from[swapped ? 1 : 0]);
    const auto high = static_cast<unsigned char>(from[swapped ? 0 : 1]);
    const int exponent = (high >> 2) & 31, fraction = (high & 3) * 256 + low;
    double value = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
    if (exponent == 31) value = fraction == 0 ? HUGE_VAL : std::numeric_limits<double>::quiet_NaN();
    to[i] = high >= 128 ? -value : value;
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

// Divided by the largest magnitude of a whole number of so many bits.
template <typename T>
void decode_full_scale(const char* from, Index count, double* to) {
  constexpr double full = -static_cast<double>(std::numeric_limits<T>::min());
  for (Index i = 0; i < count; ++i)
    to[i] = load_real<T>(from + static_cast<std::size_t>(i) * sizeof(T)) / full;
}

void decode_full_scale_8(const char* from, Index count, double* to) {
  for (Index i = 0; i < count; ++i) to[i] = (load_real<std::uint8_t>(from + i) - 128) / 128;
}

void decode_full_scale_24(const char* from, Index count, double* to) {
  for (Index i = 0; i < count; ++i, from += 3) {
    to[i] = (load<std::uint16_t>(from) + 65536 * load<std::int8_t>(from + 2)) / 0x1p23;
  }
}

class NumbersReader final : public SignalReader {
 public:
  NumbersReader(std::shared_ptr<const FileBytes> bytes, NumbersLayout layout)
      : bytes_(std::move(bytes)), layout_(std::move(layout)) {
    count_frames();
  }

  const SignalInfo& info() const override { return layout_.info; }
  double resolution() const override { return layout_.type.resolution; }
  void rewind() override { at_ = 0; }

  bool random_access() const override { return true; }
  void read_at(Index first, Eigen::Ref<Matrix<double>> out) const override {
    if (layout_.planar) {
      Eigen::RowVectorXd row(out.cols());
      for (Index i = 0; i < out.rows(); ++i) {
        numbers(at(first, i), row.size(), row.data());
        out.row(i) = row;
      }
    } else {
      numbers(at(first, 0), out.size(), out.data());
    }
    if (layout_.gain.size() > 0) out.array().colwise() *= layout_.gain.array();
  }

  bool holds_floats() const override { return layout_.type.floats && layout_.gain.size() == 0; }
  void read_at(Index first, Matrix<float>& out) const override {
    if (!layout_.planar) return floats(at(first, 0), out.size(), out.data());
    Eigen::RowVectorXf row(out.cols());
    for (Index i = 0; i < out.rows(); ++i) {
      floats(at(first, i), row.size(), row.data());
      out.row(i) = row;
    }
  }

  Index read(Eigen::Ref<Matrix<double>> out) override {
    const Index n = std::min<Index>(out.cols(), layout_.info.frames - at_);
    read_at(at_, out.leftCols(n));
    at_ += n;
    return n;
  }

 private:
  void count_frames() {
    const std::string name = bytes_->path().string();
    const auto channels = static_cast<std::uint64_t>(layout_.info.channels);
    if (channels == 0) {
      throw Error(name + ": raw numbers do not say how many channels they are of; give `channels`");
    }
    require_channels(channels, name);
    const std::uint64_t there = bytes_->size() - std::min(bytes_->size(), layout_.offset);
    const std::uint64_t values = there / layout_.type.bytes;
    const std::uint64_t frames = layout_.frames > 0 ? layout_.frames : values / channels;
    const bool fits =
        frames <= values / channels && (layout_.frames > 0 || there % (channels * layout_.type.bytes) == 0);
    if (!fits) {
      throw Error(name + ": " + std::to_string(there) + " bytes of numbers are not " +
                  (layout_.frames > 0 ? std::to_string(frames) : "a whole number of") + " frames of " +
                  std::to_string(channels) + " channels of " + std::to_string(layout_.type.bytes) +
                  " bytes; it is cut off, or has another number of channels");
    }
    if (frames == 0) throw Error(name + ": there are no numbers in it");
    layout_.info.frames = static_cast<Index>(frames);
  }

  // In bytes.
  std::uint64_t at(Index frame, Index channel) const {
    const SignalInfo& info = layout_.info;
    const Index number = layout_.planar ? channel * info.frames + frame : frame * info.channels + channel;
    return layout_.offset + static_cast<std::uint64_t>(number) * layout_.type.bytes;
  }

  void numbers(std::uint64_t from, Index count, double* to) const {
    constexpr std::size_t chunk_bytes = 1 << 16;  // stays in cache between reading and decoding
    const std::size_t bytes = layout_.type.bytes;
    const auto step = static_cast<Index>(chunk_bytes / bytes);
    const auto buffer = bytes_->in_memory() ? nullptr : std::make_unique_for_overwrite<char[]>(chunk_bytes);
    for (Index done = 0; done < count; done += step) {
      const Index now = std::min(step, count - done);
      const char* there = bytes_->fetch(from + static_cast<std::uint64_t>(done) * bytes,
                                        static_cast<std::size_t>(now) * bytes, buffer.get());
      layout_.type.decode(there, now, to + done);
    }
  }

  void floats(std::uint64_t from, Index count, float* to) const {
    const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(float);
    const char* there = bytes_->fetch(from, bytes, reinterpret_cast<char*>(to));
    if (there != reinterpret_cast<char*>(to)) std::memcpy(to, there, bytes);
  }

  std::shared_ptr<const FileBytes> bytes_;
  NumbersLayout layout_;
  Index at_ = 0;
};

}  // namespace

NumberType number_type(char kind, std::size_t bytes, bool swapped) {
  if (kind == 'f' && bytes == 4 && !swapped && std::endian::native == std::endian::little) {
    return {4, decode_floats, type_of<float>(false).resolution, true};
  }
  if (kind == 'f' && bytes == 4) return type_of<float>(swapped);
  if (kind == 'f' && bytes == 2) return {2, swapped ? decode_half<true> : decode_half<false>, 0x1p-10, false};
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

NumberType full_scale_type(int bits) {
  constexpr double exact = std::numeric_limits<double>::epsilon();
  switch (bits) {
    case 8:
      return {1, decode_full_scale_8, exact, false};
    case 16:
      return {2, decode_full_scale<std::int16_t>, exact, false};
    case 24:
      return {3, decode_full_scale_24, exact, false};
    case 32:
      return {4, decode_full_scale<std::int32_t>, exact, false};
    default:
      return {};
  }
}

NumberType number_type(Encoding raw) {
  switch (raw) {
    case Encoding::f32:
      return number_type('f', 4);
    case Encoding::f64:
      return number_type('f', 8);
    case Encoding::s16:
      return full_scale_type(16);
    case Encoding::s32:
      return full_scale_type(32);
    default:
      throw std::logic_error("number_type: the encoding is not one of raw numbers");
  }
}

std::unique_ptr<SignalReader> open_numbers(std::shared_ptr<const FileBytes> bytes, NumbersLayout layout) {
  return std::make_unique<NumbersReader>(std::move(bytes), std::move(layout));
}

void set_shape(NumbersLayout& layout, std::uint64_t rows, std::uint64_t columns, bool by_columns,
               Orientation asked, const std::string& name) {
  const bool transposed = rows_are_channels(rows, columns, asked);
  layout.frames = transposed ? columns : rows;
  layout.info.channels = static_cast<Index>(transposed ? rows : columns);
  layout.planar = by_columns != transposed;
  note_channel_rows(layout.info, rows, columns, asked, name);
}

}  // namespace demix::io
