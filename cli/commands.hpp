#pragma once

#include <CLI/CLI.hpp>

/// One file per subcommand. Each adds itself to the program; its work runs when the command line names it.
namespace demix::cli {

void add_apply(CLI::App& app);
void add_compare(CLI::App& app);
void add_completion(CLI::App& app);
void add_demo(CLI::App& app);
void add_fit(CLI::App& app);
void add_generate(CLI::App& app);
void add_info(CLI::App& app);
void add_methods(CLI::App& app);
void add_reproduce(CLI::App& app);
void add_score(CLI::App& app);
void add_separate(CLI::App& app);
void add_stream(CLI::App& app);
void add_tune(CLI::App& app);

}  // namespace demix::cli
