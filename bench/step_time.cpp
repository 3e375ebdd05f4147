// Time of one step of the SM-ICA networks, published and natural, of ORICA, of the stream separator and of
// batch FOBI per frame, for several sizes; and of one multiply-add, as fast as this machine can, to compare
// with the arithmetic. `step_time orica` prints what compare-orica needs to see that its rule is ours;
// `step_time stream` what the stream costs over 1e6 frames, beside its bars.
#include <benchmark/benchmark.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include "demix/fobi.hpp"
#include "demix/natural_network.hpp"
#include "demix/random.hpp"
#include "demix/rules/orica.hpp"
#include "demix/sm_ica_network.hpp"
#include "demix/stream_separator.hpp"

namespace {

template <typename T>
void network_step(benchmark::State& state) {
  const demix::Index d = state.range(0);
  demix::SmIcaNetworkOptions options;
  options.eta = 1e-9;  // slow enough to stay where it is for the whole measurement
  options.tau = 0.5;
  demix::SmIcaNetwork<T> network(d, d, options);
  const demix::Matrix<T> X = demix::Random(1).normal(d, 256).cast<T>();
  demix::Vector<T> y(d);
  demix::Index t = 0;
  for (auto _ : state) {
    if (network.step(X.col(t), y) != demix::NetworkStatus::ok) state.SkipWithError("the network diverged");
    t = (t + 1) & 255;
  }
}
BENCHMARK(network_step<double>)->Name("step/double")->Arg(4)->Arg(32)->Arg(128);
BENCHMARK(network_step<float>)->Name("step/float")->Arg(4)->Arg(32)->Arg(128);

void natural_step(benchmark::State& state) {
  const demix::Index d = state.range(0);
  demix::NaturalNetwork<double> network(d);
  demix::Random random(1);
  const demix::Matrix<double> X = random.normal(d, d) * random.normal(d, 1024);
  demix::Vector<double> y(d);
  for (int k = 0; k < 4; ++k) {  // past the warm-up
    for (demix::Index t = 0; t < 1024; ++t) network.step(X.col(t), y);
  }
  demix::Index t = 0;
  for (auto _ : state) {
    network.step(X.col(t), y);
    t = (t + 1) & 1023;
  }
}
BENCHMARK(natural_step)->Name("natural/double")->Arg(4)->Arg(32)->Arg(128);

demix::Matrix<double> mixed_laplace(demix::Index d, demix::Index frames) {
  demix::Random random(1);
  const demix::Matrix<double> A = random.normal(d, d) / std::sqrt(static_cast<double>(d));
  return A * demix::Matrix<double>::NullaryExpr(d, frames, [&] { return random.laplace(); });
}

void orica_step(benchmark::State& state) {
  const demix::Index d = state.range(0);
  demix::rules::Orica rule(d, d, {.eta = 0.995});
  const demix::Matrix<double> X = mixed_laplace(d, 1024);
  demix::Vector<double> x(d), y(d);
  demix::Index t = 0;
  const auto step = [&] {
    x = X.col(t);
    rule.respond(x, y);
    rule.learn(x, y);
    t = (t + 1) & 1023;
  };
  for (int k = 0; k < 8192; ++k) step();
  for (auto _ : state) step();
}
BENCHMARK(orica_step)->Name("orica/double")->Arg(4)->Arg(32)->Arg(128);

// The weights ORICA starts from, the frames as rows, and the unmixing matrix after them. With the usual eta
// the first frames magnify rounding errors until two programs share no digit; with this one they do not.
void print_orica() {
  const demix::Index d = 32;
  const demix::Index frames = 1000;
  demix::rules::Orica rule(d, d, {.eta = 0.005});
  const Eigen::IOFormat exact(Eigen::FullPrecision, Eigen::DontAlignCols);
  std::cout << rule.W.format(exact) << '\n';
  const demix::Matrix<double> X = mixed_laplace(d, frames);
  demix::Vector<double> y(d);
  for (demix::Index t = 0; t < frames; ++t) {
    rule.respond(X.col(t), y);
    rule.learn(X.col(t), y);
  }
  std::cout << X.transpose().format(exact) << '\n' << rule.unmixing().format(exact) << '\n';
}

// Seconds of CPU of this thread: what the machine does in between does not count.
double cpu_seconds() {
  timespec t{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// What a stream promises to cost: microseconds of CPU a frame, averaged over 1e6 frames from the first one
// on, and its slowest step. Of each step the fastest of some repetitions counts, of all steps the slowest.
void print_stream_bars(demix::Index most_frames) {
  struct Bar {
    demix::Index channels;
    double average_us;
    double worst_ms;
  };
  for (const Bar& bar : {Bar{4, 0.2, 1}, Bar{32, 1.5, 1}, Bar{128, 25, 4}}) {
    const demix::Index d = bar.channels;
    demix::Random random(1);
    const demix::Index kept = 20000;  // come again and again
    const demix::Matrix<double> A = random.normal(d, d);
    demix::Matrix<double> X = A * random.normal(d, kept).array().cube().matrix();
    demix::Vector<double> y(d);
    double best = 1e9;
    for (int round = 0; round < 2; ++round) {
      demix::StreamSeparator<double> stream(d);
      const double start = cpu_seconds();
      for (demix::Index t = 0; t < most_frames; ++t) stream.step(X.col(t % kept), y);
      best = std::min(best, 1e6 * (cpu_seconds() - start) / static_cast<double>(most_frames));
    }
    X.topRows(d / 2).leftCols(3000).setZero();  // half of the channels wake up later
    std::vector<double> fastest(static_cast<std::size_t>(kept), 1e9);
    for (int round = 0; round < 7; ++round) {
      demix::StreamSeparator<double> stream(d);
      for (demix::Index t = 0; t < kept; ++t) {
        const double start = cpu_seconds();
        stream.step(X.col(t), y);
        auto& f = fastest[static_cast<std::size_t>(t)];
        f = std::min(f, cpu_seconds() - start);
      }
    }
    const double worst = 1e3 * *std::max_element(fastest.begin(), fastest.end());
    const auto verdict = [](bool met) { return met ? "met" : "NOT MET"; };
    std::printf(
        "stream, double, %3ld channels: %6.2f us a frame over %.0e frames (bar: %g): %s; slowest step %.2f "
        "ms "
        "(bar: %g): %s\n",
        static_cast<long>(d), best, static_cast<double>(most_frames), bar.average_us,
        verdict(best <= bar.average_us), worst, bar.worst_ms, verdict(worst < bar.worst_ms));
    std::fflush(stdout);
  }
}

// A stream from its first frame on: the coordinates found, the matrix refreshed ever more rarely.
void stream_frames(benchmark::State& state) {
  const demix::Index d = state.range(0);
  const demix::Index frames = state.range(1);
  demix::Random random(1);
  const demix::Matrix<double> A = random.normal(d, d);
  const demix::Matrix<double> X = A * random.normal(d, frames).array().cube().matrix();
  demix::Vector<double> y(d);
  for (auto _ : state) {
    state.PauseTiming();
    demix::StreamSeparator<double> stream(d);
    state.ResumeTiming();
    for (demix::Index t = 0; t < frames; ++t) stream.step(X.col(t), y);
  }
  state.counters["frames"] = static_cast<double>(frames);
}
BENCHMARK(stream_frames)->Name("stream/double")->Args({4, 100000})->Args({32, 50000})->Args({128, 20000});

// The slowest step of a stream. What the machine did in between is told from what the stream does by
// repeating it: of each step the fastest repetition counts, of all steps the slowest.
void stream_worst(benchmark::State& state) {
  const demix::Index d = state.range(0);
  const demix::Index frames = 20000;
  demix::Random random(1);
  const demix::Matrix<double> A = random.normal(d, d);
  demix::Matrix<double> X = A * random.normal(d, frames).array().cube().matrix();
  X.topRows(d / 2).leftCols(3000).setZero();  // half of the channels wake up later
  demix::Vector<double> y(d);
  std::vector<double> best(static_cast<std::size_t>(frames), 1e9);
  for (auto _ : state) {
    demix::StreamSeparator<double> stream(d);
    for (demix::Index t = 0; t < frames; ++t) {
      const auto start = std::chrono::steady_clock::now();
      stream.step(X.col(t), y);
      const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
      auto& b = best[static_cast<std::size_t>(t)];
      b = std::min(b, taken.count());
    }
  }
  state.counters["worst_us"] = 1e6 * *std::max_element(best.begin(), best.end());
}
BENCHMARK(stream_worst)
    ->Name("worst")
    ->Arg(4)
    ->Arg(16)
    ->Arg(32)
    ->Arg(128)
    ->Iterations(7)
    ->Unit(benchmark::kMillisecond);

// Independent multiply-adds in registers: the time per lane.
template <typename T>
inline __attribute__((always_inline)) T multiply_adds_body(T* seed, int rounds) {
  typedef T V __attribute__((vector_size(32), aligned(sizeof(T)), may_alias));
  V sum[12];
  V x = *reinterpret_cast<V*>(seed);
  for (int k = 0; k < 12; ++k) sum[k] = x * static_cast<T>(k);
  for (int r = 0; r < rounds; ++r) {
#pragma GCC unroll 12
    for (int k = 0; k < 12; ++k) sum[k] = sum[k] * x + x;
  }
  T total = 0;
  for (int k = 0; k < 12; ++k) total += sum[k][0];
  return total;
}
#if defined(__x86_64__) && !defined(__clang__)
#define CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define CLONES
#endif
CLONES float multiply_adds(float* seed, int rounds) { return multiply_adds_body(seed, rounds); }
CLONES double multiply_adds(double* seed, int rounds) { return multiply_adds_body(seed, rounds); }

template <typename T>
void multiply_add(benchmark::State& state) {
  T seed[8] = {T(.5), T(.25), T(.1), T(.3), T(.7), T(.2), T(.6), T(.9)};
  constexpr int rounds = 4096;
  for (auto _ : state) {
    benchmark::DoNotOptimize(seed);
    benchmark::DoNotOptimize(multiply_adds(seed, rounds));
  }
  state.counters["lanes"] = 12.0 * rounds * 32 / sizeof(T);
}
BENCHMARK(multiply_add<double>)->Name("fma/double");
BENCHMARK(multiply_add<float>)->Name("fma/float");

template <typename T>
void fobi_frame(benchmark::State& state) {
  const demix::Index d = state.range(0);
  const demix::Index frames = 100000;
  demix::Random random(1);
  const demix::Matrix<T> X = (random.normal(d, d) * random.normal(d, frames)).cast<T>();
  for (auto _ : state) benchmark::DoNotOptimize(demix::fobi(X));
  state.SetItemsProcessed(state.iterations() * frames);
}
BENCHMARK(fobi_frame<double>)->Name("fobi/double")->Arg(4)->Arg(32)->Unit(benchmark::kMillisecond);
BENCHMARK(fobi_frame<float>)->Name("fobi/float")->Arg(4)->Arg(32)->Unit(benchmark::kMillisecond);

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && argv[1] == std::string("orica")) {
    print_orica();
    return 0;
  }
  if (argc == 2 && argv[1] == std::string("stream")) {
    print_stream_bars(1000000);
    return 0;
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
