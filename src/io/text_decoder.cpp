#include <algorithm>
#include <string>

#include "io/frame_decoder.hpp"
#include "io/orientation.hpp"
#include "io/text_line.hpp"

namespace demix::io {
namespace {

constexpr std::size_t longest_line = 1 << 24;

class TextDecoder final : public FrameDecoder {
 public:
  TextDecoder(ByteStream& bytes, const ReadOptions& asked) : FrameDecoder(bytes) {
    info.rate = asked.rate;
    read_first_line(asked.delimiter);
  }

  bool fill() override {
    if (bytes_.is_full()) {
      if (bytes_.capacity() >= longest_line) {
        throw Error(name() + ": line " + std::to_string(line_number_) + " is longer than " +
                    std::to_string(longest_line >> 20) + " MiB; is it text, one frame per line?");
      }
      bytes_.reserve(2 * bytes_.capacity());
    }
    return bytes_.fill();
  }

  State state() override {
    find_line();
    if (bytes_.is_over() && bytes_.ahead().empty()) return State::ended;
    return line_bytes_ > 0 ? State::at_hand : State::waiting;
  }

  Index decode(Eigen::Ref<Matrix<double>> out) override {
    Index frames = 0;
    for (; frames < out.cols() && line_bytes_ > 0; ++frames) {
      const std::string wrong =
          parse_row(trim(bytes_.ahead().substr(0, line_bytes_)), delimiter_,
                    static_cast<std::size_t>(info.channels), out.col(frames).data(), fields_);
      if (!wrong.empty() && frames == 0) throw Error(at_line(name(), line_number_, wrong));
      if (!wrong.empty()) break;  // the frames before it first
      take_line();
      find_line();
    }
    return frames;
  }

  std::uint64_t drop(std::uint64_t frames) override {
    std::uint64_t dropped = 0;
    for (; dropped < frames && line_bytes_ > 0; ++dropped) {
      take_line();
      find_line();
    }
    return dropped;
  }

 private:
  // Tells the channels and perhaps their names.
  void read_first_line(char delimiter) {
    const auto start = [&] { return bytes_.ahead().substr(0, byte_order_mark.size()); };
    while (!bytes_.is_over() && start().size() < byte_order_mark.size() &&
           byte_order_mark.starts_with(start())) {
      bytes_.fill_or_throw();
    }
    if (start() == byte_order_mark) bytes_.take(byte_order_mark.size());

    for (find_line(); line_bytes_ == 0; find_line()) {
      if (bytes_.is_over()) throw Error(name() + ": there are no numbers in it");
      if (!fill()) throw Interrupted(name() + ": interrupted while waiting for input");
    }
    const std::string_view line = trim(bytes_.ahead().substr(0, line_bytes_));
    delimiter_ = delimiter != 0 ? delimiter : find_delimiter(line);
    split(line, delimiter_, fields_);
    require_channels(fields_.size(), name());
    info.channels = static_cast<Index>(fields_.size());
    if (!are_names(fields_)) return;  // it is the first frame, still to be given out
    info.names = names_of(fields_);
    take_line();
  }

  // Drops lines that do not count and finds the end of the first that does, if it is there.
  void find_line() {
    line_bytes_ = 0;
    for (;;) {
      const std::string_view rest = bytes_.ahead();
      const std::size_t end = rest.find('\n', searched_);
      if (end == std::string_view::npos && (!bytes_.is_over() || rest.empty())) {
        searched_ = rest.size();
        return;
      }
      const std::size_t bytes = std::min(end, rest.size() - 1) + 1;
      line_bytes_ = bytes;
      if (line_counts(trim(rest.substr(0, bytes)))) {
        searched_ = bytes - 1;
        return;
      }
      take_line();
    }
  }

  void take_line() {
    bytes_.take(std::exchange(line_bytes_, 0));
    searched_ = 0;
    ++line_number_;
  }

  char delimiter_ = ',';
  std::size_t line_number_ = 1;
  std::size_t line_bytes_ = 0;  // of the next line that counts, with its end; 0 = not all there
  std::size_t searched_ = 0;    // bytes known to hold no end of line, so that long lines are searched once
  std::vector<std::string_view> fields_;
};

}  // namespace

std::unique_ptr<FrameDecoder> decode_text(ByteStream& bytes, const ReadOptions& asked) {
  return std::make_unique<TextDecoder>(bytes, asked);
}

}  // namespace demix::io
