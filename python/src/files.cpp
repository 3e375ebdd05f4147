#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include "bindings.hpp"
#include "demix/separate_files.hpp"
#include "demix/signal_files.hpp"

namespace demix::python {
namespace {

io::Orientation orientation_named(const std::string& name) {
  if (name == "automatic") return io::Orientation::automatic;
  if (name == "frames") return io::Orientation::frames;
  if (name == "channels") return io::Orientation::channels;
  throw std::invalid_argument("orientation: expected automatic, frames or channels, got '" + name + "'");
}

using Paths = std::vector<std::filesystem::path>;

// channels, rate, variable, orientation, planes
io::ReadOptions read_options(const py::dict& given) {
  io::ReadOptions options;
  options.channels = given["channels"].cast<Index>();
  options.rate = given["rate"].cast<double>();
  options.variable = given["variable"].cast<std::string>();
  options.orientation = orientation_named(given["orientation"].cast<std::string>());
  options.planes = given["planes"].cast<bool>();
  return options;
}

py::tuple separated(const Paths& paths, const std::filesystem::path& folder, const std::string& method,
                    const py::dict& method_given, const py::dict& read_given, bool bad_annotations,
                    const std::filesystem::path& frame_weights, const Paths& truth, bool report, Index jobs,
                    const py::object& progress) {
  SeparateFilesOptions options;
  options.fit.method = method;
  options.fit.options = method_options(method_given);
  options.fit.bad_annotations = bad_annotations;
  options.fit.frame_weights = frame_weights;
  options.truth = truth;
  options.report = report;
  const io::ReadOptions read = read_options(read_given);
  const ProgressCallback told = progress_of(progress);
  const Interrupts interrupts;
  options.fit.options.progress = [&](double share) {
    if (told) told(share);
    interrupts.poll();
  };
  SeparatedFiles out = without_gil([&] {
    const ThreadLimit limit(jobs);
    return separate_files(io::FileRecording(paths, read), folder, options);
  });
  std::vector<double> gains;
  for (const io::Scaling& s : out.scaling) gains.push_back(s.gain);
  return py::make_tuple(std::move(out.model), out.why, out.sources, gains, out.strongest_on, out.model_file,
                        out.report_file, out.summary_file, out.summary);
}

Paths applied(const Model& model, const Paths& paths, const std::filesystem::path& output,
              const std::optional<std::vector<Index>>& without, const py::dict& read_given, Index jobs) {
  const io::ReadOptions read = read_options(read_given);
  return without_gil([&] {
    const ThreadLimit limit(jobs);
    return apply_to_files(model, io::FileRecording(paths, read), output, without).files;
  });
}

}  // namespace

void bind_files(py::module_& m) {
  m.def("separate_files", &separated);
  m.def("apply_to_files", &applied);
  m.def("read", [](const Paths& paths, const py::dict& given) {
    const io::ReadOptions options = read_options(given);
    Matrix<double> data;
    const io::SignalInfo info = without_gil([&] {
      const io::FileRecording recording(paths, options);
      data = gather(recording);
      return recording.info();
    });
    py::dict out;
    out["data"] = frames_to_array(std::move(data));
    out["rate"] = info.rate;
    out["names"] = info.names;
    out["units"] = info.units;
    py::list annotations;
    for (const io::Annotation& a : info.annotations) {
      annotations.append(py::make_tuple(a.onset, a.duration, a.text));
    }
    out["annotations"] = annotations;
    out["width"] = info.width;
    out["height"] = info.height;
    out["notes"] = info.notes;
    out["start"] = info.start;
    return out;
  });
  m.def("extensions", &io::extensions_text);
}

}  // namespace demix::python
