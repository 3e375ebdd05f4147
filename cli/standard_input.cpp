#include "standard_input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <optional>
#include <vector>

#include "arguments.hpp"
#include "console.hpp"
#include "core/ranks.hpp"
#include "demix/signal_stream.hpp"
#include "demix/temporary.hpp"

namespace demix::cli {
namespace {

namespace fs = std::filesystem;

// "" where it cannot be told.
std::string found_format(const std::string& start) {
  if (start.starts_with("RIFF") || start.starts_with("RF64")) return "wav";
  const auto is_text = [](unsigned char c) { return c >= 32 || (c >= '\t' && c <= '\r'); };
  return std::ranges::all_of(start, is_text) ? "csv" : "";
}

}  // namespace

fs::path saved_standard_input(const std::string& format) {
  if (ranks() != nullptr)
    throw UsageError("standard input: cannot be read by several processes; give a file");
  static std::optional<Temporary> folder;
  if (folder) throw UsageError("standard input: can be read only once");
  std::vector<char> block(1 << 20);
  std::cin.read(block.data(), std::ssize(block));
  if (std::cin.gcount() == 0) throw Failure("standard input: is empty");
  const auto start = static_cast<std::size_t>(std::min<std::streamsize>(std::cin.gcount(), 4096));
  const std::string kind = format.empty() ? found_format({block.data(), start}) : format;
  if (kind.empty()) {
    throw UsageError("standard input: the format is not known; give --format " +
                     fmt::format("{}", fmt::join(io::encoding_names(), ", ")));
  }
  folder.emplace(fs::temp_directory_path() / "demix", Temporary::Kind::folder);
  fs::path file = folder->path() / ("standard-input." + kind);
  std::ofstream out(file, std::ios::binary);
  while (std::cin.gcount() > 0 && out) {
    out.write(block.data(), std::cin.gcount());
    std::cin.read(block.data(), std::ssize(block));
  }
  out.close();
  if (!out) throw Failure(file.string() + ": cannot save standard input there; is the disk full?");
  return file;
}

}  // namespace demix::cli
