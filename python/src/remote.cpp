#include <pybind11/stl.h>

#include "batch/remote_requests.hpp"
#include "bindings.hpp"

/// For demix.dask: a fit whose passes are done by a Python function, and what that has to call where the
/// frames are.
namespace demix::python {
namespace {

class RemoteRecording final : public Recording {
 public:
  RemoteRecording(Index frames, Index channels, bool is_float, py::object sums)
      : frames_(frames), channels_(channels), is_float_(is_float), sums_(std::move(sums)) {}
  Index channels() const override { return channels_; }
  Index frames() const override { return frames_; }
  double resolution() const override {
    return is_float_ ? static_cast<double>(std::numeric_limits<float>::epsilon())
                     : std::numeric_limits<double>::epsilon();
  }
  std::unique_ptr<Reading> read() const override {
    throw std::invalid_argument("X: this method needs the samples themselves, which are not gathered");
  }
  bool is_remote() const override { return true; }
  std::string remote_sums(const std::string& request) const override {
    const py::gil_scoped_acquire acquire;
    return sums_(py::bytes(request)).cast<std::string>();
  }

 private:
  Index frames_, channels_;
  bool is_float_;
  py::object sums_;
};

Outcome fit(Index frames, Index channels, bool is_float, const py::object& sums, const std::string& name,
            const py::dict& given, Index jobs, const py::object& progress) {
  const Method& method = method_named(name);
  MethodOptions options = method_options(given);
  const ProgressCallback told = progress_of(progress);
  const Interrupts interrupts;
  options.progress = [&](double share) {
    if (told) told(share);
    interrupts.poll();
  };
  const RemoteRecording recording(frames, channels, is_float, sums);
  return without_gil([&] {
    const ThreadLimit limit(jobs);
    return method.run(recording, options);
  });
}

}  // namespace

void bind_remote(py::module_& m) {
  m.def("fit_remote",
        [](Index frames, Index channels, bool is_float, const py::object& sums, const std::string& method,
           const py::dict& options, Index jobs, const py::object& progress) {
          Outcome out = fit(frames, channels, is_float, sums, method, options, jobs, progress);
          return py::make_tuple(std::move(out.model), out.why);
        });
  m.def("block_sums", [](const py::array& X, std::int64_t first, Index number, bool is_aligned,
                         const std::string& request, Index jobs) {
    const ArrayRecording block(X);
    return py::bytes(without_gil([&] {
      const ThreadLimit limit(jobs);
      return sums_of_block(block, {first, number, is_aligned}, request);
    }));
  });
  m.def("joined_sums", [](const std::string& request, const std::vector<std::string>& parts) {
    return py::bytes(without_gil([&] { return joined_sums_of(request, {parts.begin(), parts.end()}); }));
  });
  m.def("chunk_frames", [](Index channels) {
    const py::array_t<double> none(std::vector<Index>{0, channels});
    return ArrayRecording(none).chunk_frames();
  });
}

}  // namespace demix::python
