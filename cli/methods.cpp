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
    "Yes: every synapse learns from its own two neurons and one number for the whole network (form local: "
    "two).",
    "Synapses: likewise, from two such numbers; but the whitening and the averaged output are not local."};

bool by_form(const Method& m) { return localities(m).find(':') != std::string::npos; }

std::string locality_cell(const Method& m) { return by_form(m) ? "by form" : localities(m); }

std::string cannot(const Method& m) { return std::string(m.cannot); }

std::string reference(const Method& m) { return std::string(m.reference); }

std::string forms_worth_a_line(const Method& m) {
  return m.forms.size() > 1 || m.forms[0].eta > 0 ? form_names(m) : "";
}

// One line for each method of which text() says something.
void print_list(const char* line, std::string (*text)(const Method&)) {
  for (const Method& m : methods()) {
    if (const std::string of_method = text(m); !of_method.empty()) {
      fmt::print(fmt::runtime(line), m.name, of_method);
    }
  }
}

std::string localities_by_form(const Method& m) { return by_form(m) ? localities(m) : ""; }

// docs/methods.md is this.
void print_markdown() {
  fmt::print(
      "# Methods\n\nMade by `demix methods --markdown`. The learning rules are compared in "
      "[rules.md](rules.md).\n\n");
  fmt::print("| method | mode | local | input | finds | separates sources |\n|---|---|---|---|---|---|\n");
  for (const Method& m : methods()) {
    fmt::print("| `{}` | {} | {} | {} | {} | {} |\n", m.name, m.online ? "online" : "batch", locality_cell(m),
               input_name(m.input), finds_name(m.finds), m.sources);
  }
  const char* line = "- `{}`: {}\n";
  fmt::print("\n## Local\n- {}\n- {}\n", local_says[0], local_says[1]);
  print_list(line, localities_by_form);
  fmt::print("\n## What they cannot separate\n");
  print_list(line, cannot);
  fmt::print(
      "\n## Forms\nThe value of `--form`; the default comes first. In brackets: the learning rate, "
      "`--eta`.\n");
  print_list(line, forms_worth_a_line);
  fmt::print("\n## References\n");
  print_list(line, reference);
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
  constexpr const char* row = "{:<15}{:<8}{:<9}{:<9}{}\n";
  fmt::print(row, "method", "mode", "local", "input", "separates sources");
  for (const Method& m : methods()) {
    fmt::print(row, m.name, m.online ? "online" : "batch", locality_cell(m), input_name(m.input), m.sources);
  }
  const char* line = "  {:<15}{}\n";
  fmt::print("\nLocal:\n  {}\n  {}\n", local_says[0], local_says[1]);
  print_list(line, localities_by_form);
  fmt::print("\nWhat they cannot separate:\n");
  print_list(line, cannot);
  fmt::print("\nForms (--form), the default first, with their learning rates (--eta):\n");
  print_list(line, forms_worth_a_line);
  fmt::print("\nReferences:\n");
  print_list(line, reference);
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
