#include <Eigen/Dense>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <memory>

#include "commands.hpp"
#include "console.hpp"
#include "demix/eeg_files.hpp"
#include "demix/io.hpp"
#include "demix/metrics.hpp"
#include "inputs.hpp"

namespace demix::cli {
namespace {

struct Options {
  std::vector<std::string> truth;
  Inputs estimates;
  std::string mixing;
  std::string model;
  std::string recording;
  bool raw = false;
  bool json = false;
};

void require_finite_file(const Matrix<double>& data, const std::string& file) {
  if (!data.allFinite()) throw Failure(fmt::format("{}: holds NaN or Inf; nothing to score", file));
}

Matrix<double> gain(const Options& o) {
  const Matrix<double> A = io::read_matrix(o.mixing);
  require_finite_file(A, o.mixing);
  if (!(A.rowwise().norm().array() > 0).any() || !(A.colwise().norm().array() > 0).all()) {
    throw Failure(fmt::format("{}: a source is mixed into no channel; nothing to score", o.mixing));
  }
  const Model model = io::load_model(o.model);
  if (A.rows() != model.channels()) {
    throw Failure(fmt::format("{}: {} channels, but the model {} has {}", o.mixing, A.rows(), o.model,
                              model.channels()));
  }
  return model.unmixing * A;
}

// Of a model with fewer components than channels (an average reference, components removed): the model and
// the recording in the principal components of what it spans.
void keep_span(Matrix<double>& unmixing, Matrix<double>& X) {
  const Index k = unmixing.rows();
  const Eigen::HouseholderQR<Matrix<double>> qr(unmixing.transpose());
  const Matrix<double> span = qr.householderQ() * Matrix<double>::Identity(X.rows(), k);
  const Matrix<double> Z = span.transpose() * (X.colwise() - X.rowwise().mean());
  const Eigen::SelfAdjointEigenSolver<Matrix<double>> principal(Z * Z.transpose());
  unmixing = (unmixing * span * principal.eigenvectors()).eval();
  X = principal.eigenvectors().transpose() * Z;
}

// Without the truth: how much less the outputs depend on each other than the channels do.
void score_model(const Options& o) {
  if (o.model.empty()) throw UsageError("--recording needs --model");
  if (!o.estimates.files.empty()) throw UsageError("--recording is scored without estimates");
  Model model = io::load_model(o.model);
  const io::FileRecording recording =
      open(o.estimates, {o.recording}, io::FileUse{}.also_reads_model(o.model));
  Matrix<double> X = gather(recording);
  require_finite_file(X, o.recording);
  if (const auto channels = channels_of(model, recording.info()))
    X = Matrix<double>(X(*channels, Eigen::all));
  if (X.rows() != model.channels()) {
    throw Failure(fmt::format("{}: has {} channels, the model {} needs {}", o.recording, X.rows(), o.model,
                              model.channels()));
  }
  const bool is_part = model.components() < model.channels();
  double nats = 0;
  try {
    if (is_part) keep_span(model.unmixing, X);
    nats = mutual_information_reduction(model.unmixing, X);
  } catch (const std::invalid_argument& e) {
    throw Failure(fmt::format("{}: {}", o.model, e.what()));
  }
  const double bits = nats / std::log(2.);
  const double rate = recording.info().rate;
  if (o.json) {
    nlohmann::ordered_json json = {{"mutual_information_reduction", nats}};
    if (rate > 0) json["kbit_per_s"] = bits * rate / 1000;
    print_json(json);
    return;
  }
  fmt::print("mutual information reduction {:.4f} nats a frame{}{}\n", nats,
             rate > 0 ? fmt::format(", {:.2f} kbit/s", bits * rate / 1000) : "",
             is_part
                 ? fmt::format(", of the {} principal components of what the model spans", model.components())
                 : "");
}

void run(Options& o) {
  if (!o.recording.empty()) return score_model(o);
  save_standard_input(o.estimates);
  if (o.estimates.files.empty()) throw UsageError("estimate is required, or --recording");
  if (o.truth.empty()) throw UsageError("--truth is required, or --recording");
  const auto use = io::FileUse{{o.mixing}, {}}.also_reads_model(o.model);
  const std::string truth = o.truth[0];
  Matrix<double> S = gather(open(o.estimates, o.truth, use));
  const io::FileRecording estimates = open(o.estimates);
  const std::string estimate = estimates.name();
  Matrix<double> Y = gather(estimates);
  require_finite_file(S, truth);
  require_finite_file(Y, estimate);
  if (S.rows() != Y.rows() || S.cols() != Y.cols()) {
    throw Failure(fmt::format("{} holds {} samples x {} channels, {} holds {} x {}; they must be alike",
                              truth, S.cols(), S.rows(), estimate, Y.cols(), Y.rows()));
  }
  if (!o.raw) {
    S = standardized(S);
    Y = standardized(Y);
  }
  RunningMse running(S.rows());
  running.add(Frames<double>(S), Frames<double>(Y));
  const Vector<double> error = running.mse_per_source();
  const Matching matching = running.matching();
  const BssEval eval = bss_eval(S, Y, &matching);
  nlohmann::ordered_json json = {{"mse", error.mean()}, {"sources", nlohmann::ordered_json::array()}};
  for (Index i = 0; i < S.rows(); ++i) {
    const auto k = static_cast<std::size_t>(i);
    json["sources"].push_back({{"source", i + 1},
                               {"output", matching.output[k] + 1},
                               {"sign", matching.sign[k]},
                               {"mse", error(i)},
                               {"sdr", eval.sdr(i)},
                               {"sir", eval.sir(i)},
                               {"sar", eval.sar(i)}});
  }
  if (!o.mixing.empty()) {
    const Matrix<double> P = gain(o);
    if (P.rows() != P.cols()) throw Failure(fmt::format("{}: not as many sources as components", o.mixing));
    json["amari"] = amari_index(P);
    json["md"] = md_index(P);
  }
  if (o.json) {
    print_json(json);
    return;
  }
  fmt::print("{:<8}{:>8}{:>12}{:>10}{:>10}{:>10}\n", "source", "output", "MSE", "SDR dB", "SIR dB", "SAR dB");
  for (Index i = 0; i < S.rows(); ++i) {
    const auto k = static_cast<std::size_t>(i);
    fmt::print("{:<8}{:>8}{:>12.3e}{:>10.1f}{:>10.1f}{:>10.1f}\n", i + 1,
               fmt::format("{}{}", matching.sign[k] < 0 ? "-" : "+", matching.output[k] + 1), error(i),
               eval.sdr(i), eval.sir(i), eval.sar(i));
  }
  fmt::print("{:<8}{:>8}{:>12.3e}\n", "mean", "", error.mean());
  if (json.contains("amari")) {
    fmt::print("Amari index {:.4g}, MD index {:.4g}\n", json["amari"].get<double>(),
               json["md"].get<double>());
  }
}

}  // namespace

void add_score(Program& program) {
  Arguments sub =
      program.command("score", "Compare estimated sources with the true ones; order and sign do not matter");
  auto o = std::make_shared<Options>();
  add_inputs(sub, o->estimates, "Estimated sources", "estimate", false);
  sub.option("--truth", o->truth, "File of true sources; repeat for several files")
      .value("FILE")
      .one_at_a_time();
  sub.option(
         "--recording", o->recording,
         "Score --model without true sources, by mutual information reduction: how much less dependent its "
         "outputs are than the channels of this file")
      .value("FILE");
  Option mixing =
      sub.option("--mixing", o->mixing, "True mixing matrix, for the Amari and MD indices").value("FILE");
  Option model =
      sub.option("--model", o->model, "Model of the estimates; for --mixing and --recording").value("FILE");
  mixing.needs(model);
  sub.flag("--raw", o->raw,
           "Compare without rescaling (default: both are standardized to mean 0, variance 1)");
  sub.flag("--json", o->json, "Print JSON");
  sub.footer(
      "MSE, as in the paper: mean squared error under the best signs and permutation. SDR, SIR and SAR: as "
      "in BSS Eval, with one gain per source.");
  sub.run([o] { run(*o); });
}

}  // namespace demix::cli
