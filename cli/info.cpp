#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>

#include "commands.hpp"
#include "console.hpp"
#include "core/ranks.hpp"
#include "demix/moments.hpp"
#include "demix/whitening.hpp"
#include "inputs.hpp"
#include "terminal.hpp"

namespace demix::cli {
namespace {

// Of the values of a channel that are numbers.
struct Channel {
  std::string name;
  Index bad = 0, good = 0;
  double least = 0, mean = 0, most = 0, deviation = 0, kurtosis = 0;
};

struct Contents {
  Index frames = 0, bad = 0, rank = 0;  // rank 0: cannot be told
  std::vector<Channel> channels;
};

// 0 where the squares of the values are too large for numbers, or too small.
Index rank_of(const Moments& moments, double resolution) {
  const Matrix<double> covariance = moments.covariance();
  if (!covariance.allFinite()) return 0;
  try {
    return whiten(moments.mean(), covariance, resolution).rank;
  } catch (const std::invalid_argument&) {
    return 0;
  }
}

// Twice through the file: first extremes and means, then what is measured from the mean, scaled so that
// nothing overflows.
Contents look_at(const io::FileRecording& recording) {
  const io::SignalInfo& info = recording.info();
  Contents all;
  for (Index i = 0; i < info.channels; ++i) {
    const auto k = static_cast<std::size_t>(i);
    all.channels.push_back({info.names.empty() ? fmt::format("channel {}", i + 1) : info.names[k]});
  }
  recording.pass([&](const Frames<double>& block) {
    all.frames += block.cols();
    for (Index i = 0; i < block.rows(); ++i) {
      Channel& c = all.channels[static_cast<std::size_t>(i)];
      for (const double v : block.row(i)) {
        if (!std::isfinite(v)) {
          ++c.bad;
          continue;
        }
        ++c.good;
        c.least = c.good == 1 ? v : std::min(c.least, v);
        c.most = c.good == 1 ? v : std::max(c.most, v);
        const auto n = static_cast<double>(c.good);
        c.mean += std::isfinite(v - c.mean) ? (v - c.mean) / n : v / n - c.mean / n;
      }
    }
  });
  for (const Channel& c : all.channels) all.bad += c.bad;

  const bool whole = all.bad == 0 && all.frames > info.channels;
  Moments moments(info.channels);
  Matrix<double> powers = Matrix<double>::Zero(info.channels, 2);  // sums of (v/largest)^2 and ^4
  const auto largest = [](const Channel& c) {
    return std::min(std::max(c.most - c.mean, c.mean - c.least), std::numeric_limits<double>::max());
  };
  recording.pass([&](const Frames<double>& block) {
    if (whole) moments.add(block);
    for (Index i = 0; i < block.rows(); ++i) {
      const Channel& c = all.channels[static_cast<std::size_t>(i)];
      if (largest(c) == 0) continue;
      for (const double v : block.row(i)) {
        if (!std::isfinite(v)) continue;
        const double from_mean = v - c.mean;
        const double square = std::pow(
            std::isfinite(from_mean) ? from_mean / largest(c) : v / largest(c) - c.mean / largest(c), 2);
        powers(i, 0) += square;
        powers(i, 1) += square * square;
      }
    }
  });
  for (Index i = 0; i < info.channels; ++i) {
    Channel& c = all.channels[static_cast<std::size_t>(i)];
    if (powers(i, 0) == 0) continue;
    const auto n = static_cast<double>(c.good);
    c.deviation = largest(c) * std::sqrt(powers(i, 0) / n);
    c.kurtosis = n * powers(i, 1) / (powers(i, 0) * powers(i, 0));
  }
  const auto varies = [](const Channel& c) { return c.kurtosis > 0; };
  if (whole && std::ranges::any_of(all.channels, varies)) {
    all.rank = rank_of(moments, recording.resolution());
  }
  return all;
}

void run(Inputs& inputs, bool json) {
  if (!is_first_rank()) return;  // its work is that of one process
  save_standard_input(inputs);
  const io::FileRecording recording = open(inputs);
  const io::SignalInfo& info = recording.info();
  const Contents all = look_at(recording);
  const std::string file = recording.name();
  const auto unit = [&](std::size_t k) { return info.units.empty() ? std::string() : info.units[k]; };
  const auto type = [&](std::size_t k) {
    return info.types.empty() ? "" : std::string(io::type_name(info.types[k]));
  };
  if (json) {
    nlohmann::ordered_json out = {{"file", file},
                                  {"kind", io::format_of(inputs.files[0]).name},
                                  {"channels", info.channels},
                                  {"frames", all.frames}};
    out["rate"] = info.rate > 0 ? nlohmann::ordered_json(info.rate) : nullptr;
    if (info.width > 0) out["width"] = info.width;
    if (info.width > 0) out["height"] = info.height;
    out["rank"] = all.rank > 0 ? nlohmann::ordered_json(all.rank) : nullptr;
    out["bad_values"] = all.bad;
    for (const io::Annotation& a : info.annotations) {
      out["annotations"].push_back({{"onset", a.onset}, {"duration", a.duration}, {"text", a.text}});
    }
    for (std::size_t k = 0; k < all.channels.size(); ++k) {
      const Channel& c = all.channels[k];
      out["channel"].push_back({{"name", c.name},
                                {"unit", unit(k)},
                                {"type", type(k)},
                                {"bad_values", c.bad},
                                {"least", c.least},
                                {"mean", c.mean},
                                {"most", c.most},
                                {"deviation", c.deviation},
                                {"kurtosis", c.kurtosis > 0 ? nlohmann::ordered_json(c.kurtosis) : nullptr}});
    }
    print_json(out);
    return;
  }
  fmt::print("{}: {}, {} channel{}, ", terminal_text(file), io::format_of(inputs.files[0]).name,
             info.channels, info.channels == 1 ? "" : "s");
  if (info.width > 0) {
    fmt::print("{} x {} pixels", info.width, info.height);
  } else {
    fmt::print("{} frames", all.frames);
  }
  if (info.rate > 0)
    fmt::print(", {:g} per second ({:.1f} s)", info.rate, static_cast<double>(all.frames) / info.rate);
  if (!info.annotations.empty()) fmt::print(", {} annotations", info.annotations.size());
  fmt::print("\n");
  if (all.rank > 0 && info.channels > 1) fmt::print("{} of them independent\n", all.rank);
  const bool varies = std::ranges::any_of(all.channels, [](const Channel& c) { return c.kurtosis > 0; });
  if (all.rank == 0 && all.bad == 0 && varies && info.channels > 1)
    fmt::print("how many of them are independent cannot be told\n");
  if (all.bad > 0) fmt::print("{} values are no numbers: demix cannot separate this as it is\n", all.bad);
  fmt::print("\n{:<16}{:>13}{:>13}{:>13}{:>13}{:>10}{:>7}\n", "channel", "least", "mean", "most", "deviation",
             "kurtosis", "bad");
  for (std::size_t k = 0; k < all.channels.size(); ++k) {
    const Channel& c = all.channels[k];
    fmt::print("{:<16}{:>13.5g}{:>13.5g}{:>13.5g}{:>13.5g}{:>10}{:>7}", terminal_text(c.name), c.least,
               c.mean, c.most, c.deviation, c.kurtosis > 0 ? fmt::format("{:.3f}", c.kurtosis) : "constant",
               c.bad);
    if (!unit(k).empty()) fmt::print("   {}", terminal_text(unit(k)));
    if (!type(k).empty() && type(k) != "unknown") fmt::print("   {}", type(k));
    fmt::print("\n");
  }
}

}  // namespace

void add_info(Program& program) {
  Arguments sub = program.command(
      "info", "Show what is in files: channels, length, rate, rank, kurtosis, missing values");
  struct Options {
    Inputs inputs;
    bool json = false;
  };
  auto o = std::make_shared<Options>();
  add_inputs(sub, o->inputs, "Signals", "file");
  sub.flag("--json", o->json, "Print JSON");
  sub.run([o] { run(o->inputs, o->json); });
}

}  // namespace demix::cli
