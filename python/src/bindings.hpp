#pragma once

#include "arrays.hpp"
#include "demix/methods.hpp"

/// One function for each part of the module; module.cpp calls them.
namespace demix::python {

void bind_model(py::module_& m);
void bind_fit(py::module_& m);
void bind_stream(py::module_& m);
void bind_networks(py::module_& m);
void bind_metrics(py::module_& m);
void bind_synthetic(py::module_& m);
void bind_compare(py::module_& m);
void bind_files(py::module_& m);
void bind_remote(py::module_& m);

/// MethodOptions from a dictionary of those that are not None; `rule` is a Python class.
MethodOptions method_options(const py::dict& given);

/// The method named, or own_rule() for a class.
const Method& method_of(const py::object& name_or_class);

/// A rule written in Python (demix.Rule) as an online separator.
std::unique_ptr<OnlineSeparator> make_python_rule(const py::object& rule_class, Index inputs, Index outputs,
                                                  std::uint64_t seed);

}  // namespace demix::python
