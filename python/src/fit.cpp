#include <pybind11/stl.h>

#include "bindings.hpp"
#include "demix/white_recording.hpp"

namespace demix::python {
namespace {

// What the dictionary has under this name, taken out of it.
template <typename T>
std::optional<T> take(py::dict& from, const char* name) {
  if (!from.contains(name)) return {};
  const py::object value = from.attr("pop")(name);
  if (value.is_none()) return {};
  try {
    return value.cast<T>();
  } catch (const py::cast_error&) {
    throw py::type_error(std::string(name) + ": got " + std::string(py::repr(value)));
  }
}

Outcome run(const py::array& X, const py::object& method_name, const py::dict& given,
            const std::optional<InputArray>& weights, Index jobs, const py::object& progress) {
  const Method& method = method_of(method_name);
  MethodOptions options = method_options(given);
  const ProgressCallback told = progress_of(progress);
  const Interrupts interrupts;
  options.progress = [&](double share) {
    if (told) told(share);
    interrupts.poll();
  };
  const ArrayRecording recording(X);
  std::optional<WeightedRecording> weighted;
  if (weights) weighted.emplace(recording, to_vector(*weights, "weights"));
  const Recording& in = weighted ? static_cast<const Recording&>(*weighted) : recording;
  return without_gil([&] {
    const ThreadLimit limit(jobs);
    return method.run(in, options);
  });
}

}  // namespace

const Method& method_of(const py::object& name_or_class) {
  if (py::isinstance<py::str>(name_or_class)) return method_named(name_or_class.cast<std::string>());
  return own_rule();
}

MethodOptions method_options(const py::dict& given) {
  py::dict left(py::reinterpret_steal<py::dict>(PyDict_Copy(given.ptr())));
  MethodOptions o;
  o.seed = take<std::uint64_t>(left, "seed").value_or(0);
  o.components = take<Index>(left, "components").value_or(0);
  o.share = take<double>(left, "share").value_or(0);
  o.form = take<std::string>(left, "form").value_or("");
  o.eta = take<double>(left, "eta");
  o.tau = take<double>(left, "tau");
  if (const auto weight = take<std::string>(left, "weight")) o.weight = weight_named(*weight);
  o.lambda = take<std::vector<double>>(left, "lambda").value_or(std::vector<double>{});
  if (const auto reading = take<std::string>(left, "reading")) o.reading = lambda_reading_named(*reading);
  o.sub_gaussian = take<Index>(left, "sub_gaussian");
  o.whiten = take<bool>(left, "whiten");
  if (const auto order = take<std::string>(left, "order")) o.order = order_named(*order);
  if (const auto start = take<InputArray>(left, "start")) o.start = to_matrix(*start, "start");
  o.max_iterations = take<Index>(left, "max_iterations");
  o.tolerance = take<double>(left, "tolerance");
  o.stability = take<Index>(left, "stability").value_or(0);
  o.passes = take<Index>(left, "passes").value_or(1);
  o.shuffle = take<bool>(left, "shuffle").value_or(false);
  o.online_output = take<bool>(left, "online_output").value_or(false);
  if (const auto rule = take<py::object>(left, "rule")) {
    // Copies of the options may go in threads without the GIL.
    const std::shared_ptr<py::object> kept(new py::object(*rule), [](py::object* p) {
      const py::gil_scoped_acquire acquire;
      delete p;
    });
    o.rule = [kept](Index inputs, Index outputs, std::uint64_t seed) {
      return make_python_rule(*kept, inputs, outputs, seed);
    };
  }
  for (const auto& [name, value] : left) {
    throw py::type_error("no such option: " + std::string(py::str(name)));
  }
  return o;
}

void bind_fit(py::module_& m) {
  m.def("fit", [](const py::array& X, const py::object& method, const py::dict& options,
                  const std::optional<InputArray>& weights, Index jobs, const py::object& progress) {
    Outcome out = run(X, method, options, weights, jobs, progress);
    py::object live = py::none();
    if (out.online_output.size() > 0) live = frames_to_array(std::move(out.online_output));
    return py::make_tuple(std::move(out.model), out.why, live);
  });
  m.def("whiten", [](const py::array& X, Index components, double share, Index jobs) {
    const ArrayRecording recording(X);
    const Whitening w = without_gil([&] {
      const ThreadLimit limit(jobs);
      return whiten(recording, {.components = components, .share = share}).whitening();
    });
    return py::make_tuple(to_array(w.mean), to_array(w.whitener), to_array(w.dewhitener), w.rank);
  });
  m.def("methods", [] {
    py::list out;
    for (const Method& method : methods()) {
      py::dict row;
      row["name"] = std::string(method.name);
      row["online"] = method.online;
      row["local"] = std::string(locality_name(method.locality));
      row["input"] = std::string(input_name(method.input));
      row["finds"] = std::string(finds_name(method.finds));
      row["sources"] = std::string(method.sources);
      row["cannot"] = std::string(method.cannot);
      row["reference"] = std::string(method.reference);
      py::list forms;
      for (const Form& form : method.forms) forms.append(py::make_tuple(std::string(form.name), form.eta));
      row["forms"] = forms;
      row["square"] = method.square;
      out.append(row);
    }
    return out;
  });
}

}  // namespace demix::python
