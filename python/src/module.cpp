#include "bindings.hpp"
#include "demix/io.hpp"
#include "demix/version.hpp"

/// demix._core: the library as Python sees it. Estimators, names and checks of arguments are in python/demix.
PYBIND11_MODULE(_core, m) {
  using namespace demix::python;
  m.attr("__version__") = demix::version;
  // Both: a file that is bad is a value that is, too, and people catch either.
  const py::object bases = py::make_tuple(py::reinterpret_borrow<py::object>(PyExc_OSError),
                                          py::reinterpret_borrow<py::object>(PyExc_ValueError));
  py::register_exception<demix::io::Error>(m, "FileError", bases);
  py::register_exception<demix::Diverged>(m, "DivergedError", PyExc_RuntimeError);
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
