#include "demix/part_moments.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>

#include "batch/cumulants.hpp"
#include "batch/sample.hpp"
#include "core/blocks.hpp"
#include "core/checksum.hpp"
#include "core/pack.hpp"
#include "core/sum_over.hpp"
#include "demix/fourth_moments.hpp"
#include "demix/linear_algebra.hpp"

namespace demix {
namespace {

struct PartSums {
  FourthSums fourth;
  std::int64_t frames = 0;
  double squares = 0;

  void merge(const PartSums& other) {
    fourth.merge(other.fourth);
    frames += other.frames;
    squares += other.squares;
  }
  template <typename Archive>
  void fields(Archive& a) {
    a(fourth, frames, squares);
  }
};

// The fourth moments of z = [1; P (x - origin)].
class PartRequest {
 public:
  using Sums = PartSums;
  explicit PartRequest(const PartCoordinates& c) : origin_(c.origin), P_(below_zeros(c.P)) {}

  PartSums none() const { return {FourthSums(P_.rows, P_.rows)}; }
  void add(PartSums& sums, const Chunk& chunk) const {
    Matrix<double> buffer;
    require_finite(as_doubles(chunk.frames, buffer), chunk.first);
    Scratch z;
    const auto add = [&](const Block<double>& block) {
      multiply(P_, block.x, *z, block.ahead);
      z->row(0).setOnes();
      const Eigen::Map<const Eigen::ArrayXd> w(block.weights, block.weights ? block.frames() : 0);
      sums.frames += block.weights ? (w > 0).count() : block.frames();
      sums.squares += block.weights ? w.square().sum() : block.total();
      sums.fourth.add(*z, block.weights, block.frames());
    };
    constexpr Index frames = 128;
    for_each_centred_block(chunk.frames, origin_, chunk.weights, add, frames);
  }

