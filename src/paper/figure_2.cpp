#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

#include "demix/experiment_figures.hpp"
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
  return all_of(mixings, setting.threads, part_of(setting.progress, from, to), [&](Index k) {
    const auto seed = static_cast<std::uint64_t>(k);
    return run(task.mix(seed), seed);
  });
}

Figure draw_traces(const Task& task, const Mixture& m, const Ended& run, const std::string& name,
                   const std::string& title, Index first, Index shown, Index stride, const Setting& setting,
                   const std::string& length) {
  report::SeparationFigure figure;
  figure.title = title + (task.stand_in ? " (stand-ins for the recordings)" : "");
  figure.X = m.mixtures;
  figure.S = m.sources;
  figure.Y = matched_outputs(m, run);
  figure.names = task.names;
  figure.first = first;
  figure.shown = shown;
  figure.stride = stride;
  draw(figure, setting, length, name);
  return {name, title +
                    ". Left: mixtures; right: true sources pale, recovered in red, their difference in "
                    "green, on the same scale" +
                    std::string(stride > 1 ? "; envelopes, least to most" : "") + "."};
}

Figure draw_pictures(const Task& task, const Mixture& m, const Ended& run, const std::string& name,
                     const std::string& title, const Setting& setting, const std::string& length) {
  report::PicturesFigure figure;
  figure.title = title + (task.stand_in ? " (stand-ins for the photographs)" : "");
  figure.width = task.width;
  figure.height = task.height;
  figure.rows = {{"sources", m.sources, task.names},
                 {"mixtures", m.mixtures, {}},
                 {"recovered", matched_outputs(m, run), {}}};
  draw(figure, setting, length, name);
  return {name, title + ". Sources, mixtures and what was recovered, with histograms."};
}

// A run drawn as its kind of source is; the zoomed version too if there is one.
void draw_run(Result& out, const Task& task, const Mixture& m, const Ended& run, const std::string& name,
              const std::string& title, const Setting& setting) {
  if (run.diverged) return;
  if (task.width > 0) {
    out.pictures.push_back(draw_pictures(task, m, run, name, title, setting, out.length));
  } else if (task.name == "speech") {
    constexpr Index shown = 200;  // stretches of the envelope
    constexpr Index frames = 400;
    out.pictures.push_back(
        draw_traces(task, m, run, name, title, 0, shown, m.sources.cols() / shown, setting, out.length));
    out.pictures.push_back(draw_traces(task, m, run, name + "-zoom", title + ", 25 ms of it", 9600, frames, 1,
                                       setting, out.length));
  } else {
    out.pictures.push_back(draw_traces(task, m, run, name, title, 0, 300, 1, setting, out.length));
  }
}

void draw_median(Result& out, const Task& task, const std::vector<Ended>& runs, const std::string& name,
                 const std::string& title, const Setting& setting) {
  const std::size_t k = median_run(runs);
  draw_run(out, task, task.mix(k), runs[k], name, title, setting);
}

std::vector<std::string> row(const std::string& what, const std::vector<Ended>& runs) {
  return {what, fmt::format("{} of {}", count_separated(runs), runs.size()),
          std::to_string(count_diverged(runs)), number(median_mse(runs)), number(largest_mse(runs))};
}

const std::vector<std::string> columns{"algorithm", "separated", "diverged", "median MSE", "worst MSE"};

// Runs of one kind that have noted their errors at the same steps.
struct Courses {
  std::string label;
  std::vector<Ended> runs;
};

// Five to a decade, from one number to another, and one more.
std::vector<Index> evenly_in_log(Index from, Index to, Index more) {
  std::set<Index> at{more, to};
  for (auto step = static_cast<double>(from); step < static_cast<double>(to); step *= std::pow(10, 0.2)) {
    at.insert(std::lround(step));
  }
  return {at.begin(), at.end()};
}

std::vector<double> errors_at(const std::vector<Ended>& runs, const std::vector<Index>& at, Index when) {
  const auto k = static_cast<std::size_t>(std::ranges::find(at, when) - at.begin());
  std::vector<double> errors;
  for (const Ended& run : runs) errors.push_back(run.course[k]);
  return errors;
}

// The network with natural steps, after so many passes.
struct Natural {
  Index passes;
  const std::vector<Ended>& runs;
};

