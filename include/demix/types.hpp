#pragma once

#include <Eigen/Core>

#include <functional>
#include <string>
#include <variant>
#include <vector>

/// The types every other header speaks in. Data is channels x samples, column-major: one column is one frame.
namespace demix {

using Index = Eigen::Index;

template <typename T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;

template <typename T>
using Vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;

/// A read-only view of frames: a matrix, a block of its columns, or mapped memory, without a copy.
template <typename T>
using Frames = Eigen::Ref<const Matrix<T>>;

/// The same of frames that may be of either type.
using AnyFrames = std::variant<Frames<double>, Frames<float>>;

/// Called now and then by what may take long, with the share done, 0 to 1.
using ProgressCallback = std::function<void(double)>;

/// A recording: the samples and what is known about them.
struct Signals {
  Matrix<double> data;             ///< channels x samples
  double rate = 0;                 ///< samples per second; 0 = unknown
  std::vector<std::string> names;  ///< one per channel, or empty
};

}  // namespace demix
