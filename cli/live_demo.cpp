#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <numbers>
#include <thread>

#include "commands.hpp"
#include "console.hpp"
#include "demix/linear_algebra.hpp"
#include "demix/synthetic.hpp"
#include "page_option.hpp"

namespace demix::cli {
namespace {

constexpr double rate = 8000;
constexpr Index sounds = 4;
constexpr double between_changes = 20;  // seconds
constexpr double memory = 4;            // seconds

double fraction(double x) { return x - std::floor(x); }
double tone(double turns) { return std::sin(2 * std::numbers::pi * fraction(turns)); }

// A melody, a drum, a siren and an engine: to be told apart by ear and by eye, and much the same in every
// half second, so that a new mixing is noticed at once. The siren stays above all notes: two tones of one
// pitch are not independent. t: seconds
Vector<double> sounds_at(double t, Random& random) {
  constexpr double note_length = 0.23;
  constexpr double beat_length = 0.31;
  constexpr std::array<double, 8> notes{262, 330, 392, 523, 440, 392, 330, 294};  // Hz
  const double pitch = notes[static_cast<std::size_t>(t / note_length) % notes.size()];
  const double since_note = note_length * fraction(t / note_length);
  const double since_beat = beat_length * fraction(t / beat_length);
  Vector<double> s(sounds);
  s << (tone(pitch * since_note) + 0.4 * tone(2 * pitch * since_note)) * std::exp(-3 * since_note),
      random.normal() * std::exp(-9 * since_beat),
      tone(1300 * t - 40 * std::cos(2 * std::numbers::pi * 0.23 * t)) * (0.6 + 0.2 * tone(1.3 * t)),
      (2 * fraction(70 * t) - 1) * (0.6 + std::abs(tone(1.7 * t)));
  return s;
}

// Mixtures go into the pipe as they would come from microphones, until nobody reads it.
void play(int pipe, std::uint64_t seed, const std::atomic<bool>& over) {
  Random random(seed);
  const auto start = std::chrono::steady_clock::now();
  constexpr Index block = 80;
  Matrix<double> mixing = conditioned_mixing(sounds, 4, random);
  Matrix<float> X(sounds, block);
  for (std::int64_t frame = 0; !over; frame += block) {
    for (Index i = 0; i < block; ++i) {
      const std::int64_t now = frame + i;
      if (now > 0 && now % static_cast<std::int64_t>(rate * between_changes) == 0)
        mixing = conditioned_mixing(sounds, 4, random);
      X.col(i) = (0.3 * mixing * sounds_at(static_cast<double>(now) / rate, random)).cast<float>();
    }
    const char* bytes = reinterpret_cast<const char*>(X.data());
    std::size_t left = static_cast<std::size_t>(X.size()) * sizeof(float);
    while (left > 0) {
      const ssize_t put = ::write(pipe, bytes, left);
      if (put <= 0) return;
      bytes += put;
      left -= static_cast<std::size_t>(put);
    }
    std::this_thread::sleep_until(start +
                                  std::chrono::duration<double>(static_cast<double>(frame + block) / rate));
  }
}

}  // namespace

void run_live_demo(const std::string& page, std::uint64_t seed) {
  if (!parse_page_address(page)) throw UsageError("--page", "expected ADDRESS:PORT or a port, got " + page);
  std::array<int, 2> pipe{};
  if (::pipe(pipe.data()) != 0 || ::dup2(pipe[0], STDIN_FILENO) < 0) throw Failure("no pipe for the sounds");
  ::close(pipe[0]);
  std::atomic<bool> over{false};
  std::thread player([&] { play(pipe[1], seed, over); });
  const auto end = [&] {
    over = true;
    ::close(STDIN_FILENO);
    player.join();
    ::close(pipe[1]);
  };
  try {
    message("Four sounds, mixed; every {} s the mixing changes. Open the address in a browser; Ctrl-C ends.",
            between_changes);
    watch_pipe({.page = page,
                .title = "four sounds, mixed anew every 20 s",
                .channels = sounds,
                .rate = rate,
                .track = memory});
  } catch (...) {
    end();
    throw;
  }
  end();
}

}  // namespace demix::cli