// Share of the runs that have separated, and the median error, over the steps.
Figure draw_steps(const std::vector<Courses>& all, const std::vector<Natural>& natural,
                  const std::vector<Index>& at, const std::string& unit, const std::string& name,
                  const std::string& title, const Setting& setting, const std::string& length) {
  report::CurvesFigure figure;
  figure.title = title;
  report::CurvesFigure::Panel share{"", unit, "share of runs separated", true, false, {}, {{0, ""}, {1, ""}}};
  report::CurvesFigure::Panel error{
      "", unit, "median MSE", true, true, {}, {{separated_mse, "separated", false}}};
  const std::vector<double> steps(at.begin(), at.end());
  for (const Courses& c : all) {
    report::CurvesFigure::Curve separated{c.label, steps, {}, {}, {}, false};
    report::CurvesFigure::Curve median{c.label, steps, {}, {}, {}, false};
    for (std::size_t k = 0; k < at.size(); ++k) {
      std::vector<double> errors;
      for (const Ended& run : c.runs) errors.push_back(run.course[k]);
      const auto below = std::ranges::count_if(errors, [](double e) { return e < separated_mse; });
      separated.y.push_back(static_cast<double>(below) / static_cast<double>(errors.size()));
      median.y.push_back(ranked(errors, 0.5));
    }
    median.y = finite_or_gap(median.y);
    share.curves.push_back(separated);
    error.curves.push_back(median);
  }
  report::CurvesFigure::Curve beside{"natural steps, mixings of ours", {}, {}, {}, {}, true};
  report::CurvesFigure::Curve median = beside;
  for (const Natural& n : natural) {
    beside.x.push_back(static_cast<double>(n.passes));
    beside.y.push_back(static_cast<double>(count_separated(n.runs)) / static_cast<double>(n.runs.size()));
    median.y.push_back(median_mse(n.runs));
  }
  median.x = beside.x;
  median.y = finite_or_gap(median.y);
  if (!natural.empty()) share.curves.push_back(beside);
  if (!natural.empty()) error.curves.push_back(median);
  figure.panels = {share, error};
  draw(figure, setting, length, name);
  return {
      name,
      title +
          fmt::format(". Share of the runs with an error below 0.05, and the median error, over the {}. ",
                      unit) +
          (natural.empty() ? "" : "Dots: the network with natural steps, after one pass and after five. ") +
          "As published, Lambda^-2 holds the kurtoses of the sources, which the notebooks measure on FOBI's "
          "outputs: an oracle."};
}

Result offline(const Task& task, const std::string& name, const Setting& setting) {
  const Index mixings = setting.quick ? 2 : 10;
  const Index steps = task.steps;
  const std::vector<Index> at = evenly_in_log(100, steps, 20000);
  std::vector<Courses> published;
  published.push_back(
      {fmt::format("{} mixings of ours", mixings),
       over_mixings(task, mixings, setting, 0, 0.4, [&](const Mixture& m, std::uint64_t seed) {
         return published_offline(task, m, task.offline_eta, task.offline_tau, steps, seed, at);
       })});
  const bool known = task.authors.size() > 0;
  if (known) {
    const Mixture m = task.authors_mix();
    published.push_back({fmt::format("the authors' mixing, {} starts", mixings),
                         all_of(mixings, setting.threads, part_of(setting.progress, 0.4, 0.8), [&](Index k) {
                           return published_offline(task, m, task.offline_eta, task.offline_tau, steps,
                                                    static_cast<std::uint64_t>(k), at);
                         })});
  }
  const auto natural =
      over_mixings(task, mixings, setting, 0.8, 0.9,
                   [](const Mixture& m, std::uint64_t seed) { return natural_offline(m, seed); });
  const auto fobi = over_mixings(task, mixings, setting, 0.9, 1,
                                 [](const Mixture& m, std::uint64_t) { return by_fobi(m); });
  double ratio = 0;
  for (std::size_t k = 0; k < fobi.size(); ++k) ratio = std::max(ratio, natural[k].mse / fobi[k].mse);

  Result out;
  out.data = task.data;
  out.length = length_of(setting, fmt::format("{} mixings, {} steps, as in full", mixings, steps));
  // The paper's figure: the authors' mixing where it is known.
  const std::string length = fmt::format("{} steps", steps);
  const std::vector<Ended>& shown = published.back().runs;
  const std::size_t k = median_run(shown);
  draw_run(out, task, known ? task.authors_mix() : task.mix(k), shown[k], name,
           fmt::format("Offline SM-ICA as published, {}, {}", task.name, length), setting);
  out.pictures.push_back(draw_steps(published, {}, at, "steps", name + "-steps",
                                    fmt::format("Offline SM-ICA as published, {}, {}", task.name, length),
                                    setting, out.length));
  draw_median(out, task, natural, name + "-natural",
              fmt::format("Offline SM-ICA, natural steps, {}", task.name), setting);

  Table table{name, columns, {}};
  for (const Courses& c : published) {
    table.rows.push_back(row(fmt::format("offline, as published ({:g}, {:g}), {} steps, {}", task.offline_eta,
                                         task.offline_tau, steps, c.label),
                             c.runs));
  }
  table.rows.push_back(row("offline, natural steps", natural));
  table.rows.push_back(row("FOBI", fobi));
  out.tables = {table};
  const std::vector<double> early = errors_at(published[0].runs, at, 20000);
  const auto by_then = std::ranges::count_if(early, [](double e) { return e < separated_mse; });
  out.numbers = {{"published.separated", static_cast<double>(count_separated(published[0].runs))},
                 {"published.separated_by_20000", static_cast<double>(by_then)},
                 {"published.diverged", static_cast<double>(count_diverged(published[0].runs))},
                 {"natural.separated", static_cast<double>(count_separated(natural))},
                 {"natural.median_mse", median_mse(natural)},
                 {"fobi.median_mse", median_mse(fobi)},
                 {"natural_over_fobi", ratio}};
  out.measured = fmt::format("As published, after {}: {} of {} mixings separate, {} diverge", length,
                             count_separated(published[0].runs), mixings, count_diverged(published[0].runs));
  if (known) {
    const std::vector<Ended>& runs = published[1].runs;
    out.numbers.push_back({"authors.separated", static_cast<double>(count_separated(runs))});
    out.numbers.push_back({"authors.median_mse", median_mse(runs)});
    out.numbers.push_back({"authors.worst_mse", largest_mse(runs)});
    out.measured +=
        fmt::format("; on the authors' mixing, from {} of {} starts, median error {}, worst {}",
                    count_separated(runs), mixings, number(median_mse(runs)), number(largest_mse(runs)));
  }
  out.measured +=
      fmt::format(". With natural steps all come to FOBI's error (largest ratio {:.4f}), median {}.", ratio,
                  number(median_mse(natural)));
  if (count_separated(published[0].runs) < mixings) {
    out.differs =
        fmt::format("The paper shows one mixing; of {} others {} separate in the same number of steps.",
                    mixings, count_separated(published[0].runs));
  }
  return out;
}

