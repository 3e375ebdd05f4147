#include "outcome.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <new>

#include "console.hpp"
#include "demix/file_use.hpp"
#include "demix/methods.hpp"

namespace demix::cli {
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
  message("demix: cannot write to stdout: {}", std::strerror(errno));
  return failed;
}

}  // namespace

int run_reported(Program& program, int argc, const char* const* argv) {
  try {
    program.run(argc, argv);
  } catch (const UsageError& e) {
    message("demix: {} (see {})", e.what(), program.help_hint());
    return misused;
  } catch (const io::MessageConflict& e) {
    if (*e.what() != '\0') fmt::print("demix: {}\n", e.what());
    return misused;
  } catch (const io::FileConflict& e) {
    message("demix: {}", e.what());
    return misused;
  } catch (const NoSuchOption& e) {
    std::string option = e.option;
    std::ranges::replace(option, '_', '-');
    message("demix: method {} has no option --{}{}", e.method, option, e.of_form);
    return misused;
  } catch (const NoSuchForm& e) {
    message("demix: {}", e.what());
    return misused;
  } catch (const std::bad_alloc&) {
    message("demix: not enough memory");
    return failed;
  } catch (const std::filesystem::filesystem_error& e) {
    message("demix: {}: {}", e.path1().string(), e.code().message());
    return failed;
  } catch (const std::exception& e) {
    if (std::ferror(stdout) == 0) {
      message("demix: {}", as_typed(e.what()));
      return failed;
    }
  }
  return flush_stdout();
}

}  // namespace demix::cli