 private:
  static Matrix<double> below_zeros(const Matrix<double>& P) {
    Matrix<double> out = Matrix<double>::Zero(P.rows() + 1, P.cols());
    out.bottomRows(P.rows()) = P;
    return out;
  }
  Vector<double> origin_;
  Multiplier<double> P_;
};

// In the order of FourthMoments: slice j has a row per i and a column per pair (k, l), i <= j <= k <= l.
template <typename Use>
void for_each_moment(Index n, const Use& use) {
  for (Index j = 0; j < n; ++j) {
    for (Index k = j; k < n; ++k) {
      for (Index l = k; l < n; ++l) {
        for (Index i = 0; i <= j; ++i) use(i, j, k, l);
      }
    }
  }
}

std::size_t count_of_moments(Index channels) {
  const auto n = static_cast<std::size_t>(channels) + 1;
  return n * (n + 1) * (n + 2) * (n + 3) / 24;
}

void require_few_channels(Index channels) {
  if (channels < 2) throw std::invalid_argument("X: one channel: nothing to separate");
  if (channels <= most_part_channels) return;
  throw std::invalid_argument("X: " + std::to_string(channels) +
                              " channels are too many for sums, which take " +
                              std::to_string(most_part_channels));
}

// Frames, if they are not known before they are gone over.
std::int64_t count_frames(const Recording& X) {
  if (X.weights()) return X.weights()->size();
  std::int64_t frames = X.frames();
  if (frames == 0) X.pass([&](const Frames<double>& chunk) { frames += chunk.cols(); });
  return frames;
}

constexpr std::string_view kind = "demix sums ";
constexpr std::string_view version = "1\n";

std::string checksum_line(std::string_view bytes) {
  char line[18];
  std::snprintf(line, sizeof line, "%016llx\n", static_cast<unsigned long long>(checksum(bytes)));
  return line;
}

template <typename Archive>
void fields_of(Archive& a, PartMoments& p) {
  a(p.method, p.names, p.frames, p.squares, p.resolution, p.origin, p.B, p.sums);
}

void require(bool holds, const char* otherwise) {
  if (!holds) throw std::invalid_argument(std::string("damaged (") + otherwise + ")");
}

}  // namespace

PartCoordinates part_coordinates(const Recording& X) {
  require_few_channels(X.channels());
  const Sample<double> sample = sample_of(X, count_frames(X));
  for (Index t = 0; t < sample.frames.cols(); ++t) {
    if (!sample.frames.col(t).allFinite()) {  // the first of all frames is named
      std::int64_t before = 0;
      X.pass([&](const Frames<double>& chunk) {
        require_finite(chunk, before);
        before += chunk.cols();
      });
    }
  }
  Moments moments(X.channels());
  moments.add(sample.frames, sample.weights.size() > 0 ? sample.weights.data() : nullptr);
  const Matrix<double> C = moments.covariance();
  // Channels of variance 1, then their principal components; what does not vary stays small.
  Vector<double> S = C.diagonal().cwiseSqrt();
  for (double& s : S) {
    if (!(s > 0 && std::isfinite(s))) s = 1;
  }
  const Vector<double> S_inv = S.cwiseInverse();
  const Eigenpairs eig = symmetric_eigen(S_inv.asDiagonal() * C * S_inv.asDiagonal());
  constexpr double least = 1e-10;
  const Vector<double> root = eig.values.cwiseMax(least).cwiseSqrt();
  PartCoordinates out{moments.mean(), S.asDiagonal() * eig.vectors * root.asDiagonal(),
                      root.cwiseInverse().asDiagonal() * eig.vectors.transpose() * S_inv.asDiagonal()};
  if (!out.B.allFinite() || !out.P.allFinite()) {
    throw std::invalid_argument("X: values too large or too small to square; rescale them");
  }
  return out;
}

PartMoments part_moments(const Recording& X, const PartCoordinates& c) {
  require_few_channels(X.channels());
  if (X.channels() != c.origin.size()) {
    throw std::invalid_argument("X: expected " + std::to_string(c.origin.size()) + " channels, got " +
                                std::to_string(X.channels()));
  }
  const PartSums sums = sum_over(X, PartRequest(c));
  PartMoments part;
  part.frames = sums.frames;
  part.squares = sums.squares;
  part.resolution = X.resolution();
  part.origin = c.origin;
  part.B = c.B;
  part.sums.reserve(count_of_moments(X.channels()));
  for_each_moment(X.channels() + 1, [&](Index i, Index j, Index k, Index l) {
    part.sums.push_back(sums.fourth.in_order(i, j, k, l));
  });
  if (part.frames == 0) throw std::invalid_argument("X: no frames");
  if (!std::all_of(part.sums.begin(), part.sums.end(), [](double v) { return std::isfinite(v); })) {
    throw std::invalid_argument(
        "X: some values are too large for their fourth powers; rescale or repair them");
  }
  return part;
}

void PartMoments::merge(const PartMoments& other) {
  if (other.origin != origin || other.B != B) throw std::invalid_argument("merge: different coordinates");
  frames += other.frames;
  squares += other.squares;
  resolution = std::max(resolution, other.resolution);
  for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += other.sums[k];
}

std::string to_bytes(const PartMoments& part) {
  Packer packer;
  PartMoments copy = part;
  fields_of(packer, copy);
  return std::string(kind) + std::string(version) + checksum_line(packer.bytes) + packer.bytes;
}

PartMoments parse_part_moments(std::string_view bytes) {
  if (!bytes.starts_with(kind)) throw std::invalid_argument("not sums that demix moments has written");
  bytes.remove_prefix(kind.size());
  if (!bytes.starts_with(version)) throw std::invalid_argument("written by another version of demix");
  bytes.remove_prefix(version.size());
  constexpr std::size_t line = 17;
  if (bytes.size() < line || bytes.substr(0, line) != checksum_line(bytes.substr(line))) {
    throw std::invalid_argument("damaged (its checksum does not fit)");
  }
  bytes.remove_prefix(line);
  PartMoments p;
  try {
    Unpacker unpacker(bytes);
    fields_of(unpacker, p);
    require(unpacker.done(), "it is too long");
  } catch (const std::invalid_argument& e) {
    const std::string_view what = e.what();
    if (what.starts_with("damaged")) throw;
    throw std::invalid_argument("damaged (its shape)");
  }
  const Index n = p.channels();
  require(n >= 2 && n <= most_part_channels, "its number of channels");
  require(p.B.rows() == n && p.B.cols() == n && p.sums.size() == count_of_moments(n), "its shape");
  require(p.names.empty() || std::ssize(p.names) == n, "its names");
  constexpr std::int64_t most_frames = std::int64_t{1} << 48;
  require(
      p.frames > 0 && p.frames < most_frames && p.squares > 0 && p.sums[0] > 0 && std::isfinite(p.squares),
      "its number of frames");
  require(p.resolution >= 0 && p.resolution < 1, "its resolution");
  require(p.origin.allFinite() && p.B.allFinite() &&
              std::all_of(p.sums.begin(), p.sums.end(), [](double v) { return std::isfinite(v); }),
          "a number is not finite");
  return p;
}

// The first sums are of the frames alone: F_00kl, by k and l.
PartSummary summary_of(const PartMoments& part) {
  const Index n = part.channels();
  PartSummary s{part.frames,     part.sums[0],      part.squares,
                part.resolution, Vector<double>(n), Matrix<double>(n, n)};
  Vector<double> mean(n);
  for (Index l = 0; l < n; ++l) mean(l) = part.sums[static_cast<std::size_t>(l + 1)] / s.total;
  Matrix<double> C(n, n);
  std::size_t at = static_cast<std::size_t>(n) + 1;
  for (Index k = 0; k < n; ++k) {
    for (Index l = k; l < n; ++l) C(k, l) = C(l, k) = part.sums[at++] / s.total - mean(k) * mean(l);
  }
  s.mean = part.origin + part.B * mean;
  s.covariance = part.B * C * part.B.transpose();
  return s;
}

}  // namespace demix
