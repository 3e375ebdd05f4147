#include "arrays.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "demix/moments.hpp"

namespace demix::python {

void Interrupts::poll() const {
  if (std::this_thread::get_id() != caller_) return;
  const Clock::time_point now = Clock::now();
  if (now < next_) return;
  next_ = now + std::chrono::milliseconds(50);
  const py::gil_scoped_acquire acquire;
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
}

ArrayRecording::ArrayRecording(const py::array& X, const char* name) : data_(X.data()) {
  const std::string what(name);
  if (X.ndim() != 2) {
    throw std::invalid_argument(what + ": expected a matrix, (samples, channels), got " +
                                std::to_string(X.ndim()) + (X.ndim() == 1 ? " dimension" : " dimensions"));
  }
  is_float_ = py::isinstance<py::array_t<float>>(X);
  if (!is_float_ && !py::isinstance<py::array_t<double>>(X)) {
    throw py::type_error(what + ": expected float32 or float64, got " +
                         std::string(py::str(static_cast<py::object>(X.dtype()))));
  }
  const py::ssize_t size = X.itemsize();
  const bool aligned = (X.flags() & py::detail::npy_api::NPY_ARRAY_ALIGNED_) != 0;
  if (!aligned || X.strides(0) % size != 0 || X.strides(1) % size != 0) {
    throw py::type_error(what + ": expected an aligned array; copy it first");
  }
  frames_ = X.shape(0);
  channels_ = X.shape(1);
  frame_step_ = X.strides(0) / size;
  channel_step_ = X.strides(1) / size;
  // The strides of a length of 1 mean nothing.
  if (channels_ == 1) channel_step_ = 1;
  if (frames_ == 1) frame_step_ = channels_;
}

double ArrayRecording::resolution() const {
  return is_float_ ? static_cast<double>(std::numeric_limits<float>::epsilon())
                   : std::numeric_limits<double>::epsilon();
}

// The channels one after the other where these lie together, else frame by frame.
template <typename T, typename Out>
void ArrayRecording::copy(Index first, Index count, Out&& out) const {
  const T* from = static_cast<const T*>(data_) + first * frame_step_;
  constexpr Index square = 32;  // of which rows and columns stay in cache
  for (Index t = 0; t < count; t += square) {
    const Index end = std::min(count, t + square);
    for (Index i = 0; i < channels_; ++i) {
      const T* channel = from + i * channel_step_;
      for (Index k = t; k < end; ++k) {
        out(i, k) = static_cast<typename std::decay_t<Out>::Scalar>(channel[k * frame_step_]);
      }
    }
  }
}

template <typename T>
AnyFrames ArrayRecording::view(Index first, Index count, Matrix<T>& buffer) const {
  if (is_in_order()) {
    using View = Eigen::Map<const Matrix<T>, Eigen::Unaligned, Eigen::OuterStride<>>;
    return Frames<T>(View(static_cast<const T*>(data_) + first * frame_step_, channels_, count,
                          Eigen::OuterStride<>(frame_step_)));
  }
  buffer.resize(channels_, count);
  copy<T>(first, count, buffer);
  return Frames<T>(buffer);
}

AnyFrames ArrayRecording::frames_at(Index first, Index count, FrameBuffer& buffer) const {
  interrupts_.poll();
  return is_float_ ? view<float>(first, count, buffer.floats) : view<double>(first, count, buffer.doubles);
}

class ArrayRecording::ArrayReading final : public Reading {
 public:
  explicit ArrayReading(const ArrayRecording& of) : of_(of) {}
  Index next(Eigen::Ref<Matrix<double>> out) override {
    of_.interrupts_.poll();
    const Index count = std::min(out.cols(), of_.frames_ - at_);
    if (of_.is_float_) {
      of_.copy<float>(at_, count, out);
    } else {
      of_.copy<double>(at_, count, out);
    }
    at_ += count;
    return count;
  }

 private:
  const ArrayRecording& of_;
  Index at_ = 0;
};

std::unique_ptr<Recording::Reading> ArrayRecording::read() const {
  return std::make_unique<ArrayReading>(*this);
}

ProgressCallback progress_of(const py::object& callback) {
  if (callback.is_none()) return {};
  // The last owner may be a thread without the GIL.
  const std::shared_ptr<py::object> shared(new py::object(callback), [](py::object* o) {
    const py::gil_scoped_acquire acquire;
    delete o;
  });
  return [shared](double share) {
    const py::gil_scoped_acquire acquire;
    (*shared)(share);
  };
}

py::array_t<double> to_array(const Matrix<double>& m) {
  py::array_t<double> out({m.rows(), m.cols()});
  using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  Eigen::Map<Rows>(out.mutable_data(), m.rows(), m.cols()) = m;
  return out;
}

py::array_t<double> to_array(const Vector<double>& v) {
  py::array_t<double> out(v.size());
  std::copy(v.begin(), v.end(), out.mutable_data());
  return out;
}

py::array_t<double> frames_to_array(Matrix<double>&& m) {
  auto* kept = new Matrix<double>(std::move(m));
  const py::capsule owner(kept, [](void* p) { delete static_cast<Matrix<double>*>(p); });
  return py::array_t<double>({kept->cols(), kept->rows()}, kept->data(), owner);
}

Matrix<double> to_matrix(const InputArray& a, const char* name) {
  if (a.ndim() != 2) {
    throw std::invalid_argument(std::string(name) + ": expected a matrix, got " + std::to_string(a.ndim()) +
                                " dimensions");
  }
  using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  return Eigen::Map<const Rows>(a.data(), a.shape(0), a.shape(1));
}

Vector<double> to_vector(const InputArray& a, const char* name) {
  if (a.ndim() != 1) {
    throw std::invalid_argument(std::string(name) + ": expected one dimension, got " +
                                std::to_string(a.ndim()));
  }
  return Eigen::Map<const Vector<double>>(a.data(), a.shape(0));
}

namespace {

[[noreturn]] void refuse_values(const Recording& X) {
  std::int64_t before = 0;
  X.pass([&](const Frames<double>& chunk) {
    require_finite(chunk, before);
    before += chunk.cols();
  });
  throw std::invalid_argument("X: values too large");
}

template <typename T>
py::array filled(const ArrayRecording& X, Index rows, Index jobs, const MappedRecording::Map& map) {
  py::array_t<T> out({X.frames(), rows});
  Eigen::Map<Matrix<T>> to(out.mutable_data(), rows, X.frames());
  without_gil([&] {
    const ThreadLimit limit(jobs);
    const MappedRecording mapped(X, rows, map);
    Index first = 0;
    bool finite = true;
    mapped.pass([&](const Frames<double>& chunk) {
      finite = finite && chunk.allFinite();
      to.middleCols(first, chunk.cols()) = chunk.template cast<T>();
      first += chunk.cols();
    });
    if (!finite) refuse_values(X);
  });
  return out;
}

}  // namespace

py::array map_frames(const py::array& X, Index rows, Index jobs, const char* name,
                     const MappedRecording::Map& map) {
  const ArrayRecording recording(X, name);
  return recording.is_float() ? filled<float>(recording, rows, jobs, map)
                              : filled<double>(recording, rows, jobs, map);
}

}  // namespace demix::python
