#include <pybind11/stl.h>

#include <limits>

#include "bindings.hpp"
#include "demix/stream_separator.hpp"

namespace demix::python {
namespace {

constexpr Index piece = 4096;  // frames between looks for Ctrl-C

// One stream; calls from several threads wait for each other.
class Stream {
 public:
  Stream(Index channels, const StreamOptions& options) : separator_(channels, options) {}
  explicit Stream(StreamSeparator<double> separator) : separator_(std::move(separator)) {}

  Index learn(const py::array& X) {
    const ArrayRecording recording(X);
    require(recording);
    return without_gil([&] {
      const std::scoped_lock lock(mutex_);
      Index refused = 0;
      recording.in_pieces(piece, [&](const Frames<double>& x, Index) {
        if (y_.cols() < x.cols()) y_.resize(separator_.outputs(), x.cols());
        refused += separator_.process(x, y_.leftCols(x.cols()));
      });
      return refused;
    });
  }

  py::array process(const py::array& X) {
    const ArrayRecording recording(X);
    require(recording);
    return recording.is_float() ? put_out<float>(recording) : put_out<double>(recording);
  }

  // f(separator), one at a time, without the GIL.
  template <typename F>
  auto with(F&& f) {
    return without_gil([&] {
      const std::scoped_lock lock(mutex_);
      return f(separator_);
    });
  }

 private:
  void require(const Recording& X) const {
    if (X.channels() == separator_.channels()) return;
    throw std::invalid_argument("X: expected " + std::to_string(separator_.channels()) + " channels, got " +
                                std::to_string(X.channels()));
  }

  template <typename T>
  py::array put_out(const ArrayRecording& X) {
    py::array_t<T> out({X.frames(), separator_.outputs()});
    Eigen::Map<Matrix<T>> Y(out.mutable_data(), separator_.outputs(), X.frames());
    without_gil([&] {
      const std::scoped_lock lock(mutex_);
      X.in_pieces(piece, [&](const Frames<double>& x, Index first) {
        auto to = Y.middleCols(first, x.cols());
        if constexpr (std::is_same_v<T, double>) {
          separator_.process(x, to);
        } else {  // as StreamSeparator<float> does: beyond the range of float is its end, not Inf
          constexpr double end = std::numeric_limits<float>::max();
          if (y_.cols() < x.cols()) y_.resize(separator_.outputs(), x.cols());
          separator_.process(x, y_.leftCols(x.cols()));
          to = y_.leftCols(x.cols()).cwiseMax(-end).cwiseMin(end).template cast<float>();
        }
      });
    });
    return out;
  }

  StreamSeparator<double> separator_;
  Matrix<double> y_;
  std::mutex mutex_;
};

py::dict status(Stream& stream) {
  const StreamStatus s = stream.with([](auto& separator) { return separator.status(); });
  py::dict out;
  out["frames"] = s.frames;
  out["refused"] = s.refused;
  out["outliers"] = s.outliers;
  out["rank"] = s.rank;
  out["settled"] = s.settled;
  out["moved"] = s.moved;
  out["expected_mse"] = s.expected_mse;
  out["kurtosis"] = to_array(s.kurtosis);
  out["kurtosis_error"] = to_array(s.kurtosis_error);
  out["unresolved"] = s.unresolved;
  out["condition"] = s.condition;
  out["changes"] = s.changes;
  out["last_change"] = s.last_change;
  return out;
}

}  // namespace

void bind_stream(py::module_& m) {
  py::class_<Stream>(m, "Stream")
      .def(py::init([](Index channels, const std::string& learn, Index components, double memory, bool robust,
                       double saturation, Index replay, std::uint64_t seed) {
        return std::make_unique<Stream>(channels, StreamOptions{.learn = learn_named(learn),
                                                                .components = components,
                                                                .memory = memory,
                                                                .robust = robust,
                                                                .saturation = saturation,
                                                                .replay = replay,
                                                                .seed = seed});
      }))
      .def_static("restore",
                  [](const py::bytes& state) {
                    return std::make_unique<Stream>(
                        StreamSeparator<double>::restore(static_cast<std::string_view>(state)));
                  })
      .def("state",
           [](Stream& s) { return py::bytes(s.with([](auto& separator) { return separator.state(); })); })
      .def("learn", &Stream::learn)
      .def("process", &Stream::process)
      .def("status", &status)
      .def("refused_text",
           [](Stream& s) { return s.with([](auto& separator) { return refused_text(separator.status()); }); })
      .def("model", [](Stream& s) { return s.with([](auto& separator) { return separator.model(); }); })
      .def("finish", [](Stream& s) { s.with([](auto& separator) { separator.finish(); }); })
      .def("frozen", [](Stream& s) { return s.with([](auto& separator) { return separator.frozen(); }); })
      .def("start", [](Stream& s, const Model& model,
                       bool freeze) { s.with([&](auto& separator) { separator.start(model, freeze); }); })
      .def_property_readonly(
          "unmixing",
          [](Stream& s) { return to_array(s.with([](auto& separator) { return separator.unmixing(); })); })
      .def_property_readonly(
          "mixing",
          [](Stream& s) {
            return to_array(s.with([](auto& separator) { return Matrix<double>(separator.mixing()); }));
          })
      .def_property_readonly(
          "mean",
          [](Stream& s) {
            return to_array(s.with([](auto& separator) { return Vector<double>(separator.mean()); }));
          })
      .def_property_readonly(
          "frames", [](Stream& s) { return s.with([](auto& separator) { return separator.frames(); }); })
      .def_property_readonly(
          "channels", [](Stream& s) { return s.with([](auto& separator) { return separator.channels(); }); })
      .def_property_readonly(
          "outputs", [](Stream& s) { return s.with([](auto& separator) { return separator.outputs(); }); })
      .def_property_readonly(
          "block", [](Stream& s) { return s.with([](auto& separator) { return separator.block(); }); })
      .def("options", [](Stream& s) {
        const StreamOptions o = s.with([](auto& separator) { return separator.options(); });
        py::dict out;
        out["learn"] = std::string(learn_name(o.learn));
        out["n_components"] = o.components;
        out["memory"] = o.memory;
        out["robust"] = o.robust;
        out["saturation"] = o.saturation;
        out["replay"] = o.replay;
        out["seed"] = o.seed;
        return out;
      });
}

}  // namespace demix::python
