#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <new>

#include "commands.hpp"
#include "console.hpp"
#include "demix/file_use.hpp"
#include "demix/methods.hpp"
#include "demix/temporary.hpp"
#include "demix/version.hpp"
#include "signals.hpp"

namespace {

// Exit codes: 0 done, 1 failed, 2 misused.
constexpr int failed = 1;
constexpr int misused = 2;

int flush_stdout() {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return 0;
  if (errno == EPIPE) {  // ignored where it happened: it might have been stderr
    std::signal(SIGPIPE, SIG_DFL);
    std::raise(SIGPIPE);
  }
  demix::cli::message("demix: cannot write to stdout: {}", std::strerror(errno));
  return failed;
}

// The exit code.
int run(demix::cli::Program& program, int argc, char** argv) {
  try {
    program.run(argc, argv);
  } catch (const demix::cli::UsageError& e) {
    demix::cli::message("demix: {} (see {})", e.what(), program.help_hint());
    return misused;
  } catch (const demix::io::FileConflict& e) {
    demix::cli::message("demix: {}", e.what());
    return misused;
  } catch (const demix::NoSuchOption& e) {
    std::string option = e.option;
    std::ranges::replace(option, '_', '-');
    demix::cli::message("demix: method {} has no option --{}{}", e.method, option, e.of_form);
    return misused;
  } catch (const demix::NoSuchForm& e) {
    demix::cli::message("demix: {}", e.what());
    return misused;
  } catch (const std::bad_alloc&) {
    demix::cli::message("demix: not enough memory");
    return failed;
  } catch (const std::filesystem::filesystem_error& e) {
    demix::cli::message("demix: {}: {}", e.path1().string(), e.code().message());
    return failed;
  } catch (const std::exception& e) {
    if (std::ferror(stdout) == 0) {
      demix::cli::message("demix: {}", demix::cli::as_typed(e.what()));
      return failed;
    }
  }
  return flush_stdout();
}

}  // namespace

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
  const int code = run(program, argc, argv);
  if (code != 0) demix::remove_made_folders();
  demix::cli::end_if_told();
  return code;
}
