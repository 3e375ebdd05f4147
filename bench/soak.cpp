// A long run: the stream separator (converging and tracking) and the network with natural steps, side by side
// on the same endless frames. Every million frames: everything finite, memory as it was, the outputs white, M
// well-conditioned.
//
//   soak [frames] [seconds]     stops at whichever comes first; 1e9 frames, 600 s by default
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "demix/linear_algebra.hpp"
#include "demix/natural_network.hpp"
#include "demix/stream_separator.hpp"
#include "demix/synthetic.hpp"

namespace {

using demix::Index;
using demix::Matrix;

double resident_megabytes() {
  std::ifstream file("/proc/self/statm");
  double total = 0;
  double resident = 0;
  file >> total >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE)) / 1e6;
}

// Largest entry of U C U^T - I
double off_white(const Matrix<double>& U, const Matrix<double>& C) {
  return (U * C * U.transpose() - Matrix<double>::Identity(U.rows(), U.rows())).cwiseAbs().maxCoeff();
}

// The bounds.
constexpr double off_white_converged = 1e-3;  // the frames repeat, so that the covariance is known
constexpr double off_white_tracked = 0.1;     // of a memory of 2e4 frames
constexpr double condition_of_M = 1e3;        // lambda^2 spans a factor of 100, kurtosis + d - 1 one of 3
constexpr double growth = 1;                  // megabytes after the first million frames

}  // namespace

int main(int argc, char** argv) {
  const double wanted = argc > 1 ? std::atof(argv[1]) : 1e9;
  const double seconds = argc > 2 ? std::atof(argv[2]) : 600;
  constexpr Index d = 4;
  constexpr Index chunk = 1000000;
  demix::Random random(1);
  const Matrix<double> A = demix::conditioned_mixing(d, 1e4, random);
  const Matrix<double> X = A * demix::make_sources({demix::Source::square, demix::Source::sine,
                                                    demix::Source::sawtooth, demix::Source::laplace},
                                                   chunk, demix::Timing::iid, random);
  const Matrix<double> centred = X.colwise() - X.rowwise().mean();
  const Matrix<double> C = centred * centred.transpose() / static_cast<double>(chunk);

  demix::StreamSeparator<double> converge(d);
  demix::StreamOptions options;
  options.memory = 2e4;
  demix::StreamSeparator<double> track(d, options);
  demix::NaturalNetwork<double> network(d);
  demix::Vector<double> y(d);
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  double memory = 0;
  double frames = 0;
  double worst[4] = {0, 0, 0, 0};
  bool ok = true;
  while (frames < wanted && elapsed() < seconds && ok) {
    double sum = 0;  // not finite if any output is not
    for (Index t = 0; t < chunk; ++t) {
      converge.step(X.col(t), y);
      sum += y.sum();
      track.step(X.col(t), y);
      sum += y.sum();
      network.step(X.col(t), y);
      sum += y.sum();
    }
    frames += chunk;
    if (memory == 0) memory = resident_megabytes();
    const demix::Vector<double> of_M = demix::symmetric_eigen(network.lateral()).values;
    const double now[4] = {off_white(converge.unmixing(), C), off_white(track.unmixing(), C),
                           of_M(d - 1) / of_M(0), resident_megabytes() - memory};
    for (int k = 0; k < 4; ++k) worst[k] = std::max(worst[k], now[k]);
    ok = std::isfinite(sum) && now[0] < off_white_converged && now[1] < off_white_tracked && of_M(0) > 0 &&
         now[2] < condition_of_M && now[3] < growth;
    if (!ok || std::fmod(frames, 1e8) == 0) {
      std::printf("%.0e frames, %.0f s: off white %.1e (track %.1e), cond(M) %.1f, grown by %.3f MB%s\n",
                  frames, elapsed(), now[0], now[1], now[2], now[3], ok ? "" : "  OUT OF BOUNDS");
      std::fflush(stdout);
    }
  }
  std::printf(
      "%s: %.3g frames in %.0f s; worst: off white %.1e (bound %.0e), track %.1e (%.0e), cond(M) %.1f "
      "(%.0e), "
      "grown by %.3f MB (%.0f); changes noticed while there were none: %ld\n",
      ok ? "sound" : "OUT OF BOUNDS", frames, elapsed(), worst[0], off_white_converged, worst[1],
      off_white_tracked, worst[2], condition_of_M, worst[3], growth,
      static_cast<long>(track.status().changes));
  return ok ? 0 : 1;
}
