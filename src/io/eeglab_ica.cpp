#include "io/eeglab_ica.hpp"

#include <Eigen/Dense>

#include <algorithm>
#include <cmath>

#include "demix/version.hpp"

namespace demix::io {

std::shared_ptr<const Model> model_of(const EeglabIca& ica, const SignalInfo& info, const std::string& file) {
  if (!ica.weights || !ica.sphere || ica.weights->size() == 0 || ica.sphere->size() == 0) return nullptr;
  const auto require = [&](bool ok, const std::string& what) {
    if (!ok) throw Error(file + ": EEG." + what + "; it is damaged");
  };
  require(ica.weights->cols() == ica.sphere->rows(), "icaweights and EEG.icasphere do not fit");
  const Index n = ica.sphere->cols();
  auto model = std::make_shared<Model>();
  model->method = "eeglab";
  model->version = version;
  const bool are_listed = ica.channels && ica.channels->size() > 0;
  require(are_listed ? ica.channels->size() == n : info.channels == n,
          "icachansind does not fit EEG.icasphere");
  for (Index i = 0; i < n; ++i) {
    const double number = are_listed ? (*ica.channels)(i) : static_cast<double>(i + 1);
    require(number >= 1 && number <= static_cast<double>(info.channels) && number == std::trunc(number),
            "icachansind names a channel that there is not");
    if (!info.names.empty()) model->names.push_back(info.names[static_cast<std::size_t>(number) - 1]);
  }
  model->unmixing = *ica.weights * *ica.sphere;
  require(model->unmixing.rows() <= n && model->unmixing.allFinite(), "icaweights are no unmixing");
  const Eigen::CompleteOrthogonalDecomposition<Matrix<double>> inverse(model->unmixing);
  require(inverse.rank() == model->unmixing.rows(), "icaweights are singular");
  model->mixing = inverse.pseudoInverse();
  if (ica.inverse && ica.inverse->rows() == n && ica.inverse->cols() == model->unmixing.rows()) {
    // Its own, where it is an inverse: of fewer components than channels there are many.
    const Matrix<double> defect = model->unmixing * *ica.inverse -
                                  Matrix<double>::Identity(model->unmixing.rows(), model->unmixing.rows());
    if (defect.allFinite() && defect.cwiseAbs().maxCoeff() < 1e-10) model->mixing = *ica.inverse;
  }
  model->mean = Vector<double>::Zero(n);
  model->kurtosis = Vector<double>::Constant(model->unmixing.rows(), 3);
  try {
    model->validate();
  } catch (const std::invalid_argument& e) {
    throw Error(file + ": its ICA: " + e.what());
  }
  return model;
}

EeglabIca eeglab_ica(const Model& model, const SignalInfo& info, const Vector<double>& scale) {
  const Matrix<double> none(0, 0);
  EeglabIca out{none, none, none, none};
  const Index n = model.channels();
  Matrix<double> numbers(1, n);
  Vector<double> by(n);
  for (Index i = 0; i < n; ++i) {
    Index at = i;
    if (!model.names.empty()) {
      const auto found = std::ranges::find(info.names, model.names[static_cast<std::size_t>(i)]);
      if (found == info.names.end()) return out;
      at = found - info.names.begin();
    }
    if (at >= info.channels) return out;
    numbers(i) = static_cast<double>(at + 1);
    by(i) = scale(at);
  }
  out.weights = model.unmixing * by.cwiseInverse().asDiagonal();
  out.sphere = Matrix<double>::Identity(n, n);
  out.inverse = by.asDiagonal() * model.mixing;
  out.channels = numbers;
  return out;
}

}  // namespace demix::io
