#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "demix/recording.hpp"
#include "demix/threads.hpp"

/// NumPy's arrays as what the library takes. An array is (samples, channels); in C order that is the
/// library's channels x samples, column-major, without a copy. Other orders are copied chunk by chunk.
namespace demix::python {

namespace py = pybind11;

/// Lets Ctrl-C, and whatever else Python handles by signals, end what runs without the GIL. Python runs its
/// handlers in its main thread only: other threads ask for nothing.
class Interrupts {
 public:
  void poll() const;  ///< now and then; throws what the handler raised

 private:
  using Clock = std::chrono::steady_clock;
  std::thread::id caller_ = std::this_thread::get_id();
  mutable Clock::time_point next_ = Clock::now();
};

/// An array of float32 or float64 with any strides, as a recording. The array must live as long, and not be
/// written to meanwhile.
class ArrayRecording final : public Recording {
 public:
  /// Throws py::type_error unless X is a matrix of native float32 or float64, aligned.
  explicit ArrayRecording(const py::array& X, const char* name = "X");
  bool is_float() const { return is_float_; }
  /// Whether frames are viewed where they are.
  bool is_in_order() const { return channel_step_ == 1 && frame_step_ >= channels_; }

  Index channels() const override { return channels_; }
  Index frames() const override { return frames_; }
  double resolution() const override;
  std::unique_ptr<Reading> read() const override;
  bool random_access() const override { return true; }
  AnyFrames frames_at(Index first, Index count, FrameBuffer& buffer) const override;

  /// f(doubles, first) for all frames in pieces of at most `most`, Ctrl-C looked for between them.
  template <typename F>
  void in_pieces(Index most, const F& f) const {
    FrameBuffer buffer;
    Matrix<double> doubles;
    for (Index first = 0; first < frames_; first += most) {
      f(as_doubles(frames_at(first, std::min(most, frames_ - first), buffer), doubles), first);
    }
  }

 private:
  class ArrayReading;
  template <typename T>
  AnyFrames view(Index first, Index count, Matrix<T>& buffer) const;
  template <typename T, typename Out>
  void copy(Index first, Index count, Out&& out) const;

  const void* data_;
  bool is_float_;
  Index channels_, frames_;
  Index channel_step_, frame_step_;  // in numbers, may be negative
  Interrupts interrupts_;
};

/// Frees the GIL; what f returns. Nothing of Python may be touched in f.
template <typename F>
auto without_gil(F&& f) {
  const py::gil_scoped_release release;
  return f();
}

/// A Python callable called with the share done, from any thread; None: no callback.
ProgressCallback progress_of(const py::object& callback);

/// (rows, columns) in C order, by value.
py::array_t<double> to_array(const Matrix<double>& m);
py::array_t<double> to_array(const Vector<double>& v);
/// channels x samples -> (samples, channels), without a copy.
py::array_t<double> frames_to_array(Matrix<double>&& m);

using InputArray = py::array_t<double, py::array::c_style | py::array::forcecast>;
Matrix<double> to_matrix(const InputArray& a, const char* name);
Vector<double> to_vector(const InputArray& a, const char* name);

/// (samples, rows) of the type of X, filled by map(frames) on `jobs` threads. A result that is not finite
/// throws std::invalid_argument.
py::array map_frames(const py::array& X, Index rows, Index jobs, const char* name,
                     const std::function<Matrix<double>(const Frames<double>&)>& map);

}  // namespace demix::python
