// Separate a recording in one go: FOBI on mixtures of three sources.
#include <demix/fobi.hpp>
#include <demix/metrics.hpp>
#include <demix/synthetic.hpp>

#include <iostream>

int main() {
  // Any channels x samples matrix will do; here square, sine and Laplace sources behind a random mixing.
  const demix::Mixture mixture = demix::make_scenario(/*scenario=*/4, /*samples=*/50000, /*seed=*/1);

  const demix::Model model = demix::fobi(mixture.mixtures);
  const demix::Matrix<double> sources = model.apply(mixture.mixtures);

  for (const demix::Warning& warning : model.warnings) std::cout << "warning: " << warning.text << '\n';
  std::cout << "kurtosis of the components: " << model.kurtosis.transpose() << '\n'
            << "mean squared error: " << demix::mse(mixture.sources, sources) << '\n';
  return demix::mse(mixture.sources, sources) < 0.01 ? 0 : 1;
}
