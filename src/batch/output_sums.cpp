#include "batch/output_sums.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "batch/contrast_kernels.hpp"
#include "core/blocks.hpp"
#include "demix/random.hpp"

namespace demix {
namespace {

constexpr float not_learned_from = std::numeric_limits<float>::quiet_NaN();

// For what is said about outputs, four digits of a frame are enough. They have the variance 1; what is lost
// is a rounding of the channels, as far as they do not cancel. FOBI, whose solution is exact, is described
// as exactly where that costs little.
bool float_is_enough(const WhiteRecording& white, const Matrix<double>& W,
                     const std::optional<EstimatingEquation>& equation) {
  constexpr Index much = Index{1} << 18;  // values
  if (equation && equation->kind == EstimatingEquation::Kind::weighted &&
      white.recording().frames() * white.recording().channels() < much) {
    return false;
  }
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

// `most`: of each output, the largest in this block.
template <typename T>
void keep_largest(const LineMatrix<T>& Y, const Vector<double>& most, std::int64_t first,
                  std::vector<LargestValues>& largest) {
  for (Index i = 0; i < most.size(); ++i) {
    LargestValues& of = largest[static_cast<std::size_t>(i)];
    if (most(i) < of.least()) continue;
    for (Index t = 0; t < Y.cols(); ++t) {
      const auto value = static_cast<double>(std::abs(Y(i, t)));
      if (value >= of.least()) of.add({value, first + t});
    }
  }
}

bool larger(const LargestValues::Value& a, const LargestValues::Value& b) {
  return a.value != b.value ? a.value > b.value : a.frame < b.frame;
}

void merge_ends(std::vector<ChannelEnds::End>& ends, const std::vector<ChannelEnds::End>& others) {
  for (std::size_t c = 0; c < ends.size(); ++c) {
    if (others[c].value > ends[c].value) {
      ends[c] = others[c];
    } else if (others[c].value == ends[c].value) {
      ends[c].pairs += others[c].pairs;
    }
  }
}

}  // namespace

void LargestValues::add(Value value) {
  values_.push_back(value);
  if (values_.size() == 4 * most) drop_small();
}

void LargestValues::drop_small() {
  if (values_.size() <= most) return;
  std::nth_element(values_.begin(), values_.begin() + (most - 1), values_.end(), larger);
  values_.resize(most);
  least_ = std::max(least_, values_.back().value);
}

void LargestValues::merge(const LargestValues& other) {
  for (const Value& value : other.values_) {
    if (value.value >= least_) add(value);
  }
}

std::vector<LargestValues::Value> LargestValues::descending() const {
  std::vector<Value> values = values_;
  std::sort(values.begin(), values.end(), larger);
  if (values.size() > most) values.resize(most);
  return values;
}

void ChannelEnds::add(const Frames<double>& x) {
  if (x.cols() == 0) return;
  Vector<double> high = x.col(0);
  Vector<double> low = high;
  for (Index t = 1; t < x.cols(); ++t) {
    high = high.cwiseMax(x.col(t));
    low = low.cwiseMin(x.col(t));
  }
  Vector<double> at_high = Vector<double>::Zero(x.rows());  // pairs of neighbours
  Vector<double> at_low = at_high;
  for (Index t = 1; t < x.cols(); ++t) {
    const double* before = x.col(t - 1).data();
    const double* now = x.col(t).data();
    for (Index c = 0; c < x.rows(); ++c) {  // without a jump, so that several go at once
      at_high(c) += before[c] == high(c) && now[c] == high(c) ? 1.0 : 0.0;
      at_low(c) += before[c] == low(c) && now[c] == low(c) ? 1.0 : 0.0;
    }
  }
  ChannelEnds ends;
  ends.frames = x.cols();
  for (Index c = 0; c < x.rows(); ++c) {
    ends.highest.push_back({high(c), std::llround(at_high(c))});
    ends.lowest.push_back({-low(c), std::llround(at_low(c))});
  }
  merge(ends);
}

void ChannelEnds::merge(const ChannelEnds& other) {
  if (other.frames == 0) return;
  if (frames == 0) {
    *this = other;
    return;
  }
  merge_ends(highest, other.highest);
  merge_ends(lowest, other.lowest);
  frames += other.frames;
}

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
  for (std::size_t i = 0; i < largest.size(); ++i) largest[i].merge(other.largest[i]);
  pieces.insert(pieces.end(), other.pieces.begin(), other.pieces.end());
  ends.merge(other.ends);
}

OutputRequest::OutputRequest(const WhiteRecording& white, const Matrix<double>& W,
                             const std::optional<EstimatingEquation>& equation)
    : mean_(white.whitening().mean),
      equation_(equation),
      frames_(white.whitening().frames),
      in_float_(float_is_enough(white, W, equation)),
      seen_(std::make_shared<Seen>(W.rows())),
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

OutputRequest::OutputRequest(Vector<double> mean, const Matrix<double>& W, bool has_equation,
                             EstimatingEquation equation, std::int64_t frames,
                             std::vector<std::int64_t> starts, bool in_float)
    : mean_(std::move(mean)),
      equation_(has_equation ? std::optional(equation) : std::nullopt),
      frames_(frames),
      segments_(std::ssize(starts)),
      starts_(std::move(starts)),
      in_float_(in_float),
      seen_(std::make_shared<Seen>(W.rows())),
      doubles_(W),
      floats_(W) {}

void OutputRequest::Seen::tell(std::vector<LargestValues>& largest) {
  const std::scoped_lock lock(mutex_);
  for (std::size_t i = 0; i < largest.size(); ++i) largest[i].ignore_below(largest_[i].least());
}

void OutputRequest::Seen::add(const std::vector<LargestValues>& largest) {
  const std::scoped_lock lock(mutex_);
  for (std::size_t i = 0; i < largest.size(); ++i) {
    largest_[i].merge(largest[i]);
    largest_[i].drop_small();
  }
}

OutputSums OutputRequest::none() const {
  OutputSums sums;
  sums.second = sums.fourth = sums.slope = Vector<double>::Zero(doubles_.rows);
  sums.largest.resize(static_cast<std::size_t>(doubles_.rows));
  return sums;
}

// Cut where one stretch ends and the next begins: stretch b has the frames from b T / B on.
void OutputRequest::add(OutputSums& sums, const Chunk& chunk) const {
  const std::int64_t T = std::max<std::int64_t>(frames_, 1);
  const Index all = count_of(chunk.frames);
  seen_->tell(sums.largest);
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
  seen_->add(sums.largest);
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
  Vector<double> most(d);
  Vector<double> unused = Vector<double>::Zero(d);
  std::int64_t first = chunk.first;
  for_each_centred_block<T>(chunk.frames, mean_, chunk.weights, [&](const Block<T>& block) {
    multiply(W, block.x, y, block.ahead);
    sums.total += block.total();
    stretch.total += block.total();
    if constexpr (std::is_same_v<T, double>) {
      if (block.weights) {
        const Eigen::Map<const Vector<double>> w(block.weights, block.frames());
        const Matrix<double> square = y.topRows(d).array().square();
        sums.second += square * w;
        sums.fourth += square.array().square().matrix() * w;
        stretch.sum += y.topRows(d) * w;
        most = y.topRows(d).cwiseAbs().rowwise().maxCoeff();
      }
    }
    if (!block.weights) {
      add_powers(y, {stretch.sum, sums.second, sums.fourth, most});
    }
    keep_largest(y, most, first, sums.largest);
    first += block.frames();
    if (!equation_) return;
    g.resize(y.rows(), y.cols());
    if (equation_->kind == EstimatingEquation::Kind::weighted) {
      Vector<double> w;
      squared_lengths(y, d, w);
      for (double& v : w) v = weight_value(equation_->weight, v);
      if (block.weights) w.array() *= Eigen::Map<const Eigen::ArrayXd>(block.weights, w.size());
      weigh(y, d, w.data(), g);
      add_scatter(g, y, stretch.product);
    } else {
      add_nonlinearity(equation_->contrast, y, g, block.weights, {sums.slope, unused, unused});
      add_product(g, y, stretch.product);
    }
    if constexpr (std::is_same_v<T, double>) {
      if (block.weights) {
        weigh(y, d, block.weights, g);
        add_scatter(g, y, stretch.square);
        return;
      }
    }
    add_scatter(y, y, stretch.square);
  });
}

void OutputRequest::keep_pieces(OutputSums& sums, const Chunk& chunk) const {
  const std::int64_t end = chunk.first + count_of(chunk.frames);
  for (Index k = 0; k < segments_; ++k) {
    const std::int64_t start = starts_[static_cast<std::size_t>(k)];
    const std::int64_t from = std::max(start, chunk.first);
    const std::int64_t to = std::min(start + segment_frames, end);
    if (from >= to) continue;
    const AnyFrames frames = some_of(chunk.frames, from - chunk.first, to - from);
    OutputSums::Piece piece{k, from - start, outputs_of(frames)};
    for (std::int64_t t = from; chunk.weights && t < to; ++t) {
      if (chunk.weights[t - chunk.first] == 0) piece.y.col(t - from).setConstant(not_learned_from);
    }
    if (!chunk.weights ||
        (Eigen::Map<const Vector<double>>(chunk.weights + (from - chunk.first), to - from).array() > 0)
            .all()) {
      Matrix<double> buffer;
      sums.ends.add(as_doubles(frames, buffer));
    }
    sums.pieces.push_back(std::move(piece));
  }
}

Matrix<float> OutputRequest::outputs_of(const AnyFrames& frames) const {
  Matrix<float> out(doubles_.rows, count_of(frames));
  Index done = 0;
  const auto keep = [&](const auto& y) {
    out.middleCols(done, y.cols()) = y.topRows(out.rows()).template cast<float>();
    done += y.cols();
  };
  const auto go = [&]<typename T>(const Multiplier<T>& W) {
    Scratch<T> y;
    for_each_centred_block<T>(frames, mean_, nullptr, [&](const Block<T>& block) {
      multiply(W, block.x, *y);
      keep(*y);
    });
  };
  in_float_ ? go(floats_) : go(doubles_);
  return out;
}

Matrix<float> OutputRequest::segments_of(const OutputSums& sums, const std::vector<Index>& order) const {
  Matrix<float> y(doubles_.rows, segments_ * segment_frames);
  for (const OutputSums::Piece& piece : sums.pieces) {
    y.middleCols(piece.segment * segment_frames + piece.offset, piece.y.cols()) = piece.y(order, Eigen::all);
  }
  Index kept = 0;
  for (Index k = 0; k < segments_; ++k) {
    if (!y.middleCols(k * segment_frames, segment_frames).allFinite()) continue;
    if (kept < k) {
      y.middleCols(kept * segment_frames, segment_frames) = y.middleCols(k * segment_frames, segment_frames);
    }
    ++kept;
  }
  y.conservativeResize(Eigen::NoChange, kept * segment_frames);
  return y;
}

}  // namespace demix
