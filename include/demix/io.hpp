#pragma once

#include <cstddef>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "demix/model.hpp"
#include "demix/types.hpp"

/// Files in and out. A file holds one frame per row: (samples, channels). Whatever is written appears under
/// its name complete or not at all.
namespace demix::io {

/// A file that cannot be read or written: the message names the path, the place in it and what is wrong.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A whole file at once, by its extension; signal_files.hpp has the kinds there are, and blocks.
Signals read_signals(const std::filesystem::path& path);
void write_signals(const std::filesystem::path& path, const Signals& signals);
Matrix<double> read_matrix(const std::filesystem::path& path);  ///< rows as the file has them
bool is_supported(const std::filesystem::path& path);

/// Whole files in memory.
std::string to_npy(const Matrix<double>& data);  ///< channels x samples -> (samples, channels), '<f8'
/// Numbers in any number of dimensions, the last changing fastest.
struct Array {
  std::string name;
  std::vector<Index> shape;  ///< empty: a single number
  std::vector<double> values;
};
std::string to_npz(const std::vector<Array>& arrays);  ///< NumPy's archive; throws Error without zlib
std::string to_wav16(const Frames<double>& samples, double rate);  ///< channels x samples, full scale is 1

/// A model that demix wrote, AMICA's output folder (amica.hpp), or the ICA in an EEGLAB dataset (.set).
Model load_model(const std::filesystem::path& path);
std::vector<std::filesystem::path> model_paths(
    const std::filesystem::path& path);  ///< what it opens for that
void save_model(const std::filesystem::path& path, const Model& model);
Model parse_model(std::string_view text, const std::string& name);
std::string to_json(const Model& model);

std::string read_file(const std::filesystem::path& path);

/// Through a temporary name in the same folder, then renamed. Several files: none gets its name before all
/// are written.
void write_file(const std::filesystem::path& path, std::string_view bytes);
void write_files(const std::vector<std::pair<std::filesystem::path, std::string>>& files);

}  // namespace demix::io
