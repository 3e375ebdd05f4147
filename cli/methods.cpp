#include "demix/methods.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

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
               m.local ? "yes" : "no", input_name(m.input), finds_name(m.finds), m.sources, m.cannot,
               form_names(m), m.reference);
  }
}

void run(bool json, bool markdown) {
  if (markdown) return print_markdown();
  if (json) {
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (const Method& m : methods()) {
      nlohmann::ordered_json forms = nlohmann::ordered_json::array();
      for (const Form& f : m.forms) {
        forms.push_back({{"name", f.name}});
        if (f.eta > 0) forms.back()["eta"] = f.eta;
      }
      all.push_back({{"name", m.name},
                     {"online", m.online},
                     {"local", m.local},
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
  constexpr const char* row = "{:<15}{:<8}{:<7}{:<9}{:<38}{}\n";
  fmt::print(row, "method", "mode", "local", "input", "separates sources", "reference");
  for (const Method& m : methods()) {
    fmt::print(row, m.name, m.online ? "online" : "batch", m.local ? "yes" : "no", input_name(m.input),
               m.sources, m.reference);
  }
  fmt::print("\nWhat they cannot do:\n");
  for (const Method& m : methods()) fmt::print("  {:<15}{}\n", m.name, m.cannot);
  fmt::print("\nForms (--form), the default first, with their learning rates (--eta):\n");
  for (const Method& m : methods()) {
    if (m.forms.size() > 1 || m.forms[0].eta > 0) fmt::print("  {:<15}{}\n", m.name, form_names(m));
  }
}

}  // namespace

void add_methods(Program& program) {
  Arguments sub =
      program.command("methods", "List the methods: batch or online, local or not, and their limits");
  auto json = std::make_shared<bool>(false);
  auto markdown = std::make_shared<bool>(false);
  Option as_json = sub.flag("--json", *json, "As JSON");
  sub.flag("--markdown", *markdown, "As a table in Markdown").excludes(as_json);
  sub.run([json, markdown] { run(*json, *markdown); });
}

}  // namespace demix::cli
