#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "demix/compare.hpp"

namespace demix::cli {

/// Cells are written down as they are done, one line each; a search that was stopped goes on from there. The
/// first line says what was measured: another search must not go on with it.
class CellNotebook {
 public:
  CellNotebook(const std::filesystem::path& file, const std::string& what);

  void add(const Cell& cell);

  static std::string head(const std::string& what);  ///< the first lines

  std::vector<Cell> cells;  ///< those that were there

 private:
  std::filesystem::path file_;
};

}  // namespace demix::cli