Result online(const Task& task, const std::string& name, const Setting& setting) {
  const Index mixings = setting.quick ? 2 : 10;
  const Index epochs = setting.quick ? 5 : task.long_epochs;
  const std::string length = fmt::format("{} epochs", epochs);
  const std::vector<Index> at = evenly_in_log(1, epochs, setting.quick ? epochs : task.epochs);
  const auto published = [&](const Mixture& m, std::uint64_t seed) {
    return published_online(m, published_options(task.online_eta, task.online_tau, task.lambda, seed), epochs,
                            at);
  };
  std::vector<Courses> courses{
      {fmt::format("{} mixings of ours", mixings), over_mixings(task, mixings, setting, 0, 0.5, published)}};
  if (task.authors.size() > 0) {
    const Mixture m = task.authors_mix();
    const Index starts = setting.quick ? 1 : 3;
    courses.push_back({fmt::format("the authors' mixing, {} starts", starts),
                       all_of(starts, setting.threads, part_of(setting.progress, 0.5, 0.7),
                              [&](Index k) { return published(m, static_cast<std::uint64_t>(k)); })});
  }
  const auto natural =
      over_mixings(task, mixings, setting, 0.7, 0.75,
                   [](const Mixture& m, std::uint64_t seed) { return natural_online(m, 1, seed); });
  const auto longer =
      over_mixings(task, mixings, setting, 0.75, 0.9,
                   [](const Mixture& m, std::uint64_t seed) { return natural_online(m, 5, seed); });
  const auto stream = over_mixings(task, mixings, setting, 0.9, 1,
                                   [](const Mixture& m, std::uint64_t) { return by_stream(m, 1); });

  Result out;
  out.data = task.data;
  out.length =
      length_of(setting, fmt::format("{} mixings, {} epochs of {}", mixings, epochs, task.long_epochs));
  const std::vector<Ended>& runs = courses[0].runs;
  draw_median(out, task, runs, name + "-published",
              fmt::format("Online SM-ICA as published, {}, {}", task.name, length), setting);
  out.pictures.push_back(draw_steps(courses, {{1, natural}, {5, longer}}, at, "epochs", name + "-epochs",
                                    fmt::format("Online SM-ICA as published, {}, {}", task.name, length),
                                    setting, out.length));
  draw_median(out, task, longer, name,
              fmt::format("Online SM-ICA, natural steps, {}, five shuffled passes", task.name), setting);
  draw_median(out, task, stream, name + "-stream",
              fmt::format("Stream separator (not a network), {}, one pass in time order", task.name),
              setting);
  Table table{name, columns, {}};
  for (const Courses& c : courses) {
    table.rows.push_back(row(fmt::format("network as published ({:g}, {:g}), {}, shuffled, {}",
                                         task.online_eta, task.online_tau, length, c.label),
                             c.runs));
  }
  table.rows.push_back(row("network with natural steps, one shuffled pass", natural));
  table.rows.push_back(row("network with natural steps, five shuffled passes", longer));
  table.rows.push_back(row("stream separator (no network), one pass in time order", stream));
  out.tables = {table};
  const Index usual = setting.quick ? epochs : task.epochs;
  const std::vector<double> then = errors_at(runs, at, usual);
  const Index separated_then = std::ranges::count_if(then, [](double e) { return e < separated_mse; });
  out.numbers = {{"published.separated", static_cast<double>(separated_then)},
                 {"published.median_mse", ranked(then, 0.5)},
                 {"published.long_separated", static_cast<double>(count_separated(runs))},
                 {"published.diverged", static_cast<double>(count_diverged(runs))},
                 {"natural.separated", static_cast<double>(count_separated(natural))},
                 {"natural.median_mse", median_mse(natural)},
                 {"natural5.separated", static_cast<double>(count_separated(longer))},
                 {"natural5.worst_mse", largest_mse(longer)},
                 {"stream.separated", static_cast<double>(count_separated(stream))},
                 {"stream.worst_mse", largest_mse(stream)}};
  out.measured =
      fmt::format("Over {} mixings: as published, {} have separated after {} epochs (median error {})",
                  mixings, separated_then, usual, number(ranked(then, 0.5)));
  if (usual < epochs) out.measured += fmt::format(" and {} after {}", count_separated(runs), epochs);
  out.measured += fmt::format(", {} diverge", count_diverged(runs));
  if (courses.size() > 1) {
    const std::vector<Ended>& authors = courses[1].runs;
    out.numbers.push_back({"authors.separated", static_cast<double>(count_separated(authors))});
    out.numbers.push_back({"authors.median_mse", median_mse(authors)});
    out.measured +=
        fmt::format("; on the authors' mixing, from {} of {} starts after {}, median error {}",
                    count_separated(authors), authors.size(), length, number(median_mse(authors)));
  }
  out.measured += fmt::format(
      ". The network with natural steps separates {} in one shuffled pass, median error {}, and {} in five, "
      "worst error {}; the stream separator, which is no network, {} in one pass and in time order, worst "
      "error {}.",
      count_separated(natural), number(median_mse(natural)), count_separated(longer),
      number(largest_mse(longer)), count_separated(stream), number(largest_mse(stream)));
  if (separated_then < mixings) {
    out.differs = fmt::format(
        "The paper shows one mixing{}; of {} others {} have separated after {} epochs, {} after {}.",
        task.name == "synthetic" ? " (offline; of the synthetic sources it shows no online run)" : "",
        mixings, separated_then, usual, count_separated(runs), epochs);
  }
  return out;
}

}  // namespace

