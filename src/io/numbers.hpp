#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "demix/signal_files.hpp"
#include "io/file_bytes.hpp"

/// Files that are one array of numbers somewhere: raw, .npy, EEGLAB's .fdt.
namespace demix::io {

struct NumberType {
  std::size_t bytes = 0;
  void (*decode)(const char* from, Index count, double* to) = nullptr;  ///< null: there is no such type
  double resolution = 0;
  bool floats = false;  ///< as they are in memory
};
/// Kind as NumPy writes it: f, i, u or b. `swapped`: most significant byte first.
NumberType number_type(char kind, std::size_t bytes, bool swapped = false);
/// Whole numbers of 8 (from 0 on), 16, 24 or 32 bits that stand for -1 to 1, as in sound.
NumberType full_scale_type(int bits);
NumberType number_type(Encoding raw);

struct NumbersLayout {
  NumberType type;
  SignalInfo info;
  std::uint64_t frames = 0;  ///< 0: as many as the file holds
  std::uint64_t offset = 0;  ///< of the first number, in bytes
  bool planar = false;       ///< channel after channel, else frame after frame
  Vector<double> gain = {};  ///< of each channel: what its numbers are times; empty: 1
};
std::unique_ptr<SignalReader> open_numbers(std::shared_ptr<const FileBytes> bytes, NumbersLayout layout);

/// The layout of a matrix of rows x columns, frames in one of them, channels in the other. `by_columns`:
/// column after column, else row after row. `name` is only for messages.
void set_shape(NumbersLayout& layout, std::uint64_t rows, std::uint64_t columns, bool by_columns,
               Orientation asked, const std::string& name);

}  // namespace demix::io
