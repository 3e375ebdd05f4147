#include <csignal>

#include "commands.hpp"
#include "console.hpp"
#include "demix/temporary.hpp"
#include "demix/version.hpp"
#include "outcome.hpp"
#include "signals.hpp"

int main(int argc, char** argv) {
  demix::cli::prepare_descriptors();
  demix::cli::catch_signals();
  std::signal(SIGPIPE, SIG_IGN);
  demix::cli::Program program("demix",
                              "demix separates mixed signals into the independent sources behind them. "
                              "Results go to stdout, messages "
                              "to stderr.",
                              demix::version,
                              "Help on a command: demix COMMAND --help. A first run: demix demo");
  demix::cli::add_commands(program);
  demix::cli::keep_command_line(argc, argv);
  const int code = demix::cli::run_reported(program, argc, argv);
  if (code != 0) demix::remove_made_folders();
  demix::cli::end_if_told();
  return code;
}
