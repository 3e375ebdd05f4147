#include <fmt/format.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <memory>
#include <optional>

#include "commands.hpp"
#include "console.hpp"
#include "demix/fobi.hpp"
#include "demix/metrics.hpp"
#include "demix/output_files.hpp"
#include "demix/report.hpp"
#include "demix/sm_ica_offline.hpp"
#include "demix/synthetic.hpp"

namespace demix::cli {
namespace {

struct Options {
  std::uint64_t seed = 1;
  Index samples = 100000;
  std::string folder = "demo";
  bool json = false;
  bool live = false;
  std::optional<std::string> page;
};

constexpr Index text_width = 36;

// The first 30 ms, about five periods of each waveform, in `columns` frames.
Index excerpt_stride(Index samples, Index columns) { return std::max<Index>(1, samples * 3 / 100 / columns); }

Matrix<double> excerpt(const Matrix<double>& M, Index columns) {
  const Index stride = excerpt_stride(M.cols(), columns);
  Matrix<double> part(M.rows(), std::min(columns, M.cols() / stride));
  for (Index t = 0; t < part.cols(); ++t) part.col(t) = M.col(t * stride);
  return part;
}

void print_plots(const Matrix<double>& X, const Matrix<double>& S, const Matrix<double>& Y,
                 const std::vector<std::string>& names) {
  const auto plot = [](const Matrix<double>& M, Index i) {
    const Vector<double> v = excerpt(M, 2 * text_width).row(i).transpose();
    const double limit = v.cwiseAbs().maxCoeff();
    return report::text_plot(v, text_width, 3, -limit, limit);
  };
  fmt::print("  {:<{}}  {:<{}}  {}\n", "mixture (what is given)", text_width, "source (the truth)",
             text_width, "estimate (what demix found)");
  for (Index i = 0; i < S.rows(); ++i) {
    const auto x = plot(X, i);
    const auto s = plot(S, i);
    const auto y = plot(Y, i);
    for (std::size_t line = 0; line < x.size(); ++line)
      fmt::print("  {}  {}  {}\n", x[line], s[line], y[line]);
    fmt::print("  {:<{}}  {:<{}}\n", fmt::format("mixture {}", i + 1), text_width,
               names[static_cast<std::size_t>(i)], text_width);
  }
}

void run(const Options& o) {
  if (o.page && !o.live) throw UsageError("--page goes with --live");
  if (o.live) return run_live_demo(o.page.value_or(""), o.seed);
  const std::vector<Source> which{Source::square, Source::sine, Source::sawtooth, Source::laplace};
  const auto d = static_cast<Index>(which.size());
  std::vector<std::string> names;
  for (const Source s : which) names.emplace_back(source_name(s));

  // Waveforms look like something; a second of them at this many samples is what the paper's figure 2A shows.
  Random random(o.seed);
  const Matrix<double> A = uniform_mixing(d, 0.5, random);
  const Mixture m = mix(make_sources(which, o.samples, Timing::waveform, random), A);

  const auto start = std::chrono::steady_clock::now();
  SmIcaOfflineOptions options;
  options.seed = o.seed;
  const SmIcaOffline run = sm_ica_offline(m.mixtures, options);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const Matrix<double> outputs = run.model.apply(m.mixtures);
  const double fobi_mse = mse(m.sources, fobi(m.mixtures).apply(m.mixtures));

  RunningMse running(d);
  running.add(Frames<double>(m.sources), Frames<double>(outputs));
  const Matching match = running.matching();
  const Vector<double> error = running.mse_per_source();
  Matrix<double> Y(d, o.samples);  // in the order and with the signs of the sources
  for (Index i = 0; i < d; ++i) {
    const auto k = static_cast<std::size_t>(i);
    Y.row(i) = match.sign[k] * outputs.row(match.output[k]);
  }

  if (o.json) {
    nlohmann::ordered_json json = {{"mse", running.mse()},
                                   {"fobi_mse", fobi_mse},
                                   {"iterations", run.iterations},
                                   {"sources", nlohmann::ordered_json::array()}};
    for (Index i = 0; i < d; ++i) {
      const auto k = static_cast<std::size_t>(i);
      json["sources"].push_back({{"name", names[k]},
                                 {"output", match.output[k] + 1},
                                 {"sign", match.sign[k]},
                                 {"kurtosis", run.model.kurtosis(match.output[k])},
                                 {"mse", error(i)}});
    }
    print_json(json);
  } else {
    fmt::print("Four sources, mixed by a random matrix; demix sees only the mixtures.\n\n");
    print_plots(m.mixtures, m.sources, Y, names);
    fmt::print("\n  {:<10}{:>8}{:>18}{:>18}{:>12}\n", "source", "output", "kurtosis (true)",
               "kurtosis (found)", "error");
    for (Index i = 0; i < d; ++i) {
      const auto k = static_cast<std::size_t>(i);
      fmt::print("  {:<10}{:>8}{:>18.2f}{:>18.2f}{:>12.1e}\n", names[k],
                 fmt::format("{}{}", match.sign[k] < 0 ? "-" : "+", match.output[k] + 1),
                 source_kurtosis(which[k]), run.model.kurtosis(match.output[k]), error(i));
    }
    fmt::print(
        "\nThe paper's network, trained offline on {} frames: {} iterations, {:.2f} s, mean squared error "
        "{:.1e}\n"
        "(closed form, FOBI: {:.1e}; 1 would be no separation at all).\n",
        o.samples, run.iterations, seconds, running.mse(), fobi_mse);
  }
  print_warnings(run.model);

  io::make_folder(o.folder);
  const report::SeparationFigure figure{.title = "Four sources out of four mixtures",
                                        .X = m.mixtures,
                                        .S = m.sources,
                                        .Y = Y,
                                        .names = names,
                                        .shown = 300,
                                        .stride = excerpt_stride(o.samples, 300)};
  try {
    for (const auto& file : report::draw(figure, std::filesystem::path(o.folder) / "separation")) {
      tell(o.json, "picture: " + file.string());
    }
  } catch (const std::runtime_error& e) {
    message("demix: {}", e.what());
  }
  if (!o.json) {
    fmt::print(
        "\nNext: demix generate -o data; demix separate data/mixtures.npy -o out; demix separate --help\n");
  }
}

}  // namespace

void add_demo(Program& program) {
  Arguments sub = program.command("demo", "Mix built-in sources, separate them, and show the result");
  auto o = std::make_shared<Options>();
  sub.option("-o,--output", o->folder, "Folder for the figures").value("FOLDER").show_default();
  sub.option("--frames", o->samples, "Number of frames").range(1000, 10000000).show_default();
  sub.renamed("--samples", "--frames");
  sub.option("--seed", o->seed, "Random seed").show_default();
  sub.flag("--json", o->json, "Print the numbers as JSON");
  sub.flag("--live", o->live,
           "Separate four built-in sounds live and show them in a browser, until Ctrl-C. The mixing changes "
           "every 20 s");
  sub.option("--page", o->page, "With --live: address and port of the page (default 127.0.0.1:8765)")
      .value("ADDRESS:PORT");
  sub.run([o] { run(*o); });
}

}  // namespace demix::cli
