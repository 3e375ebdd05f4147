#include "demix/synthetic.hpp"

#include <pybind11/stl.h>

#include "bindings.hpp"

namespace demix::python {
namespace {

Timing timing_named(const std::string& name) {
  if (name == "iid") return Timing::iid;
  if (name == "waveform") return Timing::waveform;
  throw std::invalid_argument("timing: expected iid or waveform, got '" + name + "'");
}

py::tuple parts(Mixture&& mixture) {
  return py::make_tuple(frames_to_array(std::move(mixture.sources)), to_array(mixture.mixing),
                        frames_to_array(std::move(mixture.mixtures)));
}

}  // namespace

void bind_synthetic(py::module_& m) {
  m.def("source_names", &source_names);
  m.def("make_sources", [](const std::vector<std::string>& names, Index samples, const std::string& timing,
                           std::uint64_t seed) {
    std::vector<Source> which;
    for (const std::string& name : names) which.push_back(source_named(name));
    if (which.empty()) throw std::invalid_argument("sources: expected at least one");
    if (samples < 1) throw std::invalid_argument("samples: expected at least 1");
    const Timing how = timing_named(timing);
    return frames_to_array(without_gil([&] {
      Random random(seed);
      return make_sources(which, samples, how, random);
    }));
  });
  m.def("normal_mixing", [](Index d, std::uint64_t seed) {
    if (d < 1) throw std::invalid_argument("d: expected at least 1");
    Random random(seed);
    return to_array(normal_mixing(d, random));
  });
  m.def("conditioned_mixing", [](Index d, double condition, std::uint64_t seed) {
    if (d < 1) throw std::invalid_argument("d: expected at least 1");
    if (!(condition >= 1 && condition <= 1e12)) {
      throw std::invalid_argument("condition: expected 1 to 1e12");
    }
    Random random(seed);
    return to_array(conditioned_mixing(d, condition, random));
  });
  m.def("make_scenario", [](int scenario, Index samples, std::uint64_t seed, const std::string& timing) {
    if (scenario < 1 || scenario > 4) {
      throw std::invalid_argument("scenario: expected 1 to 4, got " + std::to_string(scenario));
    }
    if (samples < 10) throw std::invalid_argument("samples: expected at least 10");
    const Timing how = timing_named(timing);
    return parts(without_gil([&] { return make_scenario(scenario, samples, seed, how); }));
  });
}

}  // namespace demix::python
