// Put a separator on a stream: frames in time order, one in, one out, a restart in between.
#include <demix/metrics.hpp>
#include <demix/stream_separator.hpp>
#include <demix/synthetic.hpp>

#include <iostream>

int main() {
  const demix::Mixture mixture = demix::make_scenario(/*scenario=*/4, /*samples=*/60000, /*seed=*/1);
  const demix::Index half = 30000;

  demix::StreamSeparator<double> stream(/*channels=*/3);
  demix::Vector<double> y(3);
  for (demix::Index t = 0; t < half; ++t) stream.step(mixture.mixtures.col(t), y);

  // Saved, loaded, and on it goes, bit for bit.
  stream = demix::StreamSeparator<double>::restore(stream.state());
  demix::Matrix<double> late(3, half);
  stream.process(mixture.mixtures.rightCols(half), late);

  const demix::StreamStatus status = stream.status();
  const double error = demix::mse(mixture.sources.rightCols(half), late);
  std::cout << status.frames << " frames, " << (status.settled ? "settled" : "not settled") << ", kurtosis "
            << status.kurtosis.transpose()
            << "\nmean squared error of the second half as it came out: " << error << '\n';
  return error < 0.01 ? 0 : 1;
}
