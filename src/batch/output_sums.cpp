#include "batch/output_sums.hpp"

#include <algorithm>
#include <limits>

#include "batch/contrast_kernels.hpp"
#include "core/blocks.hpp"
#include "demix/random.hpp"

namespace demix {
namespace {

constexpr double not_learned_from = std::numeric_limits<double>::quiet_NaN();

// For what is said about outputs, four digits of a frame are enough. They have the variance 1; what is lost
// is a rounding of the channels, as far as they do not cancel.
bool float_is_enough(const WhiteRecording& white, const Matrix<double>& W) {
  constexpr auto rounding = static_cast<double>(std::numeric_limits<float>::epsilon());
  const Vector<double> deviation = white.whitening().dewhitener.rowwise().norm();
  const double largest = (W * deviation.asDiagonal()).rowwise().norm().maxCoeff();
  return !white.recording().weights() && rounding * largest < 1e-4 && fits_float(W);
}

AnyFrames some_of(const AnyFrames& frames, Index first, Index count) {
  return std::visit(
      [&](const auto& all) { return AnyFrames(std::decay_t<decltype(all)>(all.middleCols(first, count))); },
      frames);
}

Index count_of(const AnyFrames& frames) {
  return std::visit([](const auto& all) { return all.cols(); }, frames);
}

void keep(std::vector<OutputSums::Large>& largest, const OutputSums::Large& value) {
  const auto less = [](const OutputSums::Large& a, const OutputSums::Large& b) { return a.value > b.value; };
  largest.insert(std::upper_bound(largest.begin(), largest.end(), value, less), value);
  if (std::ssize(largest) > OutputRequest::kept_large) largest.pop_back();
}

template <typename T>
void keep_largest(const LineMatrix<T>& Y, Index d, std::int64_t first,
                  std::vector<std::vector<OutputSums::Large>>& largest) {
  const auto y = Y.topRows(d);
  Vector<T> most = Vector<T>::Zero(d);
  for (Index t = 0; t < y.cols(); ++t) most = most.cwiseMax(y.col(t).cwiseAbs());
  for (Index i = 0; i < d; ++i) {
    auto& of = largest[static_cast<std::size_t>(i)];
    const auto least = [&] { return std::ssize(of) == OutputRequest::kept_large ? of.back().value : -1; };
    if (most(i) <= least()) continue;
    for (Index t = 0; t < y.cols(); ++t) {
      const auto value = static_cast<double>(std::abs(y(i, t)));
      if (value > least()) keep(of, {value, first + t});
    }
  }
}

}  // namespace

void OutputSums::Stretch::merge(const Stretch& other) {
  if (total == 0 && product.size() == 0) {
    *this = other;
    return;
  }
  product += other.product;
  square += other.square;
  sum += other.sum;
  total += other.total;
}

void OutputSums::merge(const OutputSums& other) {
  second += other.second;
  fourth += other.fourth;
  slope += other.slope;
  total += other.total;
  for (const auto& [number, stretch] : other.stretches) stretches[number].merge(stretch);
  for (std::size_t i = 0; i < largest.size(); ++i) {
    for (const Large& value : other.largest[i]) keep(largest[i], value);
  }
  pieces.insert(pieces.end(), other.pieces.begin(), other.pieces.end());
}

OutputRequest::OutputRequest(const WhiteRecording& white, const Matrix<double>& W,
                             const std::optional<EstimatingEquation>& equation)
    : mean_(white.whitening().mean),
      equation_(equation),
      frames_(white.whitening().frames),
      in_float_(float_is_enough(white, W) &&
                !(equation && equation->kind == EstimatingEquation::Kind::weighted)),
      doubles_(W),
      floats_(W) {
  // Enough to tell, few enough to cost little. They overlap by half at most.
  constexpr Index half = segment_frames / 2;
  const Index fit = frames_ < segment_frames ? 0 : (frames_ - segment_frames) / half + 1;
  const Index wanted = (Index{1} << 18) / (segment_frames * white.recording().channels());
  segments_ = std::min<Index>(fit, std::clamp<Index>(wanted, 32, 64));
  // Not at even distances, which periodic signals might keep pace with.
  Random random(0);
  const std::int64_t room = frames_ - segments_ * segment_frames;
  for (Index k = 0; k < segments_; ++k) {
    const double at = static_cast<double>(k) + (room > 0 ? random.uniform() : 0.5);
    starts_.push_back(room > 0
                          ? k * segment_frames + static_cast<std::int64_t>(at * static_cast<double>(room) /
                                                                           static_cast<double>(segments_))
                          : k * (frames_ - segment_frames) / std::max<Index>(1, segments_ - 1));
  }
}

OutputSums OutputRequest::none() const {
  const Vector<double> zero = Vector<double>::Zero(doubles_.rows);
  return {zero, zero, zero,
          0,    {},   std::vector<std::vector<OutputSums::Large>>(static_cast<std::size_t>(doubles_.rows)),
          {}};
}

// Cut where one stretch ends and the next begins: stretch b has the frames from b T / B on.
void OutputRequest::add(OutputSums& sums, const Chunk& chunk) const {
  const std::int64_t T = std::max<std::int64_t>(frames_, 1);
  const Index all = count_of(chunk.frames);
  for (Index start = 0; start < all;) {
    const std::int64_t t = chunk.first + start;
    const Index number = std::min<Index>(stretches - 1, t * stretches / T);
    const std::int64_t end =
        number == stretches - 1 ? chunk.first + all : ((number + 1) * T + stretches - 1) / stretches;
    const Index count = std::min<Index>(all - start, end - t);
    const AnyFrames frames = some_of(chunk.frames, start, count);
    const Chunk part{frames, t, chunk.weights ? chunk.weights + start : nullptr};
    if (in_float_) {
      add_stretch<float>(sums, part, number, floats_);
    } else {
      add_stretch<double>(sums, part, number, doubles_);
    }
    start += count;
  }
  keep_pieces(sums, chunk);
}

template <typename T>
void OutputRequest::add_stretch(OutputSums& sums, const Chunk& chunk, Index number,
                                const Multiplier<T>& W) const {
  const Index d = W.rows;
  OutputSums::Stretch& stretch = sums.stretches[number];
  if (stretch.product.size() == 0) {
    stretch = {Matrix<double>::Zero(d, d), Matrix<double>::Zero(d, d), Vector<double>::Zero(d), 0};
  }
  Scratch<T> y_scratch;
  Scratch<T> g_scratch;
  LineMatrix<T>& y = *y_scratch;
  LineMatrix<T>& g = *g_scratch;
  Vector<double> unused = Vector<double>::Zero(d);
  std::int64_t first = chunk.first;
  for_each_centred_block<T>(chunk.frames, mean_, chunk.weights, [&](const Block<T>& block) {
    multiply(W, block.x, y, block.ahead);
    keep_largest(y, d, first, sums.largest);
    first += block.frames();
    sums.total += block.total();
    stretch.total += block.total();
    if constexpr (std::is_same_v<T, double>) {
      if (block.weights) {
        const Eigen::Map<const Vector<double>> w(block.weights, block.frames());
        const Matrix<double> square = y.topRows(d).array().square();
        sums.second += square * w;
        sums.fourth += square.array().square().matrix() * w;
        stretch.sum += y.topRows(d) * w;
      }
    }
    if (!block.weights) {
      add_powers(y, sums.second, sums.fourth);
      Vector<T> sum = Vector<T>::Zero(d);
      for (Index t = 0; t < y.cols(); ++t) sum += y.col(t).head(d);
      stretch.sum += sum.template cast<double>();
    }
    if (!equation_) return;
    g.resize(y.rows(), y.cols());
    if (equation_->kind == EstimatingEquation::Kind::weighted) {
      if constexpr (std::is_same_v<T, double>) {
        Vector<double> w;
        squared_lengths(y, d, w);
        for (double& v : w) v = weight_value(equation_->weight, v);
        if (block.weights) w.array() *= Eigen::Map<const Eigen::ArrayXd>(block.weights, w.size());
        weigh(y, d, w.data(), g);
      }
    } else {
      static_cast<Eigen::Map<Matrix<T>>&>(g) = y;
      add_nonlinearity(equation_->contrast, g, block.weights, {sums.slope, unused, unused});
    }
    add_product(g, y, stretch.product);
    if constexpr (std::is_same_v<T, double>) {
      if (block.weights) {
        weigh(y, d, block.weights, g);
        add_product(g, y, stretch.square);
        return;
      }
    }
    add_product(y, y, stretch.square);
  });
}

void OutputRequest::keep_pieces(OutputSums& sums, const Chunk& chunk) const {
  const std::int64_t end = chunk.first + count_of(chunk.frames);
  for (Index k = 0; k < segments_; ++k) {
    const std::int64_t start = starts_[static_cast<std::size_t>(k)];
    const std::int64_t from = std::max(start, chunk.first);
    const std::int64_t to = std::min(start + segment_frames, end);
    if (from >= to) continue;
    Matrix<double> buffer;
    Matrix<double> x = as_doubles(some_of(chunk.frames, from - chunk.first, to - from), buffer);
    for (std::int64_t t = from; chunk.weights && t < to; ++t) {
      if (chunk.weights[t - chunk.first] == 0) x.col(t - from).setConstant(not_learned_from);
    }
    sums.pieces.push_back({k, from - start, std::move(x)});
  }
}

Matrix<double> OutputRequest::segments_of(const OutputSums& sums) const {
  Matrix<double> x(mean_.size(), segments_ * segment_frames);
  for (const OutputSums::Piece& piece : sums.pieces) {
    x.middleCols(piece.segment * segment_frames + piece.offset, piece.x.cols()) = piece.x;
  }
  Index kept = 0;
  for (Index k = 0; k < segments_; ++k) {
    if (!x.middleCols(k * segment_frames, segment_frames).allFinite()) continue;
    if (kept < k) {
      x.middleCols(kept * segment_frames, segment_frames) = x.middleCols(k * segment_frames, segment_frames);
    }
    ++kept;
  }
  x.conservativeResize(Eigen::NoChange, kept * segment_frames);
  return x;
}

}  // namespace demix
