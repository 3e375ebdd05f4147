#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

#include "demix/fastica.hpp"
#include "demix/fobi.hpp"
#include "demix/linear_algebra.hpp"
#include "demix/natural_network.hpp"
#include "demix/report.hpp"
#include "demix/white_recording.hpp"
#include "paper/items.hpp"
#include "paper/runs.hpp"

/// Patches of photographs, and what neurons that separate them respond to: the paper's first motivation. A
/// receptive field is what reverse correlation would measure, E[x y_k] = P^+ w_k for white inputs h = P x and
/// outputs y = W h.
namespace demix::paper {
namespace {

// Patches of n x n pixels at random places, each less its mean: n^2 x count.
Matrix<double> patches(const Task& task, Index n, Index count, Random& random) {
  Matrix<double> X(n * n, count);
  for (Index t = 0; t < count; ++t) {
    const Index picture = random.below(task.size());
    const Index left = random.below(task.width - n + 1);
    const Index top = random.below(task.height - n + 1);
    for (Index y = 0; y < n; ++y) {
      for (Index x = 0; x < n; ++x)
        X(y * n + x, t) = task.sources(picture, (top + y) * task.width + left + x);
    }
    X.col(t).array() -= X.col(t).mean();
  }
  return X;
}

// Share of the patch that the field fills, (sum f^2)^2 / (n^2 sum f^4): small for a spot, 2/3 for a sine.
double filling(const Vector<double>& f) {
  return std::pow(f.squaredNorm(), 2) / (static_cast<double>(f.size()) * f.array().pow(4).sum());
}

// Share of its power within one step of its largest frequency: a bar or a Gabor has one, noise has not.
double tuning(const Vector<double>& f, Index n) {
  Matrix<double> power(n, n);
  for (Index v = 0; v < n; ++v) {
    for (Index u = 0; u < n; ++u) {
      std::complex<double> sum = 0;
      for (Index y = 0; y < n; ++y) {
        for (Index x = 0; x < n; ++x) {
          sum += f(y * n + x) * std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(u * x + v * y) /
                                                    static_cast<double>(n));
        }
      }
      power(v, u) = std::norm(sum);
    }
  }
  Index v = 0;
  Index u = 0;
  power.maxCoeff(&v, &u);
  double near = 0;
  for (Index y = 0; y < n; ++y) {
    for (Index x = 0; x < n; ++x) {
      const auto close = [&](Index a, Index b) { return std::min((a - b + n) % n, (b - a + n) % n) <= 1; };
      const bool here = close(y, v) && close(x, u);
      const bool mirrored = close((n - y) % n, v) && close((n - x) % n, u);
      if (here || mirrored) near += power(y, x);
    }
  }
  return near / power.sum();
}

// How many different outputs there are: (sum s^2)^2 / sum s^4 of the singular values s; all of them for a
// rotation.
double different_outputs(const Matrix<double>& W) {
  const Vector<double> s2 = singular_values(W).cwiseAbs2();
  return std::pow(s2.sum(), 2) / s2.squaredNorm();
}

// Share of W C W^T, C = E[||h||^2 h h^T] less its mean eigenvalue, that is beside the diagonal: 0 at FOBI's
// optimum, nearly 1 for a random rotation.
double not_diagonal(const Matrix<double>& W, const Matrix<double>& H) {
  const Matrix<double> weighted = H * H.colwise().squaredNorm().asDiagonal();
  Matrix<double> C = weighted * H.transpose() / static_cast<double>(H.cols());
  C.diagonal().array() -= C.trace() / static_cast<double>(C.rows());
  const Matrix<double> turned = W * C * W.transpose();
  return std::sqrt(std::max(0.0, 1 - turned.diagonal().squaredNorm() / turned.squaredNorm()));
}

// Fields side by side, each stretched to its own range.
Vector<double> mosaic(const Matrix<double>& fields, Index n, Index across) {
  const Index side = across * (n + 1) + 1;
  Matrix<double> out = Matrix<double>::Constant(side, side, 1);  // transposed: a column is a row of pixels
  for (Index k = 0; k < std::min(fields.cols(), across * across); ++k) {
    const double most = fields.col(k).cwiseAbs().maxCoeff();
    for (Index y = 0; y < n; ++y) {
      for (Index x = 0; x < n; ++x) {
        out(k % across * (n + 1) + 1 + x, k / across * (n + 1) + 1 + y) = fields(y * n + x, k) / most;
      }
    }
  }
  return Eigen::Map<const Vector<double>>(out.data(), out.size());
}

}  // namespace

