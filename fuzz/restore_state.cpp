#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "core/checksum.hpp"
#include "demix/random.hpp"
#include "demix/stream_separator.hpp"
#include "targets.hpp"

/// A forged state, its checksum made to fit, is refused in one line, or what goes on from it puts out finite
/// numbers and comes to its end. States are large, so an input says which state to begin with, and what to
/// change in it:
///
///   1 byte    which state; the last number: what follows is the state itself
///   then, as often as there are bytes:
///   1 byte    how many bytes to change (1, 4 or 8), and whether `place` counts bytes or likely fields
///   3 bytes   place
///   8 bytes   what to put there
namespace demix::fuzz {
namespace {

using Learn = StreamOptions::Learn;

constexpr std::size_t head = 21 + sizeof(std::uint64_t);  // "demix stream state 4\n", checksum

template <typename T>
Matrix<T> noise(Index channels, Index frames) {
  Random random(1);
  Matrix<double> X = random.normal(channels, frames);
  X.row(0) = X.row(0).array().cube();
  X.leftCols(std::min<Index>(frames, 150)).row(channels - 1).setZero();  // wakes up: the coordinates move
  return X.cast<T>();
}

struct Base {
  bool single;  // float
  std::string state;
  std::vector<std::size_t> fields;  // where small whole numbers are: counts, places, shapes
};

template <typename T>
Base base(Index channels, const StreamOptions& options, Index frames) {
  StreamSeparator<T> stream(channels, options);
  Matrix<T> Y(stream.outputs(), frames);
  stream.process(noise<T>(channels, frames), Y);
  Base b{sizeof(T) == 4, stream.state(), {}};
  for (std::size_t at = head; at + 8 <= b.state.size(); ++at) {
    std::int64_t value = 0;
    std::memcpy(&value, b.state.data() + at, sizeof value);
    if (at < head + 400 || (value > 0 && value < 1 << 20)) b.fields.push_back(at);
  }
  return b;
}

std::vector<Base> make_bases() {
  StreamOptions robust;
  robust.robust = true;
  robust.memory = 2000;
  robust.components = 2;
  robust.filter = {{1, -1, 0, -0.9, 0}};
  robust.filter_output = true;
  StreamOptions replay{Learn::replay};
  replay.replay = 64;
  const StreamOptions frame{Learn::frame};
  return {base<double>(3, {}, 300),     base<double>(3, {}, 207),  // while the coordinates move
          base<double>(3, robust, 100), base<double>(3, robust, 900), base<double>(2, replay, 3000),
          base<double>(2, frame, 3000), base<float>(3, {}, 210),      base<float>(2, replay, 150),
          base<double>(18, {}, 600),    base<float>(34, {}, 600)};
}

const std::vector<Base>& bases() {
  static const std::vector<Base> all = make_bases();
  return all;
}

void change(Base& b, std::string_view bytes) {
  for (; bytes.size() >= 12; bytes.remove_prefix(12)) {
    const auto byte = [&](std::size_t k) {
      return static_cast<std::size_t>(static_cast<unsigned char>(bytes[k]));
    };
    const std::size_t place = byte(1) | byte(2) << 8U | byte(3) << 16U;
    const std::size_t at =
        (byte(0) & 4U) != 0 ? head + place % (b.state.size() - head) : b.fields[place % b.fields.size()];
    const std::size_t width = std::array<std::size_t, 4>{8, 8, 4, 1}[byte(0) & 3U];
    std::memcpy(b.state.data() + at, bytes.data() + 4, std::min(width, b.state.size() - at));
  }
}

void fit_checksum(std::string& state) {
  if (state.size() < head) return;
  const std::uint64_t sum = checksum(std::string_view(state).substr(head));
  std::memcpy(state.data() + head - sizeof sum, &sum, sizeof sum);
}

template <typename T>
std::string go_on(const std::string& state) {
  try {
    StreamSeparator<T> stream = StreamSeparator<T>::restore(state);
    const Index frames = 2 * stream.block() + 7;
    Matrix<T> Y(stream.outputs(), frames);
    stream.process(noise<T>(stream.channels(), frames), Y);
    require(Y.allFinite(), "outputs of finite frames are finite");
    stream.finish();
    require(stream.unmixing().allFinite() && stream.mean().allFinite(), "what was learned is finite");
    stream.process(noise<T>(stream.channels(), frames), Y);
    require(Y.allFinite(), "outputs of finite frames are finite at the end");
    stream.status();
    const Model model = stream.model();
    require(model.unmixing.allFinite() && model.mixing.allFinite() && model.mean.allFinite() &&
                model.kurtosis.allFinite(),
            "a model is finite");
    return {};
  } catch (const std::invalid_argument& e) {
    check_message(e.what(), state);
    return e.what();
  }
}

}  // namespace

std::string restore_state(std::string_view bytes) {
  const std::size_t which = bytes.empty() ? 0 : static_cast<unsigned char>(bytes[0]) % (bases().size() + 1);
  bytes.remove_prefix(std::min<std::size_t>(1, bytes.size()));
  Base b;
  if (which == bases().size()) {
    b = {false, std::string(bytes), {}};
  } else {
    b = bases()[which];
    change(b, bytes);
  }
  fit_checksum(b.state);
  return b.single ? go_on<float>(b.state) : go_on<double>(b.state);
}

}  // namespace demix::fuzz
