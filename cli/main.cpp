#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "commands.hpp"
#include "console.hpp"
#include "demix/methods.hpp"
#include "demix/version.hpp"

namespace {

// Exit codes: 0 done, 1 failed, 2 misused.
constexpr int failed = 1;
constexpr int misused = 2;

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("demix separates mixed signals into the independent sources behind them.", "demix");
  app.set_version_flag("--version", std::string("demix ") + demix::version);
  app.require_subcommand(1);
  app.footer("demix COMMAND --help tells more. Start with: demix demo");
  demix::cli::add_demo(app);
  demix::cli::add_separate(app);
  demix::cli::add_fit(app);
  demix::cli::add_apply(app);
  demix::cli::add_info(app);
  demix::cli::add_stream(app);
  demix::cli::add_score(app);
  demix::cli::add_compare(app);
  demix::cli::add_tune(app);
  demix::cli::add_reproduce(app);
  demix::cli::add_generate(app);
  demix::cli::add_methods(app);
  demix::cli::add_completion(app);
  const auto is_command = [&](const char* word) {
    const auto all = app.get_subcommands([&](const CLI::App* sub) { return sub->get_name() == word; });
    return !all.empty();
  };
  if (argc > 1 && argv[1][0] != '-' && !is_command(argv[1])) {
    fmt::print(stderr, "demix: unknown command '{}' (see demix --help)\n", argv[1]);
    return misused;
  }
  demix::cli::keep_command_line(argc, argv);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& e) {
    return app.exit(e);
  } catch (const CLI::CallForAllHelp& e) {
    return app.exit(e);
  } catch (const CLI::CallForVersion& e) {
    return app.exit(e);
  } catch (const CLI::ParseError& e) {
    fmt::print(stderr, "demix: {} (see demix --help)\n", e.what());
    return misused;
  } catch (const demix::NoSuchOption& e) {
    fmt::print(stderr, "demix: {}\n", e.what());
    return misused;
  } catch (const std::exception& e) {
    fmt::print(stderr, "demix: {}\n", e.what());
    return failed;
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    fmt::print(stderr, "demix: cannot write to stdout: {}\n", std::strerror(errno));
    return failed;
  }
  return 0;
}
