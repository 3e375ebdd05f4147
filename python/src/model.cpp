#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include "bindings.hpp"
#include "demix/io.hpp"
#include "demix/linear_algebra.hpp"

namespace demix::python {
namespace {

constexpr std::array<const char*, 12> kinds = {
    "unresolved", "gaussian",  "reduced_rank", "few_samples", "not_converged", "refused_frames",
    "convolved",  "dependent", "glitches",     "drift",       "clipped",       "unstable"};

py::object diagnosis(const Model& model) {
  const Diagnosis& d = model.diagnosis;
  py::dict out;
  if (d.crosstalk) {
    out["expected"] = d.crosstalk->expected;
    out["bound"] = d.crosstalk->bound;
    out["pairs"] = to_array(d.crosstalk->pairs);
  }
  out["no_crosstalk"] = d.no_crosstalk;
  if (d.coherence.size() > 0) out["coherence"] = to_array(d.coherence);
  if (d.magnitudes.size() > 0) out["magnitudes"] = to_array(d.magnitudes);
  py::list warnings;
  for (const Warning& w : model.warnings) {
    warnings.append(
        py::make_tuple(kinds.at(static_cast<std::size_t>(w.kind)), w.text, w.components, w.frames));
  }
  out["warnings"] = warnings;
  out["converged"] = model.convergence.converged;
  out["iterations"] = model.convergence.iterations;
  out["objective"] = model.convergence.objective;
  return out;
}

Model made(const InputArray& unmixing, const std::optional<InputArray>& mixing,
           const std::optional<InputArray>& mean, const std::optional<InputArray>& kurtosis,
           std::vector<std::string> names) {
  Model m;
  m.method = "given";
  m.version = py::str(py::module_::import("demix._core").attr("__version__"));
  m.unmixing = to_matrix(unmixing, "unmixing");
  if (m.unmixing.size() == 0)
    throw std::invalid_argument("unmixing: expected components and channels, got none");
  m.mixing = mixing ? to_matrix(*mixing, "mixing") : pseudo_inverse(m.unmixing);
  m.mean = mean ? to_vector(*mean, "mean") : Vector<double>::Zero(m.unmixing.cols());
  m.kurtosis = kurtosis ? to_vector(*kurtosis, "kurtosis") : Vector<double>::Constant(m.unmixing.rows(), 3.0);
  m.names = std::move(names);
  m.validate();
  return m;
}

}  // namespace

void bind_model(py::module_& m) {
  py::class_<Model>(m, "CoreModel")
      .def(py::init(&made))
      .def_static("load", [](const std::filesystem::path& path) { return io::load_model(path); })
      .def_static("from_json", [](const std::string& text) { return io::parse_model(text, "model"); })
      .def("save", [](const Model& model, const std::filesystem::path& path) { io::save_model(path, model); })
      .def("to_json", [](const Model& model) { return io::to_json(model); })
      .def_readonly("method", &Model::method)
      .def_readonly("options", &Model::options)
      .def_readonly("version", &Model::version)
      .def_readwrite("names", &Model::names)
      .def_readonly("samples", &Model::samples)
      .def_property_readonly("mean", [](const Model& model) { return to_array(model.mean); })
      .def_property_readonly("unmixing", [](const Model& model) { return to_array(model.unmixing); })
      .def_property_readonly("mixing", [](const Model& model) { return to_array(model.mixing); })
      .def_property_readonly("kurtosis", [](const Model& model) { return to_array(model.kurtosis); })
      .def_property_readonly("stability", [](const Model& model) { return to_array(model.stability); })
      .def_property_readonly("converged", [](const Model& model) { return model.convergence.converged; })
      .def_property_readonly("iterations", [](const Model& model) { return model.convergence.iterations; })
      .def_property_readonly("suggestions",
                             [](const Model& model) {
                               py::list out;
                               for (const Suggestion& s : model.suggestions)
                                 out.append(py::make_tuple(s.component, s.kind, s.reason));
                               return out;
                             })
      .def("diagnosis", &diagnosis)
      .def("validate", &Model::validate)
      .def("apply",
           [](const Model& model, const py::array& X, Index jobs) {
             return map_frames(X, model.components(), jobs, "X",
                               [&](const Frames<double>& x) { return model.apply(x); });
           })
      .def("invert",
           [](const Model& model, const py::array& Y, Index jobs) {
             return map_frames(Y, model.channels(), jobs, "Y",
                               [&](const Frames<double>& y) { return model.invert(y); });
           })
      .def("remove", [](const Model& model, const py::array& X, const std::vector<Index>& which, Index jobs) {
        return map_frames(X, model.channels(), jobs, "X",
                          [&](const Frames<double>& x) { return model.remove(x, which); });
      });
}

}  // namespace demix::python
