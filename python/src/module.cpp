#include "bindings.hpp"
#include "demix/io.hpp"
#include "demix/version.hpp"

namespace {

// What the library's options are called in Python, where that differs.
std::string python_name(const std::string& option) {
  if (option == "max_iterations") return "max_iter";
  if (option == "tolerance") return "tol";
  if (option == "activity_weight") return "weight";
  if (option == "frame_weights") return "sample_weight";
  if (option == "lambda") return "lambda_";
  if (option == "components") return "n_components";
  return option;
}

void translate(std::exception_ptr p) {
  try {
    if (p) std::rethrow_exception(p);
  } catch (const demix::NoSuchOption& e) {
    const std::string text = "method " + e.method + " has no option " + python_name(e.option) + e.of_form;
    PyErr_SetString(PyExc_ValueError, text.c_str());
  }
}

}  // namespace

/// demix._core: the library as Python sees it. Estimators, names and checks of arguments are in python/demix.
PYBIND11_MODULE(_core, m) {
  using namespace demix::python;
  m.attr("__version__") = demix::version;
  // Both: a file that is bad is a value that is, too, and people catch either.
  const py::object bases = py::make_tuple(py::reinterpret_borrow<py::object>(PyExc_OSError),
                                          py::reinterpret_borrow<py::object>(PyExc_ValueError));
  py::register_exception<demix::io::Error>(m, "FileError", bases);
  py::register_exception<demix::Diverged>(m, "DivergedError", PyExc_RuntimeError);
  py::register_exception_translator(&translate);
  bind_model(m);
  bind_fit(m);
  bind_stream(m);
  bind_networks(m);
  bind_metrics(m);
  bind_synthetic(m);
  bind_compare(m);
  bind_files(m);
  bind_remote(m);
}
