#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "demix/io.hpp"
#include "demix/network_trace.hpp"
#include "demix/report.hpp"

/// How a network learned, as arrays and as a picture.
namespace demix {

/// frame, stride, W (rows x outputs x inputs), M, c, y, modulator, ltp; `prefix` before each name.
std::vector<io::Array> trace_arrays(const NetworkTrace& trace, const std::string& prefix = {});

/// W, M, c, y, modulator and share of LTP over the frames; of the first outputs and inputs, if there are
/// many. Throws std::invalid_argument if the trace is empty.
report::CurvesFigure trace_figure(const NetworkTrace& trace, const std::string& title);

/// `file`, an .npz, and the pictures beside it: FILE.png and FILE.svg, or FILE-1.png and so on if there are
/// several. None if there is no file.
std::vector<std::filesystem::path> trace_paths(const std::filesystem::path& file, std::size_t pictures = 1);

struct TitledTrace {
  std::string title;
  const NetworkTrace* trace;
};
/// The pictures of a file that has been written. Returns them; throws as report::draw does.
std::vector<std::filesystem::path> draw_traces(const std::filesystem::path& file,
                                               const std::vector<TitledTrace>& traces);

}  // namespace demix
