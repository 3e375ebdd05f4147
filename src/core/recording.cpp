#include "demix/recording.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

#include "core/frame_kernels.hpp"
#include "core/pack.hpp"
#include "core/parallel_sum.hpp"

namespace demix {
namespace {

template <typename T>
class MatrixReading final : public Recording::Reading {
 public:
  using View = typename MatrixRecording<T>::View;
  explicit MatrixReading(const View& X) : X_(X) {}
  Index next(Eigen::Ref<Matrix<double>> out) override {
    const Index frames = std::min(out.cols(), X_.cols() - at_);
    out.leftCols(frames) = X_.middleCols(at_, frames).template cast<double>();
    at_ += frames;
    return frames;
  }

 private:
  View X_;
  Index at_ = 0;
};

}  // namespace

Index Recording::chunk_frames() const {
  return std::clamp<Index>((Index{1} << 16) / std::max<Index>(1, channels()) / 512, 1, 32) * 512;
}

AnyFrames Recording::frames_at(Index, Index, FrameBuffer&) const {
  throw std::logic_error("frames_at: this recording is read from its first frame on");
}

std::string Recording::remote_sums(const std::string&) const {
  throw std::logic_error("remote_sums: this recording is read here");
}

void Recording::pass(const Visitor& visit) const {
  const auto reading = read();
  Matrix<double> chunk(channels(), chunk_frames());
  while (const Index frames = reading->next(chunk)) visit(chunk.leftCols(frames));
}

template <typename T>
std::unique_ptr<Recording::Reading> MatrixRecording<T>::read() const {
  return std::make_unique<MatrixReading<T>>(X_);
}

template <typename T>
AnyFrames MatrixRecording<T>::frames_at(Index first, Index count, FrameBuffer&) const {
  return Frames<T>(X_.middleCols(first, count));
}
template class MatrixRecording<float>;
template class MatrixRecording<double>;

WeightedRecording::WeightedRecording(const Recording& from, Vector<double> weights)
    : from_(from), weights_(std::move(weights)) {
  if (from.is_remote()) throw std::invalid_argument("weights: not of frames that are elsewhere");
  Index frames = from.frames();
  if (frames == 0) from.pass([&](const Frames<double>& chunk) { frames += chunk.cols(); });
  if (weights_.size() != frames) {
    throw std::invalid_argument("weights: expected one for each of the " + std::to_string(frames) +
                                " frames, got " + std::to_string(weights_.size()));
  }
  for (Index t = 0; t < weights_.size(); ++t) {
    if (!(weights_(t) >= 0 && weights_(t) < 1e100)) {
      throw std::invalid_argument("weights: expected 0 or more, got " + std::to_string(weights_(t)) +
                                  " for frame " + std::to_string(t + 1));
    }
  }
  if (!(weights_.array() > 0).any()) throw std::invalid_argument("weights: all are 0");
}

RecordingWithout::RecordingWithout(const Recording& from, const std::vector<Segment>& bad) : from_(from) {
  std::vector<Segment> sorted = bad;
  std::sort(sorted.begin(), sorted.end(),
            [](const Segment& a, const Segment& b) { return a.first < b.first; });
  Index at = 0;
  for (const Segment& s : sorted) {
    if (s.end < s.first || s.first < 0) {
      throw std::invalid_argument("bad: expected segments of frames that end after they begin, got " +
                                  std::to_string(s.first) + " to " + std::to_string(s.end));
    }
    if (s.first > at) good_.push_back({at, s.first});
    at = std::max(at, s.end);
  }
  good_.push_back({at, std::numeric_limits<Index>::max()});
  if (!from.weights()) return;
  const Vector<double>& all = *from.weights();
  Index kept = 0;
  weights_.resize(all.size());
  for (const Segment& s : good_) {
    for (Index t = s.first; t < std::min(s.end, all.size()); ++t) weights_(kept++) = all(t);
  }
  weights_.conservativeResize(kept);
}

Index RecordingWithout::frames() const {
  const Index all = from_.frames();
  Index left = 0;
  for (const Segment& s : good_) left += std::max<Index>(0, std::min(all, s.end) - s.first);
  return left;
}

std::string RecordingWithout::remote_sums(const std::string& request) const {
  Packer packer;
  char what = 'w';
  std::vector<Segment> good = good_;
  packer(what, good);
  return from_.remote_sums(packer.bytes + request);
}

AnyFrames RecordingWithout::frames_at(Index first, Index count, FrameBuffer& buffer) const {
  FrameBuffer part;
  bool floats = false;
  const auto bring = [&](const auto& frames, auto& to, Index done) {
    if (done == 0) to.resize(channels(), count);
    to.middleCols(done, frames.cols()) = frames;
  };
  Index done = 0;
  Index before = 0;  // frames of the segments before this one
  for (const Segment& s : good_) {
    const Index size = s.end - s.first;
    if (first + done < before + size) {
      const Index offset = first + done - before;
      const Index now = std::min(count - done, size - offset);
      const AnyFrames frames = from_.frames_at(s.first + offset, now, part);
      floats = std::holds_alternative<Frames<float>>(frames);
      if (floats) {
        bring(std::get<Frames<float>>(frames), buffer.floats, done);
      } else {
        bring(std::get<Frames<double>>(frames), buffer.doubles, done);
      }
      done += now;
      if (done == count) break;
    }
    before += size;
  }
  if (floats) return Frames<float>(buffer.floats);
  return Frames<double>(buffer.doubles);
}

class RecordingWithout::Skipping final : public Reading {
 public:
  explicit Skipping(const RecordingWithout& of) : of_(of), from_(of.from_.read()) {}
  Index next(Eigen::Ref<Matrix<double>> out) override {
    Index kept = 0;
    while (kept < out.cols()) {
      room_.resize(out.rows(), out.cols() - kept);
      const Index got = from_->next(room_);
      if (got == 0) break;
      for (Index t = 0; t < got; ++t, ++at_) {
        while (at_ >= of_.good_[segment_].end) ++segment_;
        if (at_ >= of_.good_[segment_].first) out.col(kept++) = room_.col(t);
      }
    }
    return kept;
  }

