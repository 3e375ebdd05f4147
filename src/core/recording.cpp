#include "demix/recording.hpp"

#include <algorithm>

#include "core/parallel_sum.hpp"

namespace demix {
namespace {

template <typename T>
class MatrixReading final : public Recording::Reading {
 public:
  explicit MatrixReading(const Frames<T>& X) : X_(X) {}
  Index next(Eigen::Ref<Matrix<double>> out) override {
    const Index frames = std::min(out.cols(), X_.cols() - at_);
    out.leftCols(frames) = X_.middleCols(at_, frames).template cast<double>();
    at_ += frames;
    return frames;
  }

 private:
  const Frames<T>& X_;
  Index at_ = 0;
};

}  // namespace

Index Recording::chunk_frames() const {
  return std::clamp<Index>((Index{1} << 15) / std::max<Index>(1, channels()) / 512, 1, 32) * 512;
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
template class MatrixRecording<float>;
template class MatrixRecording<double>;

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
  parallel_sum(from_, {}, 0, 0, in_order,
               [&](InOrder& mine, const Frames<double>& chunk, std::int64_t) { mine.frames = map_(chunk); });
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
