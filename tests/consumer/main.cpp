#include <demix/fobi.hpp>
#include <demix/io.hpp>
#include <demix/metrics.hpp>
#include <demix/report.hpp>
#include <demix/sm_ica_network.hpp>
#include <demix/synthetic.hpp>
#include <demix/version.hpp>

#include <iostream>

int main() {
  const demix::Mixture m = demix::make_scenario(4, 20000, 1);
  const demix::Model model = demix::io::parse_model(demix::io::to_json(demix::fobi(m.mixtures)), "memory");
  const demix::SmIcaNetwork<float> network(3, 3);
  const double error = demix::mse(m.sources, model.apply(m.mixtures));
  std::cout << "demix " << demix::version << ", error " << error << '\n'
            << demix::report::text_plot(m.sources.row(1).head(100).transpose(), 40, 1, -2, 2)[0] << '\n';
  return error < 0.02 && network.outputs() == 3 ? 0 : 1;
}
