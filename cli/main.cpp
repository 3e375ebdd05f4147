#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>

#include "commands.hpp"
#include "console.hpp"
#include "demix/methods.hpp"
#include "demix/version.hpp"
#include "terminal.hpp"

namespace {

// Exit codes: 0 done, 1 failed, 2 misused.
constexpr int failed = 1;
constexpr int misused = 2;

}  // namespace

int main(int argc, char** argv) {
  demix::cli::Program program("demix",
                              "demix separates mixed signals into the independent sources behind them.",
                              demix::version, "demix COMMAND --help tells more. Start with: demix demo");
  demix::cli::add_commands(program);
  demix::cli::keep_command_line(argc, argv);
  try {
    if (!program.run(argc, argv)) return 0;  // help, or the version
  } catch (const demix::cli::UsageError& e) {
    fmt::print(stderr, "demix: {} (see demix --help)\n", demix::cli::terminal_text(e.what()));
    return misused;
  } catch (const demix::NoSuchOption& e) {
    fmt::print(stderr, "demix: {}\n", demix::cli::terminal_text(e.what()));
    return misused;
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "demix: there is not enough memory for this\n");
    return failed;
  } catch (const std::exception& e) {
    if (std::ferror(stdout) == 0) {
      fmt::print(stderr, "demix: {}\n", demix::cli::terminal_text(e.what()));
      return failed;
    }
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    fmt::print(stderr, "demix: cannot write to stdout: {}\n", std::strerror(errno));
    return failed;
  }
  return 0;
}
