#include "demix/amica.hpp"

#include <Eigen/Dense>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "demix/linear_algebra.hpp"
#include "demix/version.hpp"

/// The density of a component is sbeta f(sbeta (y - mu)) with f(x) = exp(-|x|^rho) / (2 Gamma(1 + 1/rho)).
namespace demix::io {
namespace fs = std::filesystem;
namespace {

static_assert(std::endian::native == std::endian::little);

std::vector<double> doubles(const fs::path& file) {
  const std::string bytes = read_file(file);
  if (bytes.size() % 8 != 0) throw Error(file.string() + ": is not whole doubles; it is cut off");
  std::vector<double> out(bytes.size() / 8);
  std::memcpy(out.data(), bytes.data(), bytes.size());
  for (const double v : out) {
    if (!std::isfinite(v)) throw Error(file.string() + ": holds NaN or Inf");
  }
  return out;
}

// Nothing if it is not there.
std::vector<double> doubles_if_there(const fs::path& file) {
  std::error_code none;
  return fs::exists(file, none) ? doubles(file) : std::vector<double>{};
}

void require_count(const std::vector<double>& values, std::size_t count, const fs::path& file) {
  if (values.size() == count) return;
  throw Error(file.string() + ": holds " + std::to_string(values.size()) + " numbers where " +
              std::to_string(count) + " are expected");
}

Matrix<double> matrix(const double* from, Index rows, Index columns) {
  return Eigen::Map<const Matrix<double>>(from, rows, columns);
}

Index root(std::size_t count, const fs::path& file) {
  const auto n = static_cast<Index>(std::llround(std::sqrt(static_cast<double>(count))));
  if (n < 1 || static_cast<std::size_t>(n * n) != count) {
    throw Error(file.string() + ": does not hold square matrices");
  }
  return n;
}

double kurtosis_of(double rho) {
  return std::exp(std::lgamma(5 / rho) + std::lgamma(1 / rho) - 2 * std::lgamma(3 / rho));
}

// It falls from many thousands to 1.8.
double rho_of(double kurtosis) {
  double lo = 0.2, hi = 50;
  for (int i = 0; i < 200; ++i) {
    const double middle = std::sqrt(lo * hi);
    (kurtosis_of(middle) > kurtosis ? lo : hi) = middle;
  }
  return std::sqrt(lo * hi);
}

double variance_of(double rho, double sbeta) {
  return std::exp(std::lgamma(3 / rho) - std::lgamma(1 / rho)) / (sbeta * sbeta);
}

// S: n x n, its first k rows span what is unmixed; W S_k is the unmixing. Of as many components as channels S
// whitens, else its rows are orthonormal.
struct Parts {
  Matrix<double> W, S;
};
Parts parts_of(const Model& model) {
  const Index n = model.channels();
  const Index k = model.components();
  if (k == n) {
    const Eigen::SelfAdjointEigenSolver<Matrix<double>> eigen(model.mixing * model.mixing.transpose());
    if (eigen.eigenvalues().minCoeff() > 0) {
      return {model.unmixing * eigen.operatorSqrt(), eigen.operatorInverseSqrt()};
    }
  }
  const Eigen::HouseholderQR<Matrix<double>> qr(model.unmixing.transpose());
  const Matrix<double> Q = qr.householderQ() * Matrix<double>::Identity(n, n);
  return {model.unmixing * Q.leftCols(k), Q.transpose()};
}

template <typename Values>
std::string bytes_of(const Values& values) {
  return {reinterpret_cast<const char*>(values.data()),
          static_cast<std::size_t>(values.size()) * sizeof(values[0])};
}

// Kurtosis of a mixture of generalized Gaussians, of `count` parts.
double kurtosis_of(const double* alpha, const double* mu, const double* sbeta, const double* rho,
                   std::size_t count) {
  double whole = 0, mean = 0;
  for (std::size_t j = 0; j < count; ++j) whole += alpha[j], mean += alpha[j] * mu[j];
  if (!(whole > 0)) return 3;
  mean /= whole;
  double second = 0, fourth = 0;
  for (std::size_t j = 0; j < count; ++j) {
    if (!(alpha[j] > 0 && sbeta[j] > 0 && rho[j] > 0.05)) continue;
    const double v = variance_of(rho[j], sbeta[j]);
    const double d2 = (mu[j] - mean) * (mu[j] - mean);
    second += alpha[j] / whole * (v + d2);
    fourth += alpha[j] / whole * (kurtosis_of(rho[j]) * v * v + 6 * v * d2 + d2 * d2);
  }
  const double kurtosis = fourth / (second * second);
  return std::isfinite(kurtosis) ? kurtosis : 3;
}

// Which density is that of each component, counted from 0: models may share some.
std::vector<std::size_t> densities_of(const fs::path& file, std::size_t count) {
  std::vector<std::size_t> out(count);
  for (std::size_t i = 0; i < count; ++i) out[i] = i;
  std::error_code none;
  if (!fs::exists(file, none)) return out;
  const std::string bytes = read_file(file);
  if (bytes.size() != count * 4) throw Error(file.string() + ": does not fit W");
  for (std::size_t i = 0; i < count; ++i) {
    std::int32_t number = 0;
    std::memcpy(&number, bytes.data() + 4 * i, 4);
    if (number < 1 || static_cast<std::size_t>(number) > count) throw Error(file.string() + ": is damaged");
    out[i] = static_cast<std::size_t>(number) - 1;
  }
  return out;
}

}  // namespace

bool is_amica(const fs::path& folder) {
  std::error_code none;
  return fs::is_directory(folder, none) && fs::exists(folder / "W", none);
}

std::vector<fs::path> amica_paths(const fs::path& folder) {
  std::vector<fs::path> paths{folder};
  for (const char* name :
       {"gm", "W", "S", "mean", "c", "comp_list", "alpha", "mu", "sbeta", "rho", "LLt", "LL"})
    paths.push_back(folder / name);
  return paths;
}

Model read_amica(const fs::path& folder) {
  const std::vector<double> gm = doubles_if_there(folder / "gm");
  const std::size_t models = std::max<std::size_t>(1, gm.size());
  const std::vector<double> W = doubles(folder / "W");
  if (W.empty() || W.size() % models != 0) throw Error((folder / "W").string() + ": does not fit gm");
  const Index k = root(W.size() / models, folder / "W");
  const std::vector<double> S = doubles(folder / "S");
  const Index n = root(S.size(), folder / "S");
  if (k > n) throw Error((folder / "S").string() + ": is smaller than W");
  std::vector<double> mean = doubles_if_there(folder / "mean");
  if (mean.empty()) mean.assign(static_cast<std::size_t>(n), 0);
  require_count(mean, static_cast<std::size_t>(n), folder / "mean");
  const auto size = static_cast<std::size_t>(k);
  std::vector<double> c = doubles_if_there(folder / "c");
  if (c.empty()) c.assign(size * models, 0);
  require_count(c, size * models, folder / "c");

  const auto best =
      gm.empty() ? 0 : static_cast<std::size_t>(std::max_element(gm.begin(), gm.end()) - gm.begin());
  const Matrix<double> sphere = matrix(S.data(), n, n).topRows(k);
  Model model;
  model.method = "amica";
  model.version = version;
  if (models > 1) model.options["models"] = std::to_string(models);
  model.unmixing = matrix(W.data() + best * size * size, k, k) * sphere;
  const Eigen::CompleteOrthogonalDecomposition<Matrix<double>> inverse(model.unmixing);
  if (inverse.rank() < k) throw Error((folder / "W").string() + ": is singular");
  model.mixing = inverse.pseudoInverse();
  const Vector<double> centre = matrix(c.data() + best * size, k, 1);
  model.mean = matrix(mean.data(), n, 1) + sphere.completeOrthogonalDecomposition().solve(centre);

  model.kurtosis.setConstant(k, 3);
  const std::vector<double> alpha = doubles_if_there(folder / "alpha");
  const std::vector<double> mu = doubles_if_there(folder / "mu");
  const std::vector<double> sbeta = doubles_if_there(folder / "sbeta");
  const std::vector<double> rho = doubles_if_there(folder / "rho");
  const std::vector<std::size_t> densities = densities_of(folder / "comp_list", size * models);
  const std::size_t parts = alpha.size() / (size * models);
  const bool fits = parts > 0 && alpha.size() == parts * size * models && mu.size() == alpha.size() &&
                    sbeta.size() == alpha.size() && rho.size() == alpha.size();
  for (std::size_t i = 0; fits && i < size; ++i) {
    const std::size_t at = densities[best * size + i] * parts;
    model.kurtosis(static_cast<Index>(i)) =
        kurtosis_of(alpha.data() + at, mu.data() + at, sbeta.data() + at, rho.data() + at, parts);
  }
  try {
    model.validate();
  } catch (const std::invalid_argument& e) {
    throw Error(folder.string() + ": " + e.what());
  }
  return model;
}

void write_amica(NewFiles& files, const fs::path& folder, const Model& model, const Recording& recording) {
  const Index k = model.components();
  const Parts parts = parts_of(model);
  Vector<double> rho(k);
  Vector<double> sbeta(k);
  double constant = std::log(std::abs(determinant(parts.W))) +
                    0.5 * std::log((parts.S.topRows(k) * parts.S.topRows(k).transpose()).determinant());
  for (Index i = 0; i < k; ++i) {
    rho(i) = rho_of(model.kurtosis(i));
    sbeta(i) = std::sqrt(variance_of(rho(i), 1));
    constant += std::log(sbeta(i)) - std::log(2.) - std::lgamma(1 + 1 / rho(i));
  }
  std::vector<double> likelihoods;  // of the model, and of all models: the same
  double sum = 0;
  recording.pass([&](const Frames<double>& block) {
    const Matrix<double> y = model.apply(block);
    for (Index t = 0; t < y.cols(); ++t) {
      double l = constant;
      for (Index i = 0; i < k; ++i) l -= std::pow(std::abs(sbeta(i) * y(i, t)), rho(i));
      likelihoods.insert(likelihoods.end(), {l, l});
      sum += l;
    }
  });
  const double frames = static_cast<double>(std::max<std::size_t>(1, likelihoods.size() / 2));
  std::vector<std::int32_t> numbers;
  for (Index i = 0; i < k; ++i) numbers.push_back(static_cast<std::int32_t>(i + 1));
  const Vector<double> ones = Vector<double>::Ones(k);
  const Vector<double> zeros = Vector<double>::Zero(k);
  files.write(folder / "gm", bytes_of(std::vector<double>{1}));
  files.write(folder / "W", bytes_of(parts.W));
  files.write(folder / "S", bytes_of(parts.S));
  files.write(folder / "mean", bytes_of(model.mean));
  files.write(folder / "c", bytes_of(zeros));
  files.write(folder / "comp_list", bytes_of(numbers));
  files.write(folder / "alpha", bytes_of(ones));
  files.write(folder / "mu", bytes_of(zeros));
  files.write(folder / "sbeta", bytes_of(sbeta));
  files.write(folder / "rho", bytes_of(rho));
  files.write(folder / "LLt", bytes_of(likelihoods));
  files.write(folder / "LL", bytes_of(std::vector<double>{sum / frames / static_cast<double>(k)}));
}

}  // namespace demix::io
