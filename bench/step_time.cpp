// Time of one step of the SM-ICA networks, published and natural, and of batch FOBI per frame, for several
// sizes.
#include <benchmark/benchmark.h>

#include "demix/fobi.hpp"
#include "demix/natural_network.hpp"
#include "demix/random.hpp"
#include "demix/sm_ica_network.hpp"

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

BENCHMARK_MAIN();
