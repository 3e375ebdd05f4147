#include "cell_notebook.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <optional>
#include <sstream>

#include "console.hpp"
#include "demix/io.hpp"

namespace demix::cli {
namespace {

// Nothing, if no search can have written this: it is measured again.
std::optional<Cell> parse(const std::string& line) {
  Cell c;
  double runs = 0;
  double separated = 0;
  double diverged = 0;
  int end = 0;
  const int got = std::sscanf(line.c_str(), "%lf,%lf,%lf,%lf,%lf,%lf%n", &c.eta, &c.tau, &runs, &separated,
                              &diverged, &c.mse, &end);
  if (got != 6 || static_cast<std::size_t>(end) != line.size()) return std::nullopt;
  const auto is_count = [](double v, double most) { return v >= 0 && v <= most && v == std::floor(v); };
  const bool counts =
      is_count(runs, 1e9) && runs > 0 && is_count(separated, runs) && is_count(diverged, runs);
  const bool rates = std::isfinite(c.eta) && c.eta > 0 && std::isfinite(c.tau) && c.tau >= 0;
  if (!counts || !rates || !(c.mse >= 0)) return std::nullopt;
  c.runs = static_cast<Index>(runs);
  c.separated = static_cast<Index>(separated);
  c.diverged = static_cast<Index>(diverged);
  return c;
}

}  // namespace

std::string CellNotebook::head(const std::string& what) {
  return "# " + what + "\neta,tau,runs,separated,diverged,mse\n";
}

CellNotebook::CellNotebook(const std::filesystem::path& file, const std::string& what) : file_(file) {
  std::string kept = head(what);
  if (std::filesystem::exists(file)) {
    const std::string text = io::read_file(file);
    if (!text.starts_with(kept)) {
      throw Failure(fmt::format("{}: is not of this search; choose another -o, or remove it", file.string()));
    }
    std::istringstream lines(text.substr(kept.size()));
    std::string line;
    while (std::getline(lines, line) && !lines.eof()) {  // a line without its end was cut
      if (const std::optional<Cell> cell = parse(line)) {
        cells.push_back(*cell);
        kept += line + "\n";
      }
    }
  }
  io::write_file(file, kept);
}

void CellNotebook::add(const Cell& c) {
  std::ofstream out(file_, std::ios::app);
  out << fmt::format("{},{},{},{},{},{}\n", c.eta, c.tau, c.runs, c.separated, c.diverged,
                     std::isfinite(c.mse) ? fmt::format("{}", c.mse) : "inf");
  if (!out.flush()) throw Failure(fmt::format("{}: cannot write", file_.string()));
}

}  // namespace demix::cli
