#include <algorithm>
#include <limits>

#include "demix/filters.hpp"

namespace demix {
namespace {

// In place, from the first column to the last or back.
void run(const Filter& filter, Matrix<double>& X, bool backward) {
  CausalFilter running(filter, X.rows());
  for (Index k = 0; k < X.cols(); ++k) {
    auto x = X.col(backward ? X.cols() - 1 - k : k);
    running.step(x, x);
  }
}

// Frames to extend an end by, of a stretch of n.
Index extension(const Filter& filter, Index n) {
  const auto sections = static_cast<Index>(filter.size());
  return std::max<Index>(0, std::min(3 * (2 * sections + 1), n - 1));
}

// [first, last) of X, filtered forward and backward, with what is around it; true ends are extended.
Matrix<double> filtered(const Filter& filter, const Eigen::Ref<const Matrix<double>>& X, Index first,
                        Index last, bool at_start, bool at_end) {
  const Index n = X.cols(), pad = extension(filter, n);
  const Index before = at_start ? pad : 0, after = at_end ? pad : 0;
  Matrix<double> Y(X.rows(), before + n + after);
  for (Index k = 0; k < before; ++k) Y.col(k) = 2 * X.col(0) - X.col(pad - k);
  Y.middleCols(before, n) = X;
  for (Index k = 0; k < after; ++k) Y.col(before + n + k) = 2 * X.col(n - 1) - X.col(n - 2 - k);
  run(filter, Y, false);
  run(filter, Y, true);
  return Y.middleCols(before + first, last - first);
}

}  // namespace

Matrix<double> zero_phase(const Filter& filter, const Matrix<double>& X) {
  return filtered(filter, X, 0, X.cols(), true, true);
}

FilteredRecording::FilteredRecording(const Recording& from, Filter filter, std::vector<Index> boundaries)
    : from_(from), filter_(std::move(filter)), boundaries_(std::move(boundaries)) {
  constexpr Index least_chunk = Index{1} << 14;
  std::ranges::sort(boundaries_);
  boundaries_.erase(std::unique(boundaries_.begin(), boundaries_.end()), boundaries_.end());
  std::erase_if(boundaries_, [](Index b) { return b <= 0; });
  settling_ = settling_frames(filter_);
  chunk_ = std::max(least_chunk, 2 * settling_);
}

// The chunks of a stretch between boundaries begin at multiples of chunk_ from its start. Each is filtered
// with settling_ frames on both sides, or up to the end of its stretch.
class FilteredRecording::Chunks final : public Reading {
 public:
  explicit Chunks(const FilteredRecording& of) : of_(of), from_(of.from_.read()), buffer_(of.channels(), 0) {
    next_stretch();
  }

  Index next(Eigen::Ref<Matrix<double>> out) override {
    Index done = 0;
    while (done < out.cols()) {
      if (given_ == ready_.cols() && !filter_next()) break;
      const Index now = std::min(out.cols() - done, ready_.cols() - given_);
      out.middleCols(done, now) = ready_.middleCols(given_, now);
      given_ += now;
      done += now;
    }
    return done;
  }

 private:
  // Held are the frames [held_first_, held_first_ + held_) of the recording.
  bool filter_next() {
    if (at_ == stretch_end_) next_stretch();
    const Index wanted_end = at_ + std::min(of_.chunk_ + of_.settling_, stretch_end_ - at_);
    const Index keep_from = std::max(stretch_first_, at_ - of_.settling_);
    hold(keep_from, wanted_end);
    const Index there = held_first_ + held_;
    if (there < wanted_end) stretch_end_ = there;  // the recording ends here
    if (at_ >= there) return false;
    const Index last = std::min(at_ + of_.chunk_, stretch_end_);
    ready_ = filtered(of_.filter_, buffer_.leftCols(held_), at_ - held_first_, last - held_first_,
                      held_first_ == stretch_first_, there == stretch_end_);
    given_ = 0;
    at_ = last;
    return true;
  }

