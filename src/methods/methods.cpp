#include "demix/methods.hpp"

#include <array>
#include <numeric>
#include <stdexcept>
#include <string>

#include "batch/frame.hpp"
#include "demix/fobi.hpp"
#include "demix/random.hpp"
#include "demix/sm_ica_network.hpp"
#include "demix/sm_ica_offline.hpp"

namespace demix {
namespace {

void refuse(bool given, std::string_view option, std::string_view method) {
  if (given) {
    throw std::invalid_argument("method " + std::string(method) + " has no option " + std::string(option));
  }
}

void refuse_online_options(const MethodOptions& o, std::string_view method) {
  refuse(o.passes != 1, "--passes", method);
  refuse(o.shuffle, "--shuffle", method);
}

Outcome run_fobi(const Frames<double>& X, const MethodOptions& o) {
  refuse_online_options(o, "fobi");
  refuse(o.eta.has_value(), "--eta", "fobi");
  refuse(o.tau.has_value(), "--tau", "fobi");
  refuse(!o.lambda.empty(), "--lambda", "fobi");
  FobiOptions options;
  options.weight = o.weight.value_or(Weight::square);
  options.whitening.components = o.components;
  return {true, {}, fobi(X, options)};
}

Outcome run_offline(const Frames<double>& X, const MethodOptions& o) {
  refuse_online_options(o, "sm-ica-offline");
  SmIcaOfflineOptions options;
  options.seed = o.seed;
  options.weight = o.weight.value_or(Weight::square);
  options.whitening.components = o.components;
  options.eta = o.eta.value_or(0);
  if (o.tau) {  // tau belongs to the published steps alone: asking for it asks for them
    options.steps = SmIcaOfflineOptions::Steps::published;
    options.tau = *o.tau;
  }
  if (!o.lambda.empty()) options.lambda2 = lambda2_from_table(o.lambda, o.reading);
  if (o.progress) {
    options.watch = [&](Index iteration, const Matrix<double>&, const Matrix<double>&) {
      if (iteration % 64 == 0)
        o.progress(static_cast<double>(iteration) / static_cast<double>(options.max_iterations));
    };
  }
  SmIcaOffline run = sm_ica_offline(X, options);
  if (run.status == OfflineStatus::diverged) {
    return {false,
            "sm-ica-offline diverged at iteration " + std::to_string(run.iterations) +
                "; give a smaller --eta, or leave --tau out to get steps that cannot diverge",
            {}};
  }
  return {true, {}, std::move(run.model)};
}

// Outputs that are not white after learning are not separated either: say so.
void warn_if_not_white(Model& model, const Matrix<double>& Q) {
  const Matrix<double> Cy = Q * Q.transpose();
  const double off = (Cy - Matrix<double>::Identity(Cy.rows(), Cy.cols())).cwiseAbs().maxCoeff();
  if (off <= 0.1) return;
  model.warnings.push_back({Warning::Kind::not_converged,
                            "the network has not settled: its outputs are not white (largest error " +
                                std::to_string(off) +
                                "); try --passes, --shuffle, another --eta, or --method fobi",
                            {}});
}

Outcome run_network(const Frames<double>& X, const MethodOptions& o) {
  refuse(o.weight.has_value(), "--weight", "sm-ica");
  const Whitening white =
      prepare<double>(X, {});  // for the mean and the rank; the network sees the channels as they are
  const Index d = o.components > 0 ? std::min(o.components, white.rank) : white.rank;
  SmIcaNetworkOptions options;
  options.seed = o.seed;
  options.eta = o.eta.value_or(options.eta);
  options.tau = o.tau.value_or(options.tau);
  if (!o.lambda.empty()) options.lambda2 = lambda2_from_table(o.lambda, o.reading);
  SmIcaNetwork<double> network(X.rows(), d, options);

  Random random(o.seed + 1);
  std::vector<Index> order(static_cast<std::size_t>(X.cols()));
  std::iota(order.begin(), order.end(), Index{0});
  const double total = static_cast<double>(X.cols()) * static_cast<double>(o.passes);
  Vector<double> x(X.rows());
  Vector<double> y(d);
  std::int64_t seen = 0;
  for (Index pass = 0; pass < o.passes; ++pass) {
    if (o.shuffle) {
      for (std::size_t i = order.size() - 1; i > 0; --i) {
        std::swap(order[i], order[static_cast<std::size_t>(random.below(static_cast<Index>(i) + 1))]);
      }
    }
    for (const Index t : order) {
      x = X.col(t) - white.mean;
      network.step(x, y);
      ++seen;
      if (network.status() != NetworkStatus::ok) {
        return {
            false,
            "sm-ica diverged at frame " + std::to_string(seen) + ": " + describe(network.status()) +
                "; the published rule does that for too large an --eta; try a smaller one, or --method fobi",
            {}};
      }
      if (o.progress && seen % 65536 == 0) o.progress(static_cast<double>(seen) / total);
    }
  }
  const Matrix<double> Q = network.unmixing() * white.dewhitener;
  Outcome out{true, {}, finish<double>(X, white, Q, Weight::square)};
  out.model.method = "sm-ica";
  out.model.options = {{"eta", std::to_string(options.eta)},
                       {"tau", std::to_string(options.tau)},
                       {"passes", std::to_string(o.passes)},
                       {"shuffle", o.shuffle ? "yes" : "no"},
                       {"seed", std::to_string(o.seed)}};
  warn_if_not_white(out.model, Q);
  return out;
}

constexpr std::string_view paper = "Bahroun, Chklovskii, Sengupta, NeurIPS 2021";

constexpr std::array<Method, 3> table{{
    {"fobi", false, false, false, "any, of distinct kurtosis", "sources of equal kurtosis",
     "Cardoso, ICASSP 1989", run_fobi},
    {"sm-ica-offline", false, false, false, "any, of distinct kurtosis", "sources of equal kurtosis", paper,
     run_offline},
    {"sm-ica", true, true, false, "any, of distinct kurtosis",
     "sources of equal kurtosis; as published: needs --eta, --tau and many --passes that suit the data",
     paper, run_network},
}};

}  // namespace

std::span<const Method> methods() { return table; }

const Method& method_named(std::string_view name) {
  std::string known;
  for (const Method& m : table) {
    if (m.name == name) return m;
    known += (known.empty() ? "" : ", ") + std::string(m.name);
  }
  throw std::invalid_argument("method: expected one of " + known + ", got '" + std::string(name) + "'");
}

}  // namespace demix
