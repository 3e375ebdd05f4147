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

// channels, rate, variable, orientation, planes, time_column, delimiter
io::ReadOptions read_options(const py::dict& given) {
  io::ReadOptions options;
  options.channels = given["channels"].cast<Index>();
  options.rate = given["rate"].cast<double>();
  options.variable = given["variable"].cast<std::string>();
  options.orientation = orientation_named(given["orientation"].cast<std::string>());
  options.planes = given["planes"].cast<bool>();
  options.time_column = given["time_column"].cast<std::optional<Index>>();
  const auto delimiter = given["delimiter"].cast<std::string>();
  options.delimiter = delimiter.empty() ? '\0' : delimiter[0];
  return options;
}

io::FileRecording opened(const Paths& paths, const py::dict& given) {
  const io::ReadOptions options = read_options(given);
  const auto join = given["join"].cast<std::string>() == "frames" ? io::Join::frames : io::Join::channels;
  return without_gil([&] { return io::FileRecording(paths, options, join); });
}

// What to learn from: bad, bad_annotations, find_bad, frame_weights, pick, exclude, find_bad_channels,
// average_reference, highpass, lowpass, notches, decimate
FitOptions fit_options(const py::dict& given) {
  FitOptions o;
  for (const auto& [from, to] : given["bad"].cast<std::vector<std::pair<double, double>>>())
    o.bad.push_back({from, to});
  o.bad_annotations = given["bad_annotations"].cast<bool>();
  o.find_bad = given["find_bad"].cast<bool>();
  o.frame_weights = given["frame_weights"].cast<std::string>();
  o.pick = given["pick"].cast<std::vector<std::string>>();
  o.exclude = given["exclude"].cast<std::vector<std::string>>();
  o.find_bad_channels = given["find_bad_channels"].cast<bool>();
  o.average_reference = given["average_reference"].cast<bool>();
  o.filters = {given["highpass"].cast<double>(), given["lowpass"].cast<double>(),
               given["notches"].cast<std::vector<double>>(), given["decimate"].cast<Index>()};
  return o;
}

py::tuple separated(const Paths& paths, const std::filesystem::path& folder, const std::string& method,
                    const py::dict& method_given, const py::dict& read_given, const py::dict& fit_given,
                    const Paths& truth, const std::filesystem::path& positions, bool filter_output,
                    bool report, Index jobs, const py::object& progress) {
  SeparateFilesOptions options;
  options.fit = fit_options(fit_given);
  options.fit.method = method;
  options.fit.options = method_options(method_given);
  std::vector<std::string> notes;
  options.fit.note = [&](const std::string& text) { notes.push_back(text); };
  options.truth = truth;
  options.eeg.positions = positions;
  options.filter_output = filter_output;
  options.report = report;
  const io::FileRecording mixtures = opened(paths, read_given);
  notes = mixtures.info().notes;
  const ProgressCallback told = progress_of(progress);
  const Interrupts interrupts;
  options.fit.options.progress = [&](double share) {
    if (told) told(share);
    interrupts.poll();
  };
  SeparatedFiles out = without_gil([&] {
    const ThreadLimit limit(jobs);
    return separate_files(mixtures, folder, options);
  });
  std::vector<double> gains;
  for (const io::Scaling& s : out.scaling) gains.push_back(s.gain);
  return py::make_tuple(std::move(out.model), out.why, out.sources, gains, out.strongest_on, out.model_file,
                        out.report_file, out.summary_file, out.summary, notes);
}

Paths applied(const Model& model, const Paths& paths, const std::filesystem::path& output,
              const std::optional<std::vector<Index>>& without, const py::dict& read_given, Index jobs) {
  const io::FileRecording mixtures = opened(paths, read_given);
  return without_gil([&] {
    const ThreadLimit limit(jobs);
    return apply_to_files(model, mixtures, output, without).files;
  });
}

}  // namespace

void bind_files(py::module_& m) {
  m.def("separate_files", &separated);
  m.def("apply_to_files", &applied);
  m.def("read", [](const Paths& paths, const py::dict& given) {
    const io::FileRecording recording = opened(paths, given);
    Matrix<double> data = without_gil([&] { return gather(recording); });
    const io::SignalInfo& info = recording.info();
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
