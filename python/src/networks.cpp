#include <pybind11/stl.h>

#include <algorithm>

#include "bindings.hpp"
#include "demix/natural_network.hpp"
#include "demix/sm_ica_network.hpp"

namespace demix::python {
namespace {

constexpr Index piece = 4096;  // frames between looks for Ctrl-C

// A network and a lock: calls from several threads wait for each other.
template <typename Network>
struct Locked {
  Network network;
  std::mutex mutex = {};

  template <typename F>
  auto with(F&& f) {
    return without_gil([&] {
      const std::scoped_lock lock(mutex);
      return f(network);
    });
  }

  // Outputs of all frames of X: process(frames, outputs) for some of them at a time.
  template <typename Process>
  py::array_t<double> outputs(const py::array& X, Index inputs, Index outputs, const Process& process) {
    const ArrayRecording recording(X);
    if (recording.channels() != inputs) {
      throw std::invalid_argument("X: expected " + std::to_string(inputs) + " channels, got " +
                                  std::to_string(recording.channels()));
    }
    Matrix<double> Y = Matrix<double>::Zero(outputs, recording.frames());
    without_gil([&] {
      const std::scoped_lock lock(mutex);
      recording.in_pieces(
          piece, [&](const Frames<double>& x, Index first) { process(x, Y.middleCols(first, x.cols())); });
    });
    return frames_to_array(std::move(Y));
  }
};

Vector<double> lambda2_of(const std::vector<double>& values, const std::string& reading) {
  if (values.empty()) return {};
  return lambda2_from_table(values, lambda_reading_named(reading));
}

using SmIca = Locked<SmIcaNetwork<double>>;
using Natural = Locked<NaturalNetwork<double>>;

void bind_sm_ica(py::module_& m) {
  py::class_<SmIca>(m, "SmIca")
      .def(py::init([](Index inputs, Index outputs, double eta, double tau, const std::vector<double>& lambda,
                       const std::string& reading, const std::string& weight, bool iterate, bool autapses,
                       std::uint64_t seed) {
        SmIcaNetworkOptions o;
        o.eta = eta;
        o.tau = tau;
        o.lambda2 = lambda2_of(lambda, reading);
        o.weight = weight_named(weight);
        o.dynamics = iterate ? SmIcaNetworkOptions::Dynamics::iterate : SmIcaNetworkOptions::Dynamics::solve;
        o.autapses = autapses;
        o.seed = seed;
        return std::unique_ptr<SmIca>(new SmIca{SmIcaNetwork<double>(inputs, outputs, o)});
      }))
      .def("process",
           [](SmIca& s, const py::array& X) {
             return s.outputs(
                 X, s.network.inputs(), s.network.outputs(),
                 [&](const Frames<double>& x, Eigen::Ref<Matrix<double>> y) { s.network.process(x, y); });
           })
      .def("set_weights",
           [](SmIca& s, const InputArray& W, const InputArray& M) {
             const Matrix<double> feedforward = to_matrix(W, "W");
             const Matrix<double> lateral = to_matrix(M, "M");
             s.with([&](auto& n) { n.set_weights(feedforward, lateral); });
           })
      .def_property_readonly(
          "W", [](SmIca& s) { return to_array(s.with([](auto& n) { return n.feedforward(); })); })
      .def_property_readonly("M",
                             [](SmIca& s) { return to_array(s.with([](auto& n) { return n.lateral(); })); })
      .def_property_readonly("unmixing",
                             [](SmIca& s) { return to_array(s.with([](auto& n) { return n.unmixing(); })); })
      .def_property_readonly(
          "c", [](SmIca& s) { return to_array(s.with([](auto& n) { return n.dendritic_currents(); })); })
      .def_property_readonly("activity",
                             [](SmIca& s) { return s.with([](auto& n) { return n.total_activity(); }); })
      .def_property_readonly("frames", [](SmIca& s) { return s.with([](auto& n) { return n.frames(); }); })
      .def_property_readonly("refused", [](SmIca& s) { return s.with([](auto& n) { return n.refused(); }); })
      .def_property_readonly("failure", [](SmIca& s) {
        const NetworkStatus status = s.with([](auto& n) { return n.status(); });
        return status == NetworkStatus::ok ? std::string() : std::string(describe(status));
      });
}

void bind_natural(py::module_& m) {
  py::class_<Natural>(m, "Natural")
      .def(py::init([](Index inputs, Index outputs, const std::vector<double>& lambda,
                       const std::string& reading, const std::string& weight, std::uint64_t seed) {
        NaturalNetworkOptions o;
        o.components = outputs;
        o.lambda2 = lambda2_of(lambda, reading);
        o.weight = weight_named(weight);
        o.seed = seed;
        return std::unique_ptr<Natural>(new Natural{NaturalNetwork<double>(inputs, o)});
      }))
      .def("process",
           [](Natural& s, const py::array& X) {
             return s.outputs(
                 X, s.network.inputs(), s.network.outputs(),
                 [&](const Frames<double>& x, Eigen::Ref<Matrix<double>> y) { s.network.process(x, y); });
           })
      .def("refresh", [](Natural& s) { s.with([](auto& n) { n.refresh(); }); })
      .def_property_readonly(
          "W", [](Natural& s) { return to_array(s.with([](auto& n) { return n.feedforward(); })); })
      .def_property_readonly("M",
                             [](Natural& s) { return to_array(s.with([](auto& n) { return n.lateral(); })); })
      .def_property_readonly(
          "whitener", [](Natural& s) { return to_array(s.with([](auto& n) { return n.whitener(); })); })
      .def_property_readonly(
          "unmixing", [](Natural& s) { return to_array(s.with([](auto& n) { return n.unmixing(); })); })
      .def_property_readonly(
          "mean",
          [](Natural& s) { return to_array(s.with([](auto& n) { return Vector<double>(n.mean()); })); })
      .def_property_readonly("rank", [](Natural& s) { return s.with([](auto& n) { return n.rank(); }); })
      .def_property_readonly("warm_up",
                             [](Natural& s) { return s.with([](auto& n) { return n.warm_up(); }); })
      .def_property_readonly("frames", [](Natural& s) { return s.with([](auto& n) { return n.frames(); }); })
      .def_property_readonly("refused",
                             [](Natural& s) { return s.with([](auto& n) { return n.refused(); }); });
}

// Any online method of the table, or a rule in Python.
struct Separator {
  std::unique_ptr<OnlineSeparator> at_work;
  Index inputs, outputs;
};
using Online = Locked<Separator>;

void bind_online(py::module_& m) {
  py::class_<Online>(m, "Online")
      .def(py::init([](const py::object& method, Index inputs, Index outputs, const py::dict& given) {
        const Method& row = method_of(method);
        if (!row.online) {
          throw std::invalid_argument("method " + std::string(row.name) +
                                      " is not online: use demix.ICA for it");
        }
        if (inputs < 1 || outputs < 1 || outputs > inputs || (row.square && outputs != inputs)) {
          throw std::invalid_argument("outputs: expected " +
                                      (row.square ? "as many as inputs" : std::string("1 up to the inputs")) +
                                      ", got " + std::to_string(outputs) + " of " + std::to_string(inputs));
        }
        return std::unique_ptr<Online>(
            new Online{Separator{row.start(inputs, outputs, method_options(given)), inputs, outputs}});
      }))
      .def("process",
           [](Online& s, const py::array& X) {
             return s.outputs(X, s.network.inputs, s.network.outputs,
                              [&](const Frames<double>& X_, Eigen::Ref<Matrix<double>> Y) {
                                Vector<double> x(X_.rows());
                                Vector<double> y(Y.rows());
                                for (Index t = 0; t < X_.cols(); ++t) {
                                  x = X_.col(t);
                                  if (!s.network.at_work->step(x, y)) return;
                                  Y.col(t) = y;
                                }
                              });
           })
      .def("finish", [](Online& s) { s.with([](auto& n) { n.at_work->finish(); }); })
      .def_property_readonly(
          "unmixing",
          [](Online& s) { return to_array(s.with([](auto& n) { return n.at_work->unmixing(); })); })
      .def_property_readonly("failure",
                             [](Online& s) { return s.with([](auto& n) { return n.at_work->failure(); }); });
}

class PythonRule final : public OnlineSeparator {
 public:
  PythonRule(const py::object& rule_class, Index inputs, Index outputs, std::uint64_t seed)
      : inputs_(inputs), outputs_(outputs), parts_(made(rule_class, inputs, outputs, seed)) {}

