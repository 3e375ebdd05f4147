#include "demix/model.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "core/blocks.hpp"
#include "core/strongest_channel.hpp"

namespace demix {
namespace {

void require_rows(Index got, Index expected, const char* what) {
  if (got != expected) {
    throw std::invalid_argument(std::string(what) + ": expected " + std::to_string(expected) + " rows, got " +
                                std::to_string(got));
  }
}

// Y = A (X - from) + to, in double, so that float data keeps its digits next to a large mean.
template <typename T>
Matrix<T> affine(const Matrix<double>& A, const Frames<T>& X, const Vector<double>& from,
                 const Vector<double>& to) {
  Matrix<T> Y(A.rows(), X.cols());
  Scratch scratch;
  LineMatrix<double>& y = *scratch;
  const Multiplier<double> by(A);
  Index start = 0;
  for_each_centred_block(X, from, nullptr, [&](const Block<double>& block) {
    multiply(by, block.x, y, block.ahead);
    Y.middleCols(start, block.frames()) = (y.topRows(A.rows()).colwise() + to).template cast<T>();
    start += block.frames();
  });
  return Y;
}

template <typename T>
Matrix<T> apply_model(const Model& m, const Frames<T>& X) {
  require_rows(X.rows(), m.channels(), "X");
  return affine<T>(m.unmixing, X, m.mean, Vector<double>::Zero(m.components()));
}

template <typename T>
Matrix<T> invert_model(const Model& m, const Frames<T>& Y) {
  require_rows(Y.rows(), m.components(), "Y");
  return affine<T>(m.mixing, Y, Vector<double>::Zero(m.components()), m.mean);
}

template <typename T>
Matrix<T> remove_components(const Model& m, const Frames<T>& X, const std::vector<Index>& which) {
  require_rows(X.rows(), m.channels(), "X");
  for (const Index k : which) {
    if (k < 0 || k >= m.components()) {
      throw std::invalid_argument("components: expected 0 to " + std::to_string(m.components() - 1) +
                                  ", got " + std::to_string(k));
    }
  }
  Matrix<double> keep = Matrix<double>::Identity(m.channels(), m.channels());
  std::vector<Index> once = which;
  std::sort(once.begin(), once.end());
  once.erase(std::unique(once.begin(), once.end()), once.end());
  for (const Index k : once) keep -= m.mixing.col(k) * m.unmixing.row(k);
  return affine<T>(keep, X, m.mean, m.mean);
}

}  // namespace

Matrix<float> Model::apply(const Frames<float>& X) const { return apply_model<float>(*this, X); }
Matrix<double> Model::apply(const Frames<double>& X) const { return apply_model<double>(*this, X); }
Matrix<float> Model::invert(const Frames<float>& Y) const { return invert_model<float>(*this, Y); }
Matrix<double> Model::invert(const Frames<double>& Y) const { return invert_model<double>(*this, Y); }
Matrix<float> Model::remove(const Frames<float>& X, const std::vector<Index>& components) const {
  return remove_components<float>(*this, X, components);
}
Matrix<double> Model::remove(const Frames<double>& X, const std::vector<Index>& components) const {
  return remove_components<double>(*this, X, components);
}

void Model::validate() const {
  const Index n = channels();
  const Index k = components();
  const auto require = [](bool ok, const std::string& what) {
    if (!ok) throw std::invalid_argument("model: " + what);
  };
  require(n > 0 && k > 0, "empty");
  require(k <= n, std::to_string(k) + " components from " + std::to_string(n) + " channels");
  require(unmixing.cols() == n, "unmixing has " + std::to_string(unmixing.cols()) + " columns for " +
                                    std::to_string(n) + " channels");
  require(mixing.rows() == n && mixing.cols() == k, "mixing does not have the shape of unmixing transposed");
  require(kurtosis.size() == k, "kurtosis does not have one value per component");
  require(stability.size() == 0 || (stability.size() == k && stability.allFinite()),
          "stability does not have one number per component");
  const auto square_or_none = [&](const Matrix<double>& m) {
    return m.size() == 0 || (m.rows() == k && m.cols() == k && m.allFinite());
  };
  require(square_or_none(diagnosis.coherence) && square_or_none(diagnosis.magnitudes) &&
              (!diagnosis.crosstalk ||
               (square_or_none(diagnosis.crosstalk->pairs) && std::isfinite(diagnosis.crosstalk->expected) &&
                std::isfinite(diagnosis.crosstalk->bound))),
          "the diagnosis does not have one number per pair of components");
  require(names.empty() || static_cast<Index>(names.size()) == n, "names do not match the channels");
  require(
      std::ranges::all_of(suggestions, [&](const auto& s) { return s.component >= 0 && s.component < k; }),
      "a suggestion is of a component that there is not");
  require(mean.allFinite() && unmixing.allFinite() && mixing.allFinite() && kurtosis.allFinite(),
          "a value is not finite");
  // Rounding in W A grows with |W| |A|; a wrong digit in either shows far above that.
  const Matrix<double> defect = unmixing * mixing - Matrix<double>::Identity(k, k);
  const Matrix<double> scale = unmixing.cwiseAbs() * mixing.cwiseAbs();
  require((defect.array().abs() <= 1e-9 * (1 + scale.array())).all(), "unmixing and mixing are not inverse");
}

std::string_view order_name(Order order) { return order == Order::power ? "power" : "kurtosis"; }

Order order_named(std::string_view name) {
  if (name == "kurtosis") return Order::kurtosis;
  if (name == "power") return Order::power;
  throw std::invalid_argument("order: expected kurtosis or power, got '" + std::string(name) + "'");
}

std::vector<Index> put_in_order(Model& model, const Vector<double>& deviation, Order by) {
  const Index k = model.components();
  std::vector<Index> order(static_cast<std::size_t>(k));
  std::iota(order.begin(), order.end(), Index{0});
  const Vector<double> rank =
      by == Order::power ? Vector<double>(model.mixing.colwise().squaredNorm()) : model.kurtosis;
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return rank(a) > rank(b); });
  const Model before = model;
  for (Index i = 0; i < k; ++i) {
    const Index from = order[static_cast<std::size_t>(i)];
    Vector<double> strength = before.mixing.col(from);
    for (Index c = 0; c < strength.size(); ++c)
      strength(c) = deviation(c) > 0 ? strength(c) / deviation(c) : 0;
    const double sign = strength(strongest_channel(strength)) < 0 ? -1 : 1;
    model.unmixing.row(i) = sign * before.unmixing.row(from);
    model.mixing.col(i) = sign * before.mixing.col(from);
    model.kurtosis(i) = before.kurtosis(from);
  }
  return order;
}

}  // namespace demix
