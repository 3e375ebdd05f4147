#include "demix/methods.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <memory>

#include "commands.hpp"
#include "console.hpp"

namespace demix::cli {
namespace {

std::string form_names(const Method& m) {
  std::string all;
  for (const Form& f : m.forms) {
    all += (all.empty() ? "" : ", ") + std::string(f.name);
    if (f.eta > 0) all += fmt::format(" ({:g})", f.eta);
  }
  if (m.tau > 0) all += fmt::format("; tau {:g}", m.tau);
  return all;
}

// One word, or one for each form where they differ.
std::string localities(const Method& m) {
  const std::string_view first = locality_name(m.locality_of(m.forms[0]));
  const auto same = [&](const Form& f) { return locality_name(m.locality_of(f)) == first; };
  if (std::ranges::all_of(m.forms, same)) return std::string(first);
  std::string all;
  for (const Form& f : m.forms) {
    all += fmt::format("{}{}: {}", all.empty() ? "" : ", ", f.name, locality_name(m.locality_of(f)));
  }
  return all;
}

constexpr std::array local_says{
    "Yes: every synapse learns from its own two neurons and one number for the whole network.",
    "Synapses: they do, from two such numbers; the whitening in front and the averaged read-out do not."};

// docs/methods.md is this.
void print_markdown() {
  fmt::print(
      "# Methods\n\nMade by `demix methods --markdown`. The learning rules are compared in "
      "[rules.md](rules.md).\n\n");
  fmt::print(
      "| method | mode | local | input | finds | separates sources | cannot | forms (learning rate) | "
      "reference |\n");
  fmt::print("|---|---|---|---|---|---|---|---|---|\n");
  for (const Method& m : methods()) {
    fmt::print("| `{}` | {} | {} | {} | {} | {} | {} | {} | {} |\n", m.name, m.online ? "online" : "batch",
               localities(m), input_name(m.input), finds_name(m.finds), m.sources, m.cannot, form_names(m),
               m.reference);
  }
  fmt::print("\n{} {}\n", local_says[0], local_says[1]);
}

bool by_form(const Method& m) { return localities(m).find(':') != std::string::npos; }

void run(bool json, bool markdown) {
  if (markdown) return print_markdown();
  if (json) {
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (const Method& m : methods()) {
      nlohmann::ordered_json forms = nlohmann::ordered_json::array();
      for (const Form& f : m.forms) {
        forms.push_back({{"name", f.name}});
        if (f.eta > 0) forms.back()["eta"] = f.eta;
        forms.back()["local"] = locality_name(m.locality_of(f));
      }
      all.push_back({{"name", m.name},
                     {"online", m.online},
                     {"local", localities(m)},
                     {"input", input_name(m.input)},
                     {"needs_whitening", m.input == Input::white},
                     {"finds", finds_name(m.finds)},
                     {"sources", m.sources},
                     {"cannot", m.cannot},
                     {"forms", forms},
                     {"tau", m.tau > 0 ? nlohmann::ordered_json(m.tau) : nullptr},
                     {"reference", m.reference}});
    }
    print_json(all);
    return;
  }
  constexpr const char* row = "{:<15}{:<8}{:<9}{:<9}{:<38}{}\n";
  fmt::print(row, "method", "mode", "local", "input", "separates sources", "reference");
  for (const Method& m : methods()) {
    fmt::print(row, m.name, m.online ? "online" : "batch", by_form(m) ? "by form" : localities(m),
               input_name(m.input), m.sources, m.reference);
  }
  fmt::print("\nLocal, by form:\n");
  for (const Method& m : methods()) {
    if (by_form(m)) fmt::print("  {:<15}{}\n", m.name, localities(m));
  }
  fmt::print("  {}\n  {}\n", local_says[0], local_says[1]);
  fmt::print("\nWhat they cannot do:\n");
  for (const Method& m : methods()) fmt::print("  {:<15}{}\n", m.name, m.cannot);
  fmt::print("\nForms (--form), the default first, with their learning rates (--eta):\n");
  for (const Method& m : methods()) {
    if (m.forms.size() > 1 || m.forms[0].eta > 0) fmt::print("  {:<15}{}\n", m.name, form_names(m));
  }
}

}  // namespace

void add_methods(Program& program) {
  Arguments sub = program.command("methods", "List the methods, their forms and their limits");
  auto json = std::make_shared<bool>(false);
  auto markdown = std::make_shared<bool>(false);
  Option as_json = sub.flag("--json", *json, "Print JSON");
  sub.flag("--markdown", *markdown, "Print a Markdown table").excludes(as_json);
  sub.run([json, markdown] { run(*json, *markdown); });
}

}  // namespace demix::cli
