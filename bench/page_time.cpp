// Steps of a stream with and without a page beside it: page_time CHANNELS FRAMES [page]. With `page` it
// prints the address and waits for a line on standard input before it begins, so that a browser can be there.
// Prints JSON.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>

#include "demix/live_page.hpp"
#include "demix/stream_separator.hpp"
#include "demix/synthetic.hpp"

int main(int argc, char** argv) {
  using namespace demix;
  using Clock = std::chrono::steady_clock;
  if (argc < 3) return 2;
  const Index n = std::atoll(argv[1]);
  const Index frames = std::atoll(argv[2]);
  Random random(1);
  const Matrix<double> sources = make_sources(
      std::vector<Source>(static_cast<std::size_t>(n), Source::laplace), Index{1} << 15, Timing::iid, random);
  const Matrix<double> X = conditioned_mixing(n, 10, random) * sources;
  StreamSeparator<double> stream(n);
  std::unique_ptr<live::LivePage> page;
  if (argc > 3) {
    live::PageOptions options;
    options.port = 0;
    options.title = "a benchmark";
    options.rate = 1000;
    options.channels = options.outputs = n;
    page = std::make_unique<live::LivePage>(options);
    std::cout << page->address() << std::endl;
    std::string line;
    std::getline(std::cin, line);
  }
  Vector<double> y(n);
  live::Wishes wishes;
  wishes.muted.reserve(static_cast<std::size_t>(n));
  std::vector<float> took(static_cast<std::size_t>(frames));  // microseconds
  const auto start = Clock::now();
  auto before = start;
  for (Index t = 0; t < frames; ++t) {  // as `demix stream` does when frames come one by one
    const auto x = X.col(t % X.cols());
    if (page) page->take(wishes);
    stream.step(x, y);
    if (page) {
      page->show(t, x, y);
      if (page->wants_snapshot()) page->show_state(stream);
    }
    const auto now = Clock::now();
    took[static_cast<std::size_t>(t)] = std::chrono::duration<float, std::micro>(now - before).count();
    before = now;
  }
  const double seconds = std::chrono::duration<double>(before - start).count();
  page.reset();
  const auto quantile = [&](double q) {
    auto at = took.begin() + static_cast<std::ptrdiff_t>(q * static_cast<double>(frames - 1));
    std::nth_element(took.begin(), at, took.end());
    return *at;
  };
  fmt::print("{{\"frames_per_second\": {}, \"median\": {}, \"p99\": {}, \"p999\": {}}}\n",
             static_cast<double>(frames) / seconds, quantile(0.5), quantile(0.99), quantile(0.999));
}
