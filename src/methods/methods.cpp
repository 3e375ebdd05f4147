#include "demix/methods.hpp"

#include <Eigen/Eigenvalues>

#include <array>
#include <charconv>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>

#include "batch/frame.hpp"
#include "demix/fobi.hpp"
#include "demix/natural_network.hpp"
#include "demix/random.hpp"
#include "demix/sm_ica_network.hpp"
#include "demix/sm_ica_offline.hpp"
#include "demix/stream_separator.hpp"
#include "online/stream_moments.hpp"

namespace demix {
namespace {

void refuse(bool given, std::string_view option, std::string_view method) {
  if (given) {
    throw NoSuchOption("method " + std::string(method) + " has no option " + std::string(option));
  }
}

std::string text(double value) {  // the shortest that reads back the same
  std::array<char, 32> buffer{};
  return {buffer.data(), std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr};
}

// What the user chose, for the model.
void record(Model& model, const MethodOptions& o) {
  if (o.components > 0) model.options["components"] = std::to_string(o.components);
  if (o.eta) model.options["eta"] = text(*o.eta);
  if (o.tau) model.options["tau"] = text(*o.tau);
  if (o.weight) model.options["weight"] = weight_name(*o.weight);
  std::string lambda;
  for (const double v : o.lambda) lambda.append(lambda.empty() ? "" : ",").append(text(v));
  if (!lambda.empty()) model.options["lambda"] = lambda;
}

void refuse_online_options(const MethodOptions& o, std::string_view method) {
  refuse(o.passes != 1, "--passes", method);
  refuse(o.shuffle, "--shuffle", method);
  refuse(o.live, "--live", method);
}

void refuse_step_options(const MethodOptions& o, std::string_view method) {
  refuse(o.eta.has_value(), "--eta", method);
  refuse(o.tau.has_value(), "--tau", method);
}

Outcome run_fobi(const Frames<double>& X, const MethodOptions& o) {
  refuse_online_options(o, "fobi");
  refuse_step_options(o, "fobi");
  refuse(o.published, "--steps", "fobi");
  refuse(!o.lambda.empty(), "--lambda", "fobi");
  FobiOptions options;
  options.weight = o.weight.value_or(Weight::square);
  options.whitening.components = o.components;
  options.progress = o.progress;
  Outcome out{true, {}, fobi(X, options), {}};
  record(out.model, o);
  return out;
}

Outcome run_offline(const Frames<double>& X, const MethodOptions& o) {
  refuse_online_options(o, "sm-ica-offline");
  SmIcaOfflineOptions options;
  options.seed = o.seed;
  options.weight = o.weight.value_or(Weight::square);
  options.whitening.components = o.components;
  options.eta = o.eta.value_or(0);
  if (o.published) {
    options.steps = SmIcaOfflineOptions::Steps::published;
    options.tau = o.tau.value_or(options.tau);
  } else {
    refuse(o.eta.has_value(), "--eta without --steps published", "sm-ica-offline");
    refuse(o.tau.has_value(), "--tau without --steps published", "sm-ica-offline");
  }
  if (!o.lambda.empty()) options.lambda2 = lambda2_from_table(o.lambda, o.reading);
  if (o.progress) {
    options.watch = [&](Index iteration, const Matrix<double>&, const Matrix<double>&) {
      if (iteration % 64 != 0) return;
      o.progress(static_cast<double>(iteration) / static_cast<double>(options.max_iterations));
    };
  }
  SmIcaOffline run = sm_ica_offline(X, options);
  if (run.status == OfflineStatus::diverged) {
    return {false,
            "sm-ica-offline diverged at iteration " + std::to_string(run.iterations) +
                "; give a smaller --eta, or leave --steps published out: the others cannot diverge",
            {},
            {}};
  }
  record(run.model, o);
  return {true, {}, std::move(run.model), {}};
}

// Feeds the frames of X to learn(frame) in the order and as often as asked, until it says false. Returns the
// count.
std::int64_t feed(const Frames<double>& X, const MethodOptions& o, const std::function<bool(Index)>& learn) {
  Random random(o.seed + 1);
  std::vector<Index> order(static_cast<std::size_t>(X.cols()));
  std::iota(order.begin(), order.end(), Index{0});
  const double total = static_cast<double>(X.cols()) * static_cast<double>(o.passes);
  std::int64_t seen = 0;
  for (Index pass = 0; pass < o.passes; ++pass) {
    if (o.shuffle) {
      for (std::size_t i = order.size() - 1; i > 0; --i) {
        std::swap(order[i], order[static_cast<std::size_t>(random.below(static_cast<Index>(i) + 1))]);
      }
    }
    for (const Index t : order) {
      ++seen;
      if (!learn(t)) return seen;
      if (o.progress && seen % 65536 == 0) o.progress(static_cast<double>(seen) / total);
    }
  }
  return seen;
}

Matrix<double> room_for_outputs(Index outputs, const Frames<double>& X, const MethodOptions& o) {
  return o.live ? Matrix<double>::Zero(outputs, X.cols()) : Matrix<double>();
}

// All of it to a separator that takes a frame and gives one; returns what came out, if that is asked for.
template <typename Separator>
Matrix<double> feed_to(Separator& separator, const Frames<double>& X, const MethodOptions& o) {
  Matrix<double> live = room_for_outputs(separator.outputs(), X, o);
  Vector<double> y(separator.outputs());
  feed(X, o, [&](Index t) {
    separator.step(X.col(t), y);
    if (o.live) live.col(t) = y;
    return true;
  });
  return live;
}

// The optimum of the same data is known in closed form, so a network that is elsewhere can be told from one
// that is done.
void warn_if_elsewhere(Model& model, const Frames<double>& X, const Whitening& white,
                       const Matrix<double>& Q) {
  WeightedMoments weighted(white.mean, white.whitener);
  weighted.add(X);
  const Matrix<double> U =
      Eigen::SelfAdjointEigenSolver<Matrix<double>>(weighted.covariance()).eigenvectors();
  const Matrix<double> share = (Q * U).rowwise().normalized().array().square();  // of optimum j in output i
  const double missed = 1 - share.rowwise().maxCoeff().minCoeff();
  if (missed <= 0.05) return;
  model.warnings.push_back(
      {Warning::Kind::not_converged,
       "the network has not settled where the closed form does (an output differs by " +
           std::to_string(static_cast<int>(std::lround(100 * missed))) +
           " % of its power); frames in time order? try --shuffle, --passes, or --method fobi",
       {}});
}

// The model of what an online method has come to, and how it came out.
Outcome describe(std::string_view method, const Frames<double>& X, const Whitening& white,
                 const Matrix<double>& unmixing, Matrix<double> live, const MethodOptions& o) {
  const Matrix<double> Q = unmixing * white.dewhitener;
  Outcome out{true, {}, finish<double>(X, white, Q, Weight::square), std::move(live)};
  out.model.method = method;
  out.model.options = {{"passes", std::to_string(o.passes)},
                       {"shuffle", o.shuffle ? "yes" : "no"},
                       {"seed", std::to_string(o.seed)}};
  if (method == "sm-ica") out.model.options["steps"] = o.published ? "published" : "natural";
  record(out.model, o);
  if (Q.rows() == Q.cols()) warn_if_elsewhere(out.model, X, white, Q);
  return out;
}

Outcome run_published(const Frames<double>& X, const MethodOptions& o, const Whitening& white) {
  const Index d = o.components > 0 ? std::min(o.components, white.rank) : white.rank;
  SmIcaNetworkOptions options;
  options.seed = o.seed;
  options.eta = o.eta.value_or(options.eta);
  options.tau = o.tau.value_or(options.tau);
  if (!o.lambda.empty()) options.lambda2 = lambda2_from_table(o.lambda, o.reading);
  SmIcaNetwork<double> network(X.rows(), d, options);
  Vector<double> x(X.rows());
  Vector<double> y(d);
  Matrix<double> live = room_for_outputs(d, X, o);
  const std::int64_t seen = feed(X, o, [&](Index t) {
    x = X.col(t) - white.mean;
    network.step(x, y);
    if (o.live) live.col(t) = y;
    return network.status() == NetworkStatus::ok;
  });
  if (network.status() != NetworkStatus::ok) {
    return {false,
            "sm-ica diverged at frame " + std::to_string(seen) + ": " + describe(network.status()) +
                "; the published steps do that for too large an --eta; leave --steps published out for steps "
                "that cannot",
            {},
            {}};
  }
  Outcome out = describe("sm-ica", X, white, network.unmixing(), std::move(live), o);
  out.model.options["eta"] = text(options.eta);
  out.model.options["tau"] = text(options.tau);
  return out;
}

Outcome run_natural(const Frames<double>& X, const MethodOptions& o, const Whitening& white) {
  refuse(o.eta.has_value(), "--eta without --steps published", "sm-ica");
  refuse(o.tau.has_value(), "--tau without --steps published", "sm-ica");
  NaturalNetworkOptions options;
  options.seed = o.seed;
  options.components = o.components > 0 ? std::min(o.components, white.rank) : white.rank;
  if (!o.lambda.empty()) options.lambda2 = lambda2_from_table(o.lambda, o.reading);
  NaturalNetwork<double> network(X.rows(), options);
  Matrix<double> live = feed_to(network, X, o);
  network.refresh();
  if (network.rank() == 0) {
    return {false,
            "sm-ica saw " + std::to_string(network.frames()) + " frames and needs " +
                std::to_string(network.warm_up()) + " to begin; use --passes or --method fobi",
            {},
            {}};
  }
  return describe("sm-ica", X, white, network.unmixing(), std::move(live), o);
}

Outcome run_network(const Frames<double>& X, const MethodOptions& o) {
  refuse(o.weight.has_value(), "--weight", "sm-ica");
  const Whitening white =
      prepare<double>(X, {});  // to describe the result; the networks see the channels as they are
  return o.published ? run_published(X, o, white) : run_natural(X, o, white);
}

void refuse_network_options(const MethodOptions& o, std::string_view method) {
  refuse_step_options(o, method);
  refuse(o.published, "--steps", method);
  refuse(!o.lambda.empty(), "--lambda", method);
  refuse(o.weight.has_value(), "--weight", method);
}

Outcome run_stream(const Frames<double>& X, const MethodOptions& o) {
  refuse_network_options(o, "stream");
  const Whitening white = prepare<double>(X, {});
  StreamOptions options;
  options.seed = o.seed;
  options.components = o.components > 0 ? std::min(o.components, X.rows()) : 0;
  StreamSeparator<double> stream(X.rows(), options);
  Matrix<double> live = feed_to(stream, X, o);
  return describe("stream", X, white, stream.model().unmixing, std::move(live), o);
}

// The yardstick of the stream: the same running moments, and nothing else. No order kept, no work spread.
Outcome run_recursive_fobi(const Frames<double>& X, const MethodOptions& o) {
  refuse_network_options(o, "recursive-fobi");
  const Whitening white = prepare<double>(X, {});
  StreamMoments moments(X.rows(), o.components, std::numeric_limits<double>::epsilon(), 0);
  Matrix<double> block(X.rows(), moments.block());
  Matrix<double> live =
      room_for_outputs(o.components > 0 ? std::min(o.components, X.rows()) : X.rows(), X, o);
  Index pending = 0;
  double next_solve = 0;
  const auto learn = [&](bool last) {
    if (pending > 0) moments.begin_add(block.leftCols(pending));
    moments.finish();
    pending = 0;
    if (!last && moments.count() < next_solve) return;
    next_solve = 1.05 * moments.count();
    moments.begin_solve();
    moments.finish();
  };
  feed(X, o, [&](Index t) {
    if (o.live && moments.rank() > 0) {
      live.col(t).head(moments.rank()) = moments.unmixing() * (X.col(t) - moments.mean());
    }
    block.col(pending++) = X.col(t);
    if (pending == block.cols()) learn(false);
    return true;
  });
  learn(true);
  return describe("recursive-fobi", X, white, moments.unmixing(), std::move(live), o);
}

constexpr std::string_view paper = "Bahroun, Chklovskii, Sengupta, NeurIPS 2021";

constexpr std::array<Method, 5> table{{
    {"fobi", false, false, false, "any, of distinct kurtosis", "sources of equal kurtosis",
     "Cardoso, ICASSP 1989", run_fobi},
    {"sm-ica-offline", false, false, false, "any, of distinct kurtosis", "sources of equal kurtosis", paper,
     run_offline},
    {"sm-ica", true, true, false, "any, of distinct kurtosis",
     "sources of equal kurtosis; recordings in time order (--shuffle); with --steps published: most data",
     paper, run_network},
    {"stream", true, false, false, "any, of distinct kurtosis",
     "sources of equal kurtosis; above 32 channels, time order costs accuracy",
     "demix: running fourth moments", run_stream},
    {"recursive-fobi", true, false, false, "any, of distinct kurtosis",
     "the same; its outputs change places while it learns", "Cardoso 1989, on running moments",
     run_recursive_fobi},
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