  bool step(const Vector<double>& x, Vector<double>& y) override {
    if (!diverged_) {
      const py::gil_scoped_acquire acquire;
      const py::array_t<double> in = to_array(x);  // its own: a rule may keep it
      const py::object out = parts_->respond(in);
      const auto values = InputArray::ensure(out);
      if (!values || values.ndim() != 1 || values.shape(0) != outputs_) {
        PyErr_Clear();
        throw std::invalid_argument("rule: expected " + std::to_string(outputs_) +
                                    " outputs from respond(x), got " + std::string(py::repr(out)));
      }
      y = Eigen::Map<const Vector<double>>(values.data(), outputs_);
      largest_ = std::max(largest_, x.squaredNorm());
      if (y.squaredNorm() <= 1e16 * largest_) {  // as rules of the library are looked at; false for NaN
        parts_->learn(in, out);
        return true;
      }
      diverged_ = true;
    }
    y.setZero();
    return false;
  }

  Matrix<double> unmixing() const override {
    const py::gil_scoped_acquire acquire;
    const py::object out = parts_->rule.attr("unmixing")();
    const auto values = InputArray::ensure(out);
    if (!values || values.ndim() != 2 || values.shape(0) != outputs_ || values.shape(1) != inputs_) {
      PyErr_Clear();
      throw std::invalid_argument("rule: expected a " + std::to_string(outputs_) + " x " +
                                  std::to_string(inputs_) + " matrix from unmixing(), got " +
                                  std::string(py::repr(out)));
    }
    return to_matrix(values, "unmixing");
  }

