#include <pybind11/stl.h>

#include "bindings.hpp"
#include "demix/metrics.hpp"

namespace demix::python {
namespace {

// (samples, rows) as the library's rows x samples.
Matrix<double> frames_of(const InputArray& a, const char* name) { return to_matrix(a, name).transpose(); }

void require_same(const Matrix<double>& S, const Matrix<double>& Y) {
  if (S.rows() == Y.rows() && S.cols() == Y.cols() && S.size() > 0) return;
  throw std::invalid_argument("Y: expected the shape of S, (" + std::to_string(S.cols()) + ", " +
                              std::to_string(S.rows()) + "), got (" + std::to_string(Y.cols()) + ", " +
                              std::to_string(Y.rows()) + ")");
}

Matrix<double> gain_of(const InputArray& a) {
  Matrix<double> P = to_matrix(a, "P");
  if (P.rows() != P.cols() || P.rows() == 0) {
    throw std::invalid_argument("P: expected a square matrix, unmixing times mixing, got " +
                                std::to_string(P.rows()) + " x " + std::to_string(P.cols()));
  }
  if (!P.allFinite()) throw std::invalid_argument("P: a value is not finite");
  return P;
}

}  // namespace

void bind_metrics(py::module_& m) {
  m.def("amari", [](const InputArray& P) { return amari_index(gain_of(P)); });
  m.def("md", [](const InputArray& P) { return md_index(gain_of(P)); });
  m.def("mse_of_gain", [](const InputArray& P) { return mse_of_gain(gain_of(P)); });
  m.def("mse", [](const InputArray& S_, const InputArray& Y_) {
    const Matrix<double> S = frames_of(S_, "S");
    const Matrix<double> Y = frames_of(Y_, "Y");
    require_same(S, Y);
    return without_gil([&] { return mse(S, Y); });
  });
  m.def("bss_eval", [](const InputArray& S_, const InputArray& Y_) {
    const Matrix<double> S = frames_of(S_, "S");
    const Matrix<double> Y = frames_of(Y_, "Y");
    require_same(S, Y);
    const BssEval e = without_gil([&] { return bss_eval(S, Y); });
    return py::make_tuple(to_array(e.sdr), to_array(e.sir), to_array(e.sar), e.matching.output,
                          e.matching.sign);
  });
  m.def("mutual_information_reduction", [](const InputArray& U_, const InputArray& X_) {
    const Matrix<double> U = to_matrix(U_, "unmixing");
    const Matrix<double> X = frames_of(X_, "X");
    return without_gil([&] { return mutual_information_reduction(U, X); });
  });
}

}  // namespace demix::python