 private:
  const RecordingWithout& of_;
  std::unique_ptr<Reading> from_;
  Matrix<double> room_;
  Index at_ = 0;
  std::size_t segment_ = 0;
};

std::unique_ptr<Recording::Reading> RecordingWithout::read() const {
  return std::make_unique<Skipping>(*this);
}

namespace {

struct InOrder {
  const Recording::Visitor* visit;
  Matrix<double> frames;
  void merge(const InOrder& next) const { (*visit)(next.frames); }
};

class MappedReading final : public Recording::Reading {
 public:
  MappedReading(const Recording& from, const MappedRecording::Map& map)
      : from_(from.read()), map_(map), frames_(from.channels(), 0) {}
  Index next(Eigen::Ref<Matrix<double>> out) override {
    if (frames_.cols() != out.cols()) frames_.resize(frames_.rows(), out.cols());
    const Index got = from_->next(frames_);
    out.leftCols(got) = map_(frames_.leftCols(got));
    return got;
  }

 private:
  std::unique_ptr<Reading> from_;
  const MappedRecording::Map& map_;
  Matrix<double> frames_;
};

}  // namespace

std::unique_ptr<Recording::Reading> MappedRecording::read() const {
  return std::make_unique<MappedReading>(from_, map_);
}

void MappedRecording::pass(const Visitor& visit) const {
  InOrder in_order{&visit, {}};
  parallel_sum(from_, in_order, [&](InOrder& mine, const AnyFrames& chunk, std::int64_t) {
    thread_local Matrix<double> buffer;
    mine.frames = map_(as_doubles(chunk, buffer));
  });
}

void MappedRecording::pass_share(const PlacedVisitor& visit) const {
  struct Nothing {};
  const Index chunks = (from_.frames() + from_.chunk_frames() - 1) / from_.chunk_frames();
  const ChunkShare share =
      ranks() ? share_of(chunks, ranks()->rank(), ranks()->count()) : ChunkShare{0, chunks};
  SharedReading source(from_, share);
  const auto add = [&](Nothing&, const AnyFrames& chunk, std::int64_t before) {
    thread_local Matrix<double> buffer;
    visit(before, map_(as_doubles(chunk, buffer)));
  };
  parallel_chunks(from_, source, share.end - share.first, Nothing{}, add, [](Index, const Nothing&) {});
}

Frames<double> as_doubles(const AnyFrames& frames, Matrix<double>& buffer) {
  if (const auto* doubles = std::get_if<Frames<double>>(&frames)) return *doubles;
  const auto& floats = std::get<Frames<float>>(frames);
  buffer.resize(floats.rows(), floats.cols());
  for (Index t = 0; t < floats.cols(); ++t) widen(floats.col(t).data(), floats.rows(), buffer.col(t).data());
  return buffer;
}

Matrix<double> gather(const Recording& recording) {
  Matrix<double> all(recording.channels(), recording.frames());
  Index frames = 0;
  recording.pass([&](const Frames<double>& part) {
    if (frames + part.cols() > all.cols()) {
      all.conservativeResize(Eigen::NoChange, std::max(2 * all.cols(), frames + part.cols()));
    }
    all.middleCols(frames, part.cols()) = part;
    frames += part.cols();
  });
  all.conservativeResize(Eigen::NoChange, frames);
  return all;
}

}  // namespace demix
