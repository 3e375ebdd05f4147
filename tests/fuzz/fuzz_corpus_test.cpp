#include <algorithm>
#include <filesystem>
#include <random>
#include <sstream>

#include "cannot_run.hpp"
#include "demix/signal_files.hpp"
#include "support.hpp"
#include "targets.hpp"

/// The corpus of the fuzzers, and small damage to each of its files, through what the fuzzers call.
namespace demix::fuzz {
namespace {
namespace fs = std::filesystem;

std::vector<std::string> kinds() {
  std::istringstream all(DEMIX_FUZZ_KINDS);
  return {std::istream_iterator<std::string>(all), {}};
}

std::vector<fs::path> files_of(const std::string& kind) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(fs::path(DEMIX_FUZZ_CORPUS) / kind)) files.push_back(entry);
  std::sort(files.begin(), files.end());
  return files;
}

// What came out, or nothing.
std::string finding(const std::string& kind, const std::string& bytes) {
  try {
    run(kind, bytes);
    return {};
  } catch (const std::exception& e) {
    return e.what();
  }
}

std::string damaged(std::string bytes, std::mt19937& random) {
  const auto below = [&](std::size_t n) {
    return static_cast<std::size_t>(random()) % std::max<std::size_t>(n, 1);
  };
  const std::size_t at = below(bytes.size());
  const std::size_t length = 1 + below(16);
  switch (below(6)) {
    case 0:  // cut off
      bytes.resize(at);
      break;
    case 1:  // a piece is lost
      bytes.erase(at, length);
      break;
    case 2:  // a piece is there twice
      bytes.insert(at, bytes.substr(at, length));
      break;
    case 3:  // lengths and counts of nothing, or too much
      std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), std::min(length, bytes.size() - at),
                  below(2) == 0 ? '\0' : '\xff');
      break;
    default:  // bits flip
      for (std::size_t k = 0; k <= below(4) && !bytes.empty(); ++k)
        bytes[below(bytes.size())] ^= static_cast<char>(1U << below(8));
  }
  return bytes;
}

// Of each file. Those that are not only read take longer.
int damages(const std::string& kind) { return kind == "state" || kind == "fit" || kind == "info" ? 20 : 300; }

class FuzzCorpus : public ::testing::TestWithParam<std::string> {};

TEST_P(FuzzCorpus, IsReadAsPromised) {
  std::string refusals;
  bool taken = false;
  for (const fs::path& file : files_of(GetParam())) {
    const std::string refusal = run(GetParam(), io::read_file(file));
    refusals += refusal + "\n";
    taken = taken || refusal.empty();
  }
  if (refusals.find("built without") != std::string::npos) DEMIX_CANNOT_RUN(refusals);
  EXPECT_TRUE(taken) << "no file is a good one:\n" << refusals;
}

TEST_P(FuzzCorpus, DamagedIsReadAsPromised) {
  for (const fs::path& file : files_of(GetParam())) {
    const std::string whole = io::read_file(file);
    std::mt19937 random(1);
    for (int k = 0; k < damages(GetParam()); ++k) {
      const std::string bytes = damaged(whole, random);
      ASSERT_EQ(finding(GetParam(), bytes), "")
          << "damage " << k << " to " << file << ": " << ::testing::PrintToString(bytes);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, FuzzCorpus, ::testing::ValuesIn(kinds()),
                         [](const auto& info) { return info.param; });

TEST(FuzzCorpora, EveryReaderHasOne) {
  std::vector<decltype(io::Format::open)> fuzzed;
  for (const std::string& kind : kinds()) {
    if (io::is_supported("x." + kind)) fuzzed.push_back(io::format_of("x." + kind).open);
  }
  for (const io::Format& format : io::formats()) {
    EXPECT_EQ(std::ranges::count(fuzzed, format.open) > 0, true)
        << format.name << ": add it to fuzz/CMakeLists.txt, and files of it to fuzz/corpus";
  }
}

}  // namespace
}  // namespace demix::fuzz
