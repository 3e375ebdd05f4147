#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "demix/electrode_files.hpp"
#include "demix/io.hpp"
#include "targets.hpp"

/// Positions are finite and those of a head, or the file is refused.
namespace demix::fuzz {

std::string read_electrodes(std::string_view bytes) {
  constexpr std::array kinds{".loc", ".elc", ".sfp", ".tsv"};
  const std::size_t kind = bytes.empty() ? 0 : static_cast<unsigned char>(bytes[0]) % kinds.size();
  bytes.remove_prefix(std::min<std::size_t>(1, bytes.size()));
  const std::filesystem::path file = std::filesystem::temp_directory_path() /
                                     ("demix-electrodes-" + std::to_string(::getpid()) + kinds[kind]);
  std::ofstream(file, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  std::string refusal;
  try {
    for (const io::Electrode& e : io::read_electrodes(file)) {
      for (const double x : e.position) require(std::isfinite(x), "positions are finite");
    }
  } catch (const io::Error& e) {
    refusal = e.what();
    check_message(refusal, bytes);
    require(refusal.starts_with(file.string()), "an error names the file: " + refusal);
  }
  std::filesystem::remove(file);
  return refusal;
}

}  // namespace demix::fuzz
