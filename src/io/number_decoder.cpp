#include <algorithm>
#include <string>

#include "io/frame_decoder.hpp"

namespace demix::io {
namespace {

constexpr std::size_t largest_frame = 1 << 24;  // bytes

class NumberDecoder final : public FrameDecoder {
 public:
  NumberDecoder(ByteStream& bytes, const NumberType& type, SignalInfo about, std::uint64_t left)
      : FrameDecoder(bytes), type_(type), left_(left) {
    info = std::move(about);
    const auto most = static_cast<Index>(largest_frame / type.bytes);
    if (info.channels > most) {
      throw Error(name() + ": " + std::to_string(info.channels) + " channels are too many; at most " +
                  std::to_string(most) + " can be read");
    }
    frame_bytes_ = type.bytes * static_cast<std::size_t>(info.channels);
    bytes_.reserve(bytes_.capacity() + frame_bytes_);  // a frame fits, and more
    if (bytes_.is_file()) info.frames = static_cast<Index>(std::min(left_, bytes_.left()) / frame_bytes_);
  }

  State state() override {
    if (left_ == 0 || (bytes_.is_over() && bytes_.ahead().empty() && !is_cut_off())) return State::ended;
    return whole_frames() > 0 || bytes_.is_over() || left_ < frame_bytes_ ? State::at_hand : State::waiting;
  }

  Index decode(Eigen::Ref<Matrix<double>> out) override {
    const std::uint64_t frames = std::min(whole_frames(), static_cast<std::uint64_t>(out.cols()));
    if (frames == 0) throw Error(name() + ": " + cut_off_text());
    const char* from = bytes_.ahead().data();
    for (Index t = 0; t < static_cast<Index>(frames); ++t, from += frame_bytes_) {
      type_.decode(from, info.channels, out.col(t).data());
    }
    take(frames);
    return static_cast<Index>(frames);
  }

  std::uint64_t drop(std::uint64_t frames) override {
    const std::uint64_t there = std::min(bytes_.left(), left_) / frame_bytes_;
    if (frames <= there && bytes_.seek_forward(frames * frame_bytes_)) {
      left_ -= left_ == unlimited ? 0 : frames * frame_bytes_;
      return frames;
    }
    const std::uint64_t now = std::min(frames, whole_frames());
    take(now);
    return now;
  }

 private:
  std::uint64_t whole_frames() const {
    return std::min<std::uint64_t>(bytes_.ahead().size(), left_) / frame_bytes_;
  }

  void take(std::uint64_t frames) {
    bytes_.take(static_cast<std::size_t>(frames * frame_bytes_));
    left_ -= left_ == unlimited ? 0 : frames * frame_bytes_;
  }

  // The header promised more than there is. (Whoever wrote to a pipe may have been stopped.)
  bool is_cut_off() const {
    constexpr std::uint64_t known = std::uint64_t{1} << 62;
    return bytes_.is_file() && bytes_.is_over() && left_ < known && left_ > bytes_.ahead().size();
  }

  std::string cut_off_text() const {
    if (bytes_.ahead().empty() && is_cut_off()) {
      return "ends " + std::to_string(left_) + " bytes before its header says; it is cut off";
    }
    const std::uint64_t over =
        std::min<std::uint64_t>(left_, bytes_.is_over() ? bytes_.ahead().size() : frame_bytes_);
    return "ends with " + std::to_string(over) + " bytes of a frame of " + std::to_string(frame_bytes_) +
           "; it is cut off, or has another number of channels";
  }

  NumberType type_;
  std::size_t frame_bytes_ = 0;
  std::uint64_t left_;  // bytes of samples still to give out
};

}  // namespace

std::unique_ptr<FrameDecoder> decode_numbers(ByteStream& bytes, const NumberType& type, SignalInfo info,
                                             std::uint64_t left) {
  return std::make_unique<NumberDecoder>(bytes, type, std::move(info), left);
}

}  // namespace demix::io
