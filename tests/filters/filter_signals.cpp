#include <cstdlib>
#include <iostream>

#include "demix/filters.hpp"
#include "demix/io.hpp"

// filter_signals IN OUT RATE HIGHPASS LOWPASS NOTCH: a file of signals, filtered forward and backward; 0 =
// not.
int main(int argc, char** argv) {
  if (argc != 7) return 2;
  using namespace demix;
  const Signals in = io::read_signals(argv[1]);
  FilterOptions options;
  options.highpass = std::atof(argv[4]);
  options.lowpass = std::atof(argv[5]);
  if (const double hz = std::atof(argv[6]); hz > 0) options.notches = {hz};
  io::write_signals(argv[2], {zero_phase(design(options, std::atof(argv[3])), in.data), in.rate, {}});
}