  std::string failure() const override { return diverged_ ? "its outputs grow without bound" : ""; }

 private:
  struct Parts {
    py::object rule, respond, learn;
  };
  struct WithGil {  // whichever thread is the last to have it
    void operator()(Parts* parts) const {
      const py::gil_scoped_acquire acquire;
      delete parts;
    }
  };
  static std::unique_ptr<Parts, WithGil> made(const py::object& rule_class, Index inputs, Index outputs,
                                              std::uint64_t seed) {
    const py::gil_scoped_acquire acquire;
    const py::object rule = rule_class(inputs, outputs, py::arg("seed") = seed);
    for (const char* name : {"respond", "learn", "unmixing"}) {
      if (!py::hasattr(rule, name)) {
        throw py::type_error("rule: expected a class with respond, learn and unmixing (see demix.Rule), " +
                             std::string(py::str(py::type::of(rule).attr("__name__"))) + " has no " + name);
      }
    }
    return std::unique_ptr<Parts, WithGil>(new Parts{rule, rule.attr("respond"), rule.attr("learn")});
  }

  Index inputs_, outputs_;
  std::unique_ptr<Parts, WithGil> parts_;
  double largest_ = 1;
  bool diverged_ = false;
};

}  // namespace

std::unique_ptr<OnlineSeparator> make_python_rule(const py::object& rule_class, Index inputs, Index outputs,
                                                  std::uint64_t seed) {
  return std::make_unique<PythonRule>(rule_class, inputs, outputs, seed);
}

void bind_networks(py::module_& m) {
  bind_sm_ica(m);
  bind_natural(m);
  bind_online(m);
}

}  // namespace demix::python
