#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "arguments.hpp"
#include "demix/types.hpp"

/// One file per subcommand. Each adds itself to the program; its work runs when the command line names it.
namespace demix::cli {

void add_commands(Program& program);  ///< all of them, in the order of --help

/// What `apply` asks of `stream`: frames of standard input through a model that stays as it is.
struct PipedModel {
  std::string model, format, output;
  Index channels = 0;
  double rate = 0;
  std::vector<Index> remove;  ///< components, from 1
};
void apply_to_pipe(const PipedModel& piped);

/// What `demo --live` asks of it: frames of standard input (f32) on a page, the output to nowhere.
struct WatchedPipe {
  std::string page, title;
  Index channels = 0;
  double rate = 0;
  double track = 0;  ///< seconds
};
void watch_pipe(const WatchedPipe& piped);

void run_live_demo(const std::string& page, std::uint64_t seed);  ///< until a signal comes

void add_apply(Program& program);
void add_compare(Program& program);
void add_completion(Program& program);
void add_demo(Program& program);
void add_fit(Program& program);
void add_generate(Program& program);
void add_info(Program& program);
void add_merge(Program& program);
void add_methods(Program& program);
void add_moments(Program& program);
void add_reproduce(Program& program);
void add_score(Program& program);
void add_separate(Program& program);
void add_stream(Program& program);
void add_tune(Program& program);

}  // namespace demix::cli
