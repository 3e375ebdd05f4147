#include "demix/methods.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <memory>

#include "commands.hpp"

namespace demix::cli {
namespace {

void run(bool json) {
  if (json) {
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (const Method& m : methods()) {
      all.push_back({{"name", m.name},
                     {"online", m.online},
                     {"local", m.local},
                     {"needs_whitening", m.needs_whitening},
                     {"sources", m.sources},
                     {"cannot", m.cannot},
                     {"reference", m.reference}});
    }
    fmt::print("{}\n", all.dump(1));
    return;
  }
  fmt::print("{:<16}{:<8}{:<7}{:<28}{}\n", "method", "mode", "local", "separates sources", "reference");
  for (const Method& m : methods()) {
    fmt::print("{:<16}{:<8}{:<7}{:<28}{}\n", m.name, m.online ? "online" : "batch", m.local ? "yes" : "no",
               m.sources, m.reference);
  }
  fmt::print("\nWhat they cannot do:\n");
  for (const Method& m : methods()) fmt::print("  {:<16}{}\n", m.name, m.cannot);
}

}  // namespace

void add_methods(CLI::App& app) {
  auto* sub =
      app.add_subcommand("methods", "List the methods: batch or online, local or not, and their limits");
  auto json = std::make_shared<bool>(false);
  sub->add_flag("--json", *json, "As JSON");
  sub->callback([json] { run(*json); });
}

}  // namespace demix::cli
