#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "demix/signal_files.hpp"

/// What the tests of pictures share: files in a folder of their own, written and read again.
namespace demix::io {

struct Seen {
  SignalInfo info;
  Matrix<double> data;
};

class Pictures : public ::testing::Test {
 protected:
  Pictures()
      : folder_(std::filesystem::path(::testing::TempDir()) / ("pictures-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(folder_);
  }
  ~Pictures() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path path(const std::string& name) const { return folder_ / name; }

  Seen open(const std::filesystem::path& file, bool planes = false) const {
    ReadOptions options;
    options.planes = planes;
    const FileRecording recording({file}, options);
    return {recording.info(), gather(recording)};
  }
  Seen read(const std::string& bytes, const std::string& ext, bool planes = false) const {
    std::filesystem::remove(path("x" + ext));  // some systems wait for the disk where a file is overwritten
    std::ofstream(path("x" + ext), std::ios::binary) << bytes;
    return open(path("x" + ext), planes);
  }

  std::filesystem::path write(const std::string& name, const SignalInfo& info, const Matrix<double>& data,
                              Index block) const {
    NewFiles files;
    const auto writer = create_signals(files, path(name), info, {});
    for (Index at = 0; at < data.cols(); at += block) {
      writer->write(data.middleCols(at, std::min(block, data.cols() - at)));
    }
    writer->finish();
    files.commit();
    return path(name);
  }

  void expect_refused(const std::string& bytes, const std::string& ext, const std::string& part) const {
    try {
      read(bytes, ext);
      ADD_FAILURE() << "accepted; expected: " << part;
    } catch (const Error& e) {
      const std::string text = e.what();
      EXPECT_NE(text.find(part), std::string::npos) << text;
      EXPECT_EQ(text.find(path("x" + ext).string() + ": "), 0U) << text;
      EXPECT_EQ(text.find('\n'), std::string::npos) << text;
    }
  }

 private:
  std::filesystem::path folder_;
};

inline SignalInfo shape(Index width, Index height, Index channels = 1) {
  SignalInfo f;
  f.width = width;
  f.height = height;
  f.channels = channels;
  if (channels == 3) f.names = {"R", "G", "B"};
  return f;
}

/// What this build can read and write; PGM is always there.
inline std::vector<std::string> extensions() {
  std::vector<std::string> all;
#ifdef DEMIX_HAVE_PNG
  all.emplace_back(".png");
#endif
#ifdef DEMIX_HAVE_JPEG
  all.emplace_back(".jpg");
#endif
#ifdef DEMIX_HAVE_TIFF
  all.emplace_back(".tif");
#endif
  all.emplace_back(".pgm");
  return all;
}

/// Smooth, as JPEG likes it; each channel its own slope.
inline Matrix<double> waves(Index width, Index height, Index channels) {
  Matrix<double> out(channels, width * height);
  for (Index i = 0; i < out.size(); ++i) {
    const auto x = static_cast<double>(i / channels % width);
    const auto y = static_cast<double>(i / channels / width);
    out.data()[i] = 0.5 + 0.45 * std::sin(0.05 * x + 0.03 * y * static_cast<double>(1 + i % channels));
  }
  return out;
}

}  // namespace demix::io
