#include <algorithm>
#include <string>

#include "demix/signal_stream.hpp"
#include "io/frame_decoder.hpp"

namespace demix::io {
namespace {

std::unique_ptr<FrameDecoder> decoder_of(ByteStream& bytes, Encoding encoding, const ReadOptions& asked) {
  if (encoding == Encoding::wav) return decode_wav(bytes, asked);
  if (encoding == Encoding::csv || encoding == Encoding::tsv) return decode_text(bytes, asked);
  if (asked.channels < 1) {
    throw Error(bytes.name() + ": raw " + std::string(encoding_name(encoding)) +
                " does not say how many channels it has; give their number");
  }
  SignalInfo info;
  info.channels = asked.channels;
  info.rate = asked.rate;
  return decode_numbers(bytes, number_type(encoding), std::move(info));
}

}  // namespace

StreamReader::StreamReader(const std::string& name, Encoding encoding, const ReadOptions& asked)
    : path_(name), encoding_(encoding), asked_(asked) {
  open();
}

StreamReader::~StreamReader() = default;
StreamReader::StreamReader(StreamReader&&) noexcept = default;
StreamReader& StreamReader::operator=(StreamReader&&) noexcept = default;

void StreamReader::open() {
  decoder_.reset();
  bytes_ = std::make_unique<ByteStream>(path_);
  decoder_ = decoder_of(*bytes_, encoding_, asked_);
  if (asked_.channels > 0 && asked_.channels != info().channels) {
    throw Error(bytes_->name() + ": has " + std::to_string(info().channels) + " channels where " +
                std::to_string(asked_.channels) + " were asked for");
  }
  state_ = decoder_->state();
  any_ = false;
}

const SignalInfo& StreamReader::info() const { return decoder_->info; }
int StreamReader::fd() const { return bytes_->fd(); }

std::optional<double> StreamReader::progress() const {
  if (!bytes_->is_file()) return {};
  const std::uint64_t left = bytes_->left();
  const std::uint64_t size = bytes_->size();
  return size > 0 ? 1 - static_cast<double>(std::min(left, size)) / static_cast<double>(size) : 1;
}

Index StreamReader::read_some(Eigen::Ref<Matrix<double>> out) {
  if (out.rows() != info().channels) {
    throw std::invalid_argument("out must have one row for each of " + std::to_string(info().channels) +
                                " channels, has " + std::to_string(out.rows()));
  }
  if (out.cols() == 0) return 0;
  while (state_ == State::waiting) {
    if (!decoder_->fill()) return 0;
    state_ = decoder_->state();
  }
  if (state_ == State::ended) return 0;
  const Index frames = decoder_->decode(out);
  state_ = decoder_->state();
  return frames;
}

Index StreamReader::read(Eigen::Ref<Matrix<double>> out) {
  Index frames = 0;
  while (frames < out.cols()) {
    const Index got = read_some(out.rightCols(out.cols() - frames));
    if (got == 0) break;
    frames += got;
  }
  if (frames == 0 && !any_) throw Error(bytes_->name() + ": there are no numbers in it");
  any_ = true;
  return frames;
}

void StreamReader::rewind() {
  if (!bytes_->is_file()) throw Error(bytes_->name() + ": cannot be read again");
  open();
}

void StreamReader::skip(std::int64_t frames) {
  if (frames < 0) throw std::invalid_argument("frames to skip must be >= 0, got " + std::to_string(frames));
  auto ahead = static_cast<std::uint64_t>(frames);
  while (ahead > 0) {
    ahead -= decoder_->drop(ahead);
    state_ = decoder_->state();
    if (ahead == 0) return;
    if (state_ != State::waiting) {  // at hand: not a whole frame, or it would have been dropped
      throw Error(bytes_->name() + ": ends after " +
                  std::to_string(static_cast<std::uint64_t>(frames) - ahead) + " of the " +
                  std::to_string(frames) + " frames to skip; is it the input of before?");
    }
    if (!decoder_->fill()) throw Interrupted(bytes_->name() + ": interrupted while waiting for input");
    state_ = decoder_->state();
  }
}

}  // namespace demix::io
