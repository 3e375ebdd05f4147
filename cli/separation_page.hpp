#pragma once

#include "demix/html_report.hpp"
#include "inputs.hpp"
#include "outputs.hpp"

/// The page that `separate` writes beside the sources.
namespace demix::cli {

struct Separation {
  const Inputs& inputs;
  const io::FileRecording& mixtures;
  const Recording& sources;
  const Model& model;
  std::string why;
  io::Kind kind;
  std::vector<std::filesystem::path> files;  ///< of the sources
  std::vector<io::Range> ranges;             ///< of the sources, as they are
  std::vector<Scaling> scaling;              ///< of the sources in their files
};

/// `truth`: files of the true sources, or none.
std::string separation_page(const Separation& separation, const std::vector<std::string>& truth);

}  // namespace demix::cli
