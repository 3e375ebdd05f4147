#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>

#include "targets.hpp"

/// forge_states COUNT [SEED]: so many forged states of streams, checksums made to fit, each restored and gone
/// on from in a process of its own. A line for each that does harm, and at the end how many there were; exit
/// 1 if any.
namespace {

constexpr rlim_t seconds = 20;  // of CPU time: a busy machine is no harm

std::string forged(std::mt19937_64& random) {
  const auto put = [](std::string& bytes, auto value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  };
  // The last two states of restore_state have many channels, and take 200 times as long as the others.
  const bool large = random() % 40 == 0;
  std::string bytes(1, static_cast<char>(large ? 8 + random() % 2 : random() % 8));
  for (std::uint64_t k = 0; k <= random() % 3; ++k) {
    put(bytes, static_cast<std::uint32_t>(random()));
    const auto number = static_cast<std::int64_t>(random());
    const double values[] = {std::nan(""), INFINITY, -1, 0, 1e308, -1e308, 1e-308, 1e19};
    switch (random() % 5) {
      case 0:
        put(bytes, number);
        break;
      case 1:
        put(bytes, number >> (random() % 64));
        break;
      case 2:
        put(bytes, values[random() % std::size(values)]);
        break;
      case 3:
        put(bytes, static_cast<std::int64_t>(random() % 5) - 2);
        break;
      default:
        put(bytes, static_cast<std::int64_t>(random() % 3000));
    }
  }
  return bytes;
}

// 0: taken; 3: refused; 4: a promise was broken
[[noreturn]] void restore(const std::string& bytes) {
  const rlimit limit{seconds, seconds + 1};
  ::setrlimit(RLIMIT_CPU, &limit);
  int code = 0;
  try {
    code = demix::fuzz::restore_state(bytes).empty() ? 0 : 3;
  } catch (const std::exception& e) {
    std::printf("%s\n", e.what());
    std::fflush(stdout);
    code = 4;
  }
  ::_exit(code);
}

}  // namespace

int main(int argc, char** argv) {
  const long count = argc > 1 ? std::atol(argv[1]) : 1000;
  std::mt19937_64 random(argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1);
  demix::fuzz::restore_state({});  // what all of them begin with is made once
  long taken = 0;
  long refused = 0;
  for (long k = 0; k < count; ++k) {
    const std::string bytes = forged(random);
    std::fflush(stdout);
    const pid_t child = ::fork();
    if (child == 0) restore(bytes);
    int status = 0;
    if (child < 0 || ::waitpid(child, &status, 0) != child) return 2;
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    taken += code == 0;
    refused += code == 3;
    if (code == 0 || code == 3) continue;
    std::string hex;
    for (const char c : bytes) {
      char two[3];
      std::snprintf(two, sizeof two, "%02x", static_cast<unsigned char>(c));
      hex += two;
    }
    std::printf("state %ld: %s %d: %s\n", k, code < 0 ? "signal" : "exit", code < 0 ? WTERMSIG(status) : code,
                hex.c_str());
  }
  std::printf("%ld forged states: %ld refused, %ld taken, %ld harmful\n", count, refused, taken,
              count - refused - taken);
  return refused + taken == count ? 0 : 1;
}
