#pragma once

#include <fstream>

#include "demix/random.hpp"
#include "demix/signal_files.hpp"
#include "support.hpp"

/// What the tests of files share: files in a folder of the test's own, whole and damaged.
namespace demix::io {

inline std::filesystem::path test_file(const std::string& name) {
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) /
                                       ::testing::UnitTest::GetInstance()->current_test_info()->name();
  std::filesystem::create_directories(folder);
  return folder / name;
}

inline void put(const std::filesystem::path& path, const std::string& bytes) {
  std::filesystem::remove(path);  // ext4 waits for the disk where a file is cut and written anew
  std::ofstream(path, std::ios::binary) << bytes;
}

/// What bytes are as a file of that name. In messages it is called just so.
inline Signals read_as(const std::string& name, const std::string& bytes) {
  const std::filesystem::path path = test_file(name);
  put(path, bytes);
  try {
    return read_signals(path);
  } catch (const Error& e) {
    std::string text = e.what();
    const std::size_t at = text.find(path.string());
    throw Error(at == std::string::npos ? text : text.replace(at, path.string().size(), name));
  }
}

/// All frames, in blocks of odd size.
inline Matrix<double> read_all(SignalReader& reader) {
  Matrix<double> all(reader.info().channels, 0), block(reader.info().channels, 37);
  while (const Index got = reader.read(block)) {
    all.conservativeResize(Eigen::NoChange, all.cols() + got);
    all.rightCols(got) = block.leftCols(got);
  }
  return all;
}

/// In two blocks.
inline void write(const std::filesystem::path& path, const Matrix<double>& data, const SignalInfo& info) {
  NewFiles files;
  const auto writer = create_signals(files, path, info, std::vector<ValueRange>(info.channels));
  writer->write(data.leftCols(data.cols() / 3));
  writer->write(data.rightCols(data.cols() - data.cols() / 3));
  writer->finish();
  files.commit();
}

/// What opening and reading it says; empty if nothing is wrong.
inline std::string complaint(const std::filesystem::path& path, const ReadOptions& options = {}) {
  try {
    read_all(*open_signals(path, options));
    return "";
  } catch (const Error& e) {
    return e.what();
  }
}

/// Cut off anywhere or changed anywhere: an answer or an Error of one line, nothing else. (The sanitizers
/// watch.)
inline void expect_damage_is_survived(const std::filesystem::path& path, int changes = 1500) {
  const std::string good = read_file(path);
  Random random(3);
  const auto try_it = [&](const std::string& bytes) {
    put(path, bytes);
    const std::string text = complaint(path);
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
    return text;
  };
  const std::size_t step = std::max<std::size_t>(1, good.size() / 300);
  for (std::size_t cut = 0; cut < good.size(); cut += step) EXPECT_NE(try_it(good.substr(0, cut)), "") << cut;
  for (int k = 0; k < changes; ++k) {
    std::string bad = good;
    for (int hits = 0; hits < 3; ++hits) {
      const auto at = static_cast<std::size_t>(random.below(static_cast<Index>(bad.size())));
      bad[at] = k % 2 == 0 ? static_cast<char>(random.bits()) : static_cast<char>(bad[at] ^ (1 << (k % 8)));
    }
    try_it(bad);
  }
  put(path, good);
  EXPECT_EQ(complaint(path), "");
}

#define EXPECT_COMPLAINT(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

}  // namespace demix::io