  void next_stretch() {
    stretch_first_ = at_;
    const auto after = std::upper_bound(of_.boundaries_.begin(), of_.boundaries_.end(), at_);
    stretch_end_ = after == of_.boundaries_.end() ? std::numeric_limits<Index>::max() : *after;
  }

  void hold(Index first, Index end) {
    const Index drop = std::min(first - held_first_, held_);
    const Index kept = held_ - drop;
    if (buffer_.cols() < end - first) {
      Matrix<double> larger(of_.channels(), end - first);
      larger.leftCols(kept) = buffer_.middleCols(drop, kept);
      buffer_.swap(larger);
    } else if (drop > 0) {
      for (Index k = 0; k < kept; ++k) buffer_.col(k) = buffer_.col(drop + k);
    }
    held_first_ = first;
    held_ = kept;
    while (held_first_ + held_ < end) {
      const Index got = from_->next(buffer_.middleCols(held_, end - held_first_ - held_));
      if (got == 0) return;
      held_ += got;
    }
  }

  const FilteredRecording& of_;
  std::unique_ptr<Reading> from_;
  Index stretch_first_ = 0, stretch_end_ = 0;
  Index at_ = 0;  // the first frame that is not filtered yet
  Matrix<double> buffer_, ready_;
  Index held_first_ = 0, held_ = 0, given_ = 0;
};

std::unique_ptr<Recording::Reading> FilteredRecording::read() const {
  return std::make_unique<Chunks>(*this);
}

namespace {

class EveryNth final : public Recording::Reading {
 public:
  EveryNth(const Recording& from, Index n) : from_(from.read()), n_(n), buffer_(from.channels(), 4096) {}
  Index next(Eigen::Ref<Matrix<double>> out) override {
    Index done = 0;
    while (done < out.cols()) {
      if (next_ >= first_ + there_) {
        first_ += there_;
        there_ = from_->next(buffer_);
        if (there_ == 0) break;
        continue;
      }
      out.col(done++) = buffer_.col(next_ - first_);
      next_ += n_;
    }
    return done;
  }

 private:
  std::unique_ptr<Recording::Reading> from_;
  Index n_;
  Matrix<double> buffer_;
  Index first_ = 0, there_ = 0, next_ = 0;
};

class Picking final : public Recording::Reading {
 public:
  Picking(const Recording& from, const std::vector<Index>& picks)
      : from_(from), reading_(from.read()), picks_(picks) {}
  Index next(Eigen::Ref<Matrix<double>> out) override {
    all_.resize(from_.channels(), out.cols());
    const Index got = reading_->next(all_);
    for (std::size_t i = 0; i < picks_.size(); ++i)
      out.row(static_cast<Index>(i)).head(got) = all_.row(picks_[i]).head(got);
    return got;
  }

 private:
  const Recording& from_;
  std::unique_ptr<Recording::Reading> reading_;
  const std::vector<Index>& picks_;
  Matrix<double> all_;
};

}  // namespace

DecimatedRecording::DecimatedRecording(const Recording& from, Index n)
    : from_(from), n_(std::max<Index>(n, 1)) {}

std::unique_ptr<Recording::Reading> DecimatedRecording::read() const {
  return std::make_unique<EveryNth>(from_, n_);
}

std::unique_ptr<Recording::Reading> PickedRecording::read() const {
  return std::make_unique<Picking>(from_, picks_);
}

AnyFrames PickedRecording::frames_at(Index first, Index count, FrameBuffer& buffer) const {
  FrameBuffer all;
  return std::visit(
      [&]<typename Whole>(const Whole& whole) -> AnyFrames {
        auto& to = [&]() -> auto& {
          if constexpr (std::is_same_v<Whole, Frames<float>>) {
            return buffer.floats;
          } else {
            return buffer.doubles;
          }
        }
        ();
        to.resize(channels(), count);
        for (std::size_t i = 0; i < picks_.size(); ++i) to.row(static_cast<Index>(i)) = whole.row(picks_[i]);
        return Whole(to);
      },
      from_.frames_at(first, count, all));
}

}  // namespace demix
