#include "trace_option.hpp"

#include "console.hpp"

namespace demix::cli {
namespace {

namespace fs = std::filesystem;

std::string complaint(const std::string& text) {
  const fs::path path(text);
  if (path.extension() == ".npz") return "";
  return "'" + text + "': expected a name that ends in .npz";
}

}  // namespace

void add_trace_option(Arguments& command, std::string& file, const std::string& whose) {
  command
      .option("--trace", file,
              whose +
                  ": write W, M, c, y, the modulator and the share of LTP (potentiated synapses) at regular "
                  "intervals to this .npz file (at most 32 MB), and plots beside it")
      .check(complaint, "FILE.npz");
}

std::vector<fs::path> try_to_draw(const std::string& file, const std::vector<TitledTrace>& traces) {
  try {
    return draw_traces(file, traces);
  } catch (const std::exception& e) {
    message("warning: no picture of the trace: {}", e.what());
    return {};
  }
}

}  // namespace demix::cli
