// Watch the paper's network learn, one frame at a time, on its own scenario 1 with its own settings.
#include <demix/metrics.hpp>
#include <demix/sm_ica_network.hpp>
#include <demix/synthetic.hpp>

#include <iostream>

int main() {
  const demix::Mixture mixture = demix::make_scenario(/*scenario=*/1, /*samples=*/30000, /*seed=*/2);

  demix::SmIcaNetworkOptions options;
  options.eta = 5e-3;
  options.tau = 0.75;
  options.lambda2 = demix::lambda2_from_table({1.0, 1.5, 1.8}, demix::LambdaReading::inverse_square);
  demix::SmIcaNetwork<double> network(3, 3, options);

  demix::Vector<double> y(3);
  for (demix::Index t = 0; t < mixture.mixtures.cols(); ++t) {
    const demix::NetworkStatus status = network.step(mixture.mixtures.col(t), y);
    if (status != demix::NetworkStatus::ok) {
      std::cout << "frame " << t << ": " << demix::describe(status) << '\n';
      return 1;
    }
    if ((t + 1) % 6000 == 0) {
      std::cout << "after " << t + 1 << " frames: total activity " << network.total_activity() << ", error "
                << demix::mse_of_gain(network.unmixing() * mixture.mixing) << '\n';
    }
  }
  std::cout << "lateral weights M:\n" << network.lateral() << '\n';
  return demix::mse_of_gain(network.unmixing() * mixture.mixing) < 0.05 ? 0 : 1;
}
