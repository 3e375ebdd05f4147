#include "commands.hpp"

namespace demix::cli {

void add_commands(Program& program) {
  add_demo(program);
  add_separate(program);
  add_fit(program);
  add_apply(program);
  add_info(program);
  add_moments(program);
  add_merge(program);
  add_stream(program);
  add_score(program);
  add_compare(program);
  add_tune(program);
  add_reproduce(program);
  add_generate(program);
  add_methods(program);
  add_completion(program);
}

}  // namespace demix::cli