Result receptive_fields(const Setting& setting) {
  const Task task = photographs_task(setting);
  const Index across = setting.quick ? 4 : 8;
  const Index components = across * across;
  const Index count = setting.quick ? 5000 : 60000;
  Result out;
  out.data = task.data;
  out.length = length_of(setting, fmt::format("{} components, {} patches, 1 pass", components, count));
  Table table{"receptive-fields",
              {"patch", "found by", "kurtosis of the response", "share of the patch filled", "tuning",
               "different outputs", "off FOBI's optimum"},
              {}};
  double step = 0;
  for (const Index n : {Index{12}, Index{16}}) {
    Random random(3000);
    const Matrix<double> X = patches(task, n, count, random);
    const MatrixRecording<double> recording(X);
    const WhiteRecording white = whiten(recording, {.components = components});
    const Whitening& w = white.whitening();
    const Matrix<double> H = w.whitener * (X.colwise() - w.mean);
    NaturalNetwork<double> network(components);
    Matrix<double> Y(components, count);
    for (int pass = 0; pass < (setting.quick ? 1 : 3); ++pass)
      network.process(Frames<double>(H), Y);  // patches are in random order
    network.refresh();
    struct Found {
      std::string name, key;
      Matrix<double> W;
    };
    const std::vector<Found> all{{"PCA", "pca", Matrix<double>::Identity(components, components)},
                                 {"FOBI", "fobi", fobi(white).W},
                                 {"network", "network", network.unmixing()},
                                 {"FastICA", "fastica", fastica(white).W}};
    report::PicturesFigure figure;
    figure.title = fmt::format("Receptive fields, {0} x {0} pixels", n) +
                   (task.stand_in ? " (stand-ins for the photographs)" : "");
    figure.width = figure.height = across * (n + 1) + 1;
    Matrix<double> mosaics(static_cast<Index>(all.size()), figure.width * figure.height);
    std::vector<std::string> names;
    for (std::size_t k = 0; k < all.size(); ++k) {
      const Matrix<double> fields = w.dewhitener * all[k].W.transpose();
      const Matrix<double> response = all[k].W * H;
      std::vector<double> kurtosis;
      std::vector<double> filled;
      std::vector<double> tuned;
      for (Index i = 0; i < fields.cols(); ++i) {
        const double power = response.row(i).squaredNorm() / static_cast<double>(count);
        kurtosis.push_back(response.row(i).array().pow(4).mean() / (power * power));
        filled.push_back(filling(fields.col(i)));
        tuned.push_back(tuning(fields.col(i), n));
      }
      mosaics.row(static_cast<Index>(k)) = mosaic(fields, n, across).transpose();
      names.push_back(all[k].name);
      table.rows.push_back({fmt::format("{0} x {0}", n), all[k].name, number(ranked(kurtosis, 0.5)),
                            number(ranked(filled, 0.5)), number(ranked(tuned, 0.5)),
                            fmt::format("{:.1f} of {}", different_outputs(all[k].W), components),
                            number(not_diagonal(all[k].W, H))});
      const std::string key = fmt::format("{}.{}", n, all[k].key);
      out.numbers.push_back({key + ".kurtosis", ranked(kurtosis, 0.5)});
      out.numbers.push_back({key + ".filled", ranked(filled, 0.5)});
      out.numbers.push_back({key + ".tuning", ranked(tuned, 0.5)});
      out.numbers.push_back({key + ".different_outputs", different_outputs(all[k].W)});
      if (all[k].key != "fobi") out.numbers.push_back({key + ".off_optimum", not_diagonal(all[k].W, H)});
    }
    figure.rows = {{"", mosaics.topRows(2), {names[0], names[1]}},
                   {"", mosaics.bottomRows(2), {names[2], names[3]}}};
    figure.histograms = false;
    const std::string name = fmt::format("receptive-fields-{}", n);
    draw(figure, setting, out.length, name);
    out.pictures.push_back(
        {name, fmt::format(
                   "{} receptive fields of {} patches of {} x {} pixels, by principal components, FOBI, the "
                   "network with natural steps and FastICA, each stretched to its own range.",
                   components, count, n, n)});
    if (setting.progress) setting.progress(++step / 2);
  }
  out.tables = {table};
  const auto row = [&](std::size_t k) { return table.rows[k]; };
  out.measured = fmt::format(
      "Of 12 x 12 pixels FastICA's fields fill {} of the patch (median), FOBI's {}, principal components {}; "
      "the kurtosis of the responses is {}, {} and {}. Of the network's outputs {} are different (16 x 16: "
      "{}); of E[||h||^2 h h^T] in its outputs' axes {} is beside the diagonal, of principal components {}.",
      row(3)[3], row(1)[3], row(0)[3], row(3)[2], row(1)[2], row(0)[2], row(2)[5], row(6)[5], row(2)[6],
      row(0)[6]);
  out.differs =
      "FastICA finds local, oriented fields as in V1. FOBI, whose optimum is the network's, does not: "
      "kurtosis alone does not tell such sources apart. The network has not come to that optimum either: its "
      "eigenvalues are so close that it has not told the outputs apart in the time given.";
  return out;
}

}  // namespace demix::paper
