#include <fmt/format.h>

#include "demix/report.hpp"
#include "paper/items.hpp"
#include "paper/runs.hpp"

/// Figure 2 and its online counterpart (appendix C): synthetic sources, speech, photographs.
namespace demix::paper {
namespace {

/// run(mixture, seed) for so many mixings; `from` and `to`: its part of the progress.
template <typename Run>
std::vector<Ended> over_mixings(const Task& task, Index mixings, const Setting& setting, double from,
                                double to, const Run& run) {
  return all_of(mixings, setting.threads, part(setting.progress, from, to), [&](Index k) {
    const auto seed = static_cast<std::uint64_t>(k);
    return run(task.mix(seed), seed);
  });
}

Picture draw_traces(const Task& task, const Mixture& m, const Ended& run, const std::string& name,
                    const std::string& title, Index first, Index shown, Index stride,
                    const Setting& setting) {
  report::SeparationFigure figure;
  figure.title = title + (task.stand_in ? " (stand-ins for the recordings)" : "");
  figure.X = m.mixtures;
  figure.S = m.sources;
  figure.Y = matched_outputs(m, run);
  figure.names = task.names;
  figure.first = first;
  figure.shown = shown;
  figure.stride = stride;
  report::draw(figure, setting.folder / name);
  return {
      name,
      title + ". Left: mixtures; right: true sources in blue, recovered in red, their difference in green."};
}

Picture draw_pictures(const Task& task, const Mixture& m, const Ended& run, const std::string& name,
                      const std::string& title, const Setting& setting) {
  report::PicturesFigure figure;
  figure.title = title + (task.stand_in ? " (stand-ins for the photographs)" : "");
  figure.width = task.width;
  figure.height = task.height;
  figure.rows = {{"sources", m.sources, task.names},
                 {"mixtures", m.mixtures, {}},
                 {"recovered", matched_outputs(m, run), {}}};
  report::draw(figure, setting.folder / name);
  return {name, title + ". Sources, mixtures and what was recovered, with histograms."};
}

// The median run of several, drawn as its kind of source is; the zoomed version too if there is one.
void draw_run(Result& out, const Task& task, const std::vector<Ended>& runs, const std::string& name,
              const std::string& title, const Setting& setting) {
  const std::size_t k = median_run(runs);
  if (runs[k].diverged) return;
  const Mixture m = task.mix(k);
  if (task.width > 0) {
    out.pictures.push_back(draw_pictures(task, m, runs[k], name, title, setting));
  } else if (task.name == "speech") {
    constexpr Index shown = 1600;
    out.pictures.push_back(
        draw_traces(task, m, runs[k], name, title, 0, shown, m.sources.cols() / shown, setting));
    out.pictures.push_back(
        draw_traces(task, m, runs[k], name + "-zoom", title + ", 100 ms of it", 9600, shown, 1, setting));
  } else {
    out.pictures.push_back(draw_traces(task, m, runs[k], name, title, 0, 300, 1, setting));
  }
}

std::vector<std::string> row(const std::string& what, const std::vector<Ended>& runs) {
  return {what, fmt::format("{} of {}", count_separated(runs), runs.size()),
          std::to_string(count_diverged(runs)), number(median_mse(runs)), number(largest_mse(runs))};
}

const std::vector<std::string> columns{"algorithm", "separated", "diverged", "median MSE", "worst MSE"};

Result offline(const Task& task, const std::string& name, const Setting& setting) {
  const Index mixings = setting.quick ? 2 : 10;
  const Index iterations = setting.quick ? 300 : task.width > 0 ? 4000 : 20000;
  const auto published =
      over_mixings(task, mixings, setting, 0, 0.8, [&](const Mixture& m, std::uint64_t seed) {
        return published_offline(task, m, task.offline_eta, task.offline_tau, iterations, seed);
      });
  const auto natural =
      over_mixings(task, mixings, setting, 0.8, 0.9,
                   [](const Mixture& m, std::uint64_t seed) { return natural_offline(m, seed); });
  const auto fobi = over_mixings(task, mixings, setting, 0.9, 1,
                                 [](const Mixture& m, std::uint64_t) { return by_fobi(m); });
  double ratio = 0;
  for (std::size_t k = 0; k < fobi.size(); ++k) ratio = std::max(ratio, natural[k].mse / fobi[k].mse);

  Result out;
  out.data = task.data;
  draw_run(out, task, natural, name, fmt::format("Offline SM-ICA, natural steps, {}", task.name), setting);
  draw_run(out, task, published, name + "-published",
           fmt::format("Offline SM-ICA as published, {}", task.name), setting);
  out.tables = {{name,
                 columns,
                 {row(fmt::format("offline, as published ({:g}, {:g}), {} steps", task.offline_eta,
                                  task.offline_tau, iterations),
                      published),
                  row("offline, natural steps", natural), row("FOBI", fobi)}}};
  out.numbers = {{"published.separated", static_cast<double>(count_separated(published))},
                 {"published.diverged", static_cast<double>(count_diverged(published))},
                 {"natural.separated", static_cast<double>(count_separated(natural))},
                 {"natural.median_mse", median_mse(natural)},
                 {"fobi.median_mse", median_mse(fobi)},
                 {"natural_over_fobi", ratio}};
  out.measured = fmt::format(
      "Over {} mixings: as published, {} separate, {} diverge; with natural steps all come to FOBI's error "
      "(largest ratio {:.4f}), median {}.",
      mixings, count_separated(published), count_diverged(published), ratio, number(median_mse(natural)));
  if (count_separated(published) < mixings) {
    out.differs = fmt::format(
        "With the settings of table 1 the published steps separate in {} of {} mixings, not in all.",
        count_separated(published), mixings);
  }
  return out;
}

Result online(const Task& task, const std::string& name, const Setting& setting) {
  const Index mixings = setting.quick ? 2 : 10;
  const Index epochs = setting.quick ? 5 : task.epochs;
  const auto published =
      over_mixings(task, mixings, setting, 0, 0.8, [&](const Mixture& m, std::uint64_t seed) {
        return published_online(m, published_options(task.online_eta, task.online_tau, task.lambda, seed),
                                epochs);
      });
  const auto stream = over_mixings(task, mixings, setting, 0.8, 0.85,
                                   [](const Mixture& m, std::uint64_t) { return by_stream(m, 1); });
  const auto longer = over_mixings(task, mixings, setting, 0.85, 1,
                                   [](const Mixture& m, std::uint64_t) { return by_stream(m, 5); });

  Result out;
  out.data = task.data;
  draw_run(out, task, published, name + "-published",
           fmt::format("Online SM-ICA as published, {}, {} epochs", task.name, epochs), setting);
  draw_run(out, task, stream, name, fmt::format("Stream separator, {}, one pass in time order", task.name),
           setting);
  out.tables = {{name,
                 columns,
                 {row(fmt::format("online, as published ({:g}, {:g}), {} shuffled epochs", task.online_eta,
                                  task.online_tau, epochs),
                      published),
                  row("stream separator, one pass", stream), row("stream separator, five passes", longer)}}};
  out.numbers = {{"published.separated", static_cast<double>(count_separated(published))},
                 {"published.diverged", static_cast<double>(count_diverged(published))},
                 {"published.median_mse", median_mse(published)},
                 {"published.least_mse", least_mse(published)},
                 {"stream.separated", static_cast<double>(count_separated(stream))},
                 {"stream.worst_mse", largest_mse(stream)},
                 {"stream5.worst_mse", largest_mse(longer)}};
  out.measured = fmt::format(
      "Over {} mixings: as published, {} separate after {} epochs, least error {}, median {}; the stream "
      "separator, in one pass and in time order, {} of {}, worst error {}.",
      mixings, count_separated(published), epochs, number(least_mse(published)),
      number(median_mse(published)), count_separated(stream), mixings, number(largest_mse(stream)));
  if (count_separated(published) < mixings) {
    out.differs =
        fmt::format("The published settings separate {} of {} mixings; the paper shows one that does.",
                    count_separated(published), mixings);
  }
  return out;
}

}  // namespace

Result figure_2a(const Setting& setting) { return offline(synthetic_task(), "fig2a", setting); }
Result figure_2b(const Setting& setting) { return offline(speech_task(setting), "fig2b", setting); }
Result figure_2c(const Setting& setting) { return offline(photographs_task(setting), "fig2c", setting); }
Result figure_2a_online(const Setting& setting) { return online(synthetic_task(), "fig2a-online", setting); }
Result figure_2b_online(const Setting& setting) {
  return online(speech_task(setting), "fig2b-online", setting);
}
Result figure_2c_online(const Setting& setting) {
  return online(photographs_task(setting), "fig2c-online", setting);
}

}  // namespace demix::paper
