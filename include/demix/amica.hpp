#pragma once

#include <filesystem>

#include "demix/model.hpp"
#include "demix/recording.hpp"
#include "demix/signal_files.hpp"

/// AMICA's output folder: files of raw little-endian doubles, column after column, which EEGLAB's loader
/// (loadmodout15) reads.
namespace demix::io {

bool is_amica(const std::filesystem::path& folder);

/// The folder and all files that a model may have in it.
std::vector<std::filesystem::path> amica_paths(const std::filesystem::path& folder);

/// y = W (S (x - mean) - c), of the most likely model if there are several. Throws Error.
Model read_amica(const std::filesystem::path& folder);

/// Besides the model, of each component the generalized Gaussian density that has its kurtosis (alpha, mu,
/// sbeta, rho), and by these the log likelihood of each frame (LLt) and of a frame and component in the mean
/// (LL). `recording`: of the model's channels, as it learned from them.
void write_amica(NewFiles& files, const std::filesystem::path& folder, const Model& model,
                 const Recording& recording);

}  // namespace demix::io
