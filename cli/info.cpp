#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <memory>

#include "commands.hpp"
#include "console.hpp"
#include "demix/io.hpp"
#include "demix/moments.hpp"
#include "demix/whitening.hpp"

namespace demix::cli {
namespace {

// Of the values of a channel that are numbers.
struct Channel {
  std::string name;
  Index bad = 0;
  double least = 0, mean = 0, most = 0, deviation = 0, kurtosis = 0;
};

Channel describe(const Vector<double>& values, std::string name) {
  Channel c{std::move(name)};
  std::vector<double> good;
  for (const double v : values) {
    if (std::isfinite(v)) good.push_back(v);
  }
  c.bad = values.size() - static_cast<Index>(good.size());
  if (good.empty()) return c;
  const Eigen::Map<const Eigen::ArrayXd> x(good.data(), static_cast<Index>(good.size()));
  c.least = x.minCoeff();
  c.most = x.maxCoeff();
  c.mean = x.mean();
  const double largest = (x - c.mean).abs().maxCoeff();
  if (largest == 0) return c;
  const Eigen::ArrayXd squares = ((x - c.mean) / largest).square();  // scaled, so that nothing overflows
  c.deviation = largest * std::sqrt(squares.mean());
  c.kurtosis = squares.square().mean() / (squares.mean() * squares.mean());
  return c;
}

// How many independent signals, if that can be told.
Index rank_of(const Matrix<double>& X) {
  if (!X.allFinite() || X.cols() <= X.rows()) return 0;
  Moments moments(X.rows());
  moments.add(X);
  return whiten(moments, {}).rank;
}

void run(const std::string& file, bool json) {
  const Signals s = io::read_signals(file);
  std::vector<Channel> channels;
  Index bad = 0;
  for (Index i = 0; i < s.data.rows(); ++i) {
    channels.push_back(describe(s.data.row(i).transpose(), s.names.empty()
                                                               ? fmt::format("channel {}", i + 1)
                                                               : s.names[static_cast<std::size_t>(i)]));
    bad += channels.back().bad;
  }
  const Index rank = rank_of(s.data);
  if (json) {
    nlohmann::ordered_json out = {{"file", file}, {"channels", s.data.rows()}, {"frames", s.data.cols()}};
    out["rate"] = s.rate > 0 ? nlohmann::ordered_json(s.rate) : nullptr;
    out["rank"] = rank > 0 ? nlohmann::ordered_json(rank) : nullptr;
    out["bad_values"] = bad;
    for (const Channel& c : channels) {
      out["channel"].push_back({{"name", c.name},
                                {"bad_values", c.bad},
                                {"least", c.least},
                                {"mean", c.mean},
                                {"most", c.most},
                                {"deviation", c.deviation},
                                {"kurtosis", c.kurtosis > 0 ? nlohmann::ordered_json(c.kurtosis) : nullptr}});
    }
    fmt::print("{}\n", out.dump(1));
    return;
  }
  fmt::print("{}: {} channels, {} frames", file, s.data.rows(), s.data.cols());
  if (s.rate > 0)
    fmt::print(", {:g} per second ({:.1f} s)", s.rate, static_cast<double>(s.data.cols()) / s.rate);
  fmt::print("\n");
  if (rank > 0) fmt::print("{} of them independent\n", rank);
  if (bad > 0) fmt::print("{} values are no numbers: demix cannot separate this as it is\n", bad);
  fmt::print("\n{:<16}{:>13}{:>13}{:>13}{:>13}{:>10}{:>7}\n", "channel", "least", "mean", "most", "deviation",
             "kurtosis", "bad");
  for (const Channel& c : channels) {
    fmt::print("{:<16}{:>13.5g}{:>13.5g}{:>13.5g}{:>13.5g}{:>10}{:>7}\n", c.name, c.least, c.mean, c.most,
               c.deviation, c.kurtosis > 0 ? fmt::format("{:.3f}", c.kurtosis) : "constant", c.bad);
  }
}

}  // namespace

void add_info(CLI::App& app) {
  auto* sub = app.add_subcommand("info", "What is in a file: channels, length, rank, kurtoses, bad values");
  struct Options {
    std::string file;
    bool json = false;
  };
  auto o = std::make_shared<Options>();
  sub->add_option("file", o->file, "File of signals, one frame per row: .npy, .csv, .tsv, .txt, .dat")
      ->required();
  sub->add_flag("--json", o->json, "As JSON");
  sub->callback([o] { run(o->file, o->json); });
}

}  // namespace demix::cli
