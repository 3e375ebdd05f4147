// Artefact removal: take one component out of the recording and keep the channels.
#include <demix/fobi.hpp>
#include <demix/synthetic.hpp>

#include <iostream>

int main() {
  const demix::Mixture mixture = demix::make_scenario(/*scenario=*/4, /*samples=*/50000, /*seed=*/3);
  const demix::Model model = demix::fobi(mixture.mixtures);

  // Components come by descending kurtosis, so component 0 is the spiky Laplace source.
  const demix::Matrix<double> cleaned = model.remove(mixture.mixtures, {0});

  // What the channels would be without it:
  demix::Matrix<double> silent = mixture.sources;
  silent.row(2).setZero();
  const demix::Matrix<double> wanted = mixture.mixing * silent;
  const double left = (cleaned - wanted).norm() / (mixture.mixtures - wanted).norm();
  std::cout << "share of the artefact left in the channels: " << left << '\n';
  return left < 0.1 ? 0 : 1;
}
