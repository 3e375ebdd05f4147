#include "demix/compare.hpp"

#include <pybind11/stl.h>

#include "bindings.hpp"

namespace demix::python {
namespace {

// A scenario's number, names of sources, or recorded ones, (samples, sources).
Problem problem_of(const py::object& given, bool white, bool shuffle, double condition) {
  if (py::isinstance<py::int_>(given)) {
    const int scenario = given.cast<int>();
    if (scenario < 1 || scenario > 4) {
      throw std::invalid_argument("problem: expected a scenario from 1 to 4, got " +
                                  std::to_string(scenario));
    }
    return scenario_problem(scenario);
  }
  Problem p;
  p.white = white;
  p.shuffle = shuffle;
  p.condition = condition;
  if (py::isinstance<py::array>(given)) {
    p.name = "recording";
    p.recording = to_matrix(given.cast<InputArray>(), "problem").transpose();
    if (p.recording.rows() < 2 || p.recording.cols() < 10 || !p.recording.allFinite()) {
      throw std::invalid_argument("problem: expected at least 2 sources of 10 finite samples");
    }
    return p;
  }
  for (const std::string& name : given.cast<std::vector<std::string>>()) {
    p.sources.push_back(source_named(name));
    p.name += (p.name.empty() ? "" : "+") + name;
  }
  if (p.sources.size() < 2) throw std::invalid_argument("problem: expected at least 2 sources");
  return p;
}

// NAME[:FORM][@ETA], or (label, rule class).
Contender contender_of(const py::object& given) {
  if (py::isinstance<py::str>(given)) return contender_named(given.cast<std::string>());
  const auto [label, rule] = given.cast<std::pair<std::string, py::object>>();
  py::dict options;
  options["rule"] = rule;
  return {label, &own_rule(), method_options(options)};
}

py::dict summary(const Comparison& all, Index k, std::vector<double> Run::*measure) {
  const Summary s = summarise(all, k, measure);
  py::dict out;
  out["runs"] = s.runs;
  out["separated"] = s.separated;
  out["diverged"] = s.diverged;
  out["low"] = py::array(py::cast(s.low));
  out["median"] = py::array(py::cast(s.median));
  out["high"] = py::array(py::cast(s.high));
  return out;
}

}  // namespace

void bind_compare(py::module_& m) {
  m.def("compare", [](const py::object& given, const std::vector<py::object>& methods, Index samples,
                      Index seeds, std::uint64_t seed, int threads, bool white, bool shuffle,
                      double condition, const py::object& progress) {
    const Problem problem = problem_of(given, white, shuffle, condition);
    std::vector<Contender> contenders;
    for (const py::object& method : methods) contenders.push_back(contender_of(method));
    const ProgressCallback told = progress_of(progress);
    const Interrupts interrupts;
    CompareOptions options{samples, seeds, seed, threads, {}};
    options.progress = [&](double share) {
      if (told) told(share);
      interrupts.poll();
    };
    const Comparison all = without_gil([&] { return compare(problem, contenders, options); });
    py::dict out;
    out["frames"] = py::array(py::cast(all.frames));
    out["now"] = py::dict();
    out["running"] = py::dict();
    for (std::size_t k = 0; k < contenders.size(); ++k) {
      const py::str label(contenders[k].label);
      out["now"][label] = summary(all, static_cast<Index>(k), &Run::mse);
      out["running"][label] = summary(all, static_cast<Index>(k), &Run::running);
    }
    return out;
  });
}

}  // namespace demix::python
