#include <cstdio>
#include <iostream>
#include <string>

#include "demix/electrode_files.hpp"
#include "demix/scalp_map.hpp"

/// What the modules compute, as numbers for programs that compare them with others':
///   eeg_tool electrodes FILE       names and positions
///   eeg_tool standard              the same of the 10-05 system
///   eeg_tool spline N < numbers    W of N directions, three numbers each, and as many more to go to
int main(int argc, char** argv) {
  using namespace demix;
  const std::string what = argc > 1 ? argv[1] : "";
  const auto print = [](const std::string& name, const eeg::Position& p) {
    std::printf("%s\t%.17g\t%.17g\t%.17g\n", name.c_str(), p[0], p[1], p[2]);
  };
  if (what == "electrodes" && argc > 2) {
    for (const io::Electrode& e : io::read_electrodes(argv[2])) print(e.name, e.position);
    return 0;
  }
  if (what == "standard") {
    for (const std::string& name : eeg::standard_names()) print(name, *eeg::standard_position(name));
    return 0;
  }
  if (what == "spline" && argc > 2) {
    const Index n = std::stol(argv[2]);
    std::vector<double> numbers;
    for (double x = 0; std::cin >> x;) numbers.push_back(x);
    const auto all = static_cast<Index>(numbers.size()) / 3;
    const Matrix<double> points = Eigen::Map<Matrix<double>>(numbers.data(), 3, all).colwise().normalized();
    const Matrix<double> W = eeg::spline_weights(points.leftCols(n), points.rightCols(all - n));
    for (Index i = 0; i < W.rows(); ++i) {
      for (Index j = 0; j < W.cols(); ++j) std::printf("%.17g%c", W(i, j), j + 1 < W.cols() ? ' ' : '\n');
    }
    return 0;
  }
  return 2;
}