// One run of each as the paper shows it: on the authors' mixing where it is known.
Result figure_2(const Setting& setting) {
  Result out;
  std::vector<std::filesystem::path> parts;
  const std::vector<Task> tasks{synthetic_task(), speech_task(setting), photographs_task(setting)};
  out.data = tasks[1].data + "; " + tasks[2].data;
  out.length = length_of(setting, "as many steps as in full");
  for (const Task& task : tasks) {
    const Mixture m = task.authors.size() > 0 ? task.authors_mix() : task.mix(0);
    const Ended run = published_offline(task, m, task.offline_eta, task.offline_tau, task.steps, 0);
    const std::string name = "fig2-" + task.name;
    Result one;
    one.length = out.length;
    draw_run(one, task, m, run, name,
             fmt::format("{}{}, {} steps", static_cast<char>(std::toupper(task.name[0])), task.name.substr(1),
                         task.steps),
             setting);
    parts.push_back(setting.folder / (name + ".png"));
    out.numbers.push_back({task.name + ".mse", run.mse});
    out.measured +=
        fmt::format("{} {}", out.measured.empty() ? "Errors after as many steps as the authors took:" : ",",
                    fmt::format("{} {}", task.name, number(run.mse)));
  }
  out.measured += ".";
  report::draw(report::CompositeFigure{{{parts[0]}, {parts[1]}, {parts[2]}}}, setting.folder / "fig2");
  out.pictures = {
      {"fig2",
       "Offline SM-ICA as published. A, synthetic sources; B, speech, as envelopes; C, photographs. In A and "
       "B: mixtures in black, true sources pale, recovered in red, their difference in green, on the "
       "same scale; beside them the distributions."}};
  return out;
}

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
