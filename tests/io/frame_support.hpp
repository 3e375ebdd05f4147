#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <string>

#include "demix/frame_io.hpp"
#include "demix/random.hpp"
#include "support.hpp"

/// What the tests of streams share: pipes, files, and reading them to the end.
namespace demix::io {

constexpr FrameFormat all_formats[] = {FrameFormat::f32, FrameFormat::f64, FrameFormat::wav,
                                       FrameFormat::csv};

inline std::string scratch(const std::string& name) {
  return ::testing::TempDir() + "frame_io_" + std::to_string(::getpid()) + "_" + name;
}

inline std::string temporary(const std::string& name, const std::string& bytes) {
  const std::string path = scratch(name);
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

struct Pipe {
  Pipe() {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    from = ends[0];
    to = ends[1];
  }
  ~Pipe() {
    close_from();
    close_to();
  }
  void close_from() { shut(from); }
  void close_to() { shut(to); }
  void put(const std::string& bytes) const {
    ASSERT_EQ(::write(to, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  static void shut(int& fd) {
    if (fd >= 0) ::close(fd);
    fd = -1;
  }
  int from = -1;
  int to = -1;
};

class Redirect {  // standard input or output, while it lives
 public:
  Redirect(int standard, int fd) : standard_(standard), saved_(::dup(standard)) { ::dup2(fd, standard); }
  ~Redirect() {
    if (saved_ >= 0) {
      ::dup2(saved_, standard_);
      ::close(saved_);
    } else {
      ::close(standard_);
    }
  }

 private:
  int standard_;
  int saved_;
};

inline FrameLayout layout_of(FrameFormat format, Index channels) {
  return {format, channels, format == FrameFormat::wav ? 8000.0 : 0.0, {}};
}

inline Matrix<double> samples(FrameFormat format, Index channels, Index frames) {
  const Matrix<double> X = Random(7).normal(channels, frames);
  if (format == FrameFormat::f32 || format == FrameFormat::wav) return X.cast<float>().cast<double>();
  return X;
}

inline std::string bytes_of(FrameLayout layout, const Matrix<double>& X) {
  const std::string path = scratch("bytes");
  FrameWriter writer(path, std::move(layout));
  writer.write(X);
  writer.finish();
  std::string bytes = read_file(path);
  EXPECT_EQ(writer.bytes(), bytes.size());
  ::unlink(path.c_str());
  return bytes;
}

// Of a WAV file.
inline std::string word(std::uint64_t value, std::size_t width) {
  std::string bytes(width, '\0');
  std::memcpy(bytes.data(), &value, width);
  return bytes;
}

inline std::string chunk(const std::string& id, const std::string& body) {
  return id + word(body.size(), 4) + body + std::string(body.size() % 2, '\0');
}

// At most `block` frames at a time, to the end.
inline Matrix<double> read_all(FrameReader& reader, Index block = 7) {
  Matrix<double> X(reader.layout().channels, 0);
  Matrix<double> part(reader.layout().channels, block);
  while (!reader.ended()) {
    const bool at_hand = reader.at_hand();
    const Index got = reader.read(part);
    EXPECT_GT(got, at_hand ? 0 : -1);
    X.conservativeResize(Eigen::NoChange, X.cols() + got);
    X.rightCols(got) = part.leftCols(got);
  }
  EXPECT_FALSE(reader.at_hand());
  EXPECT_EQ(reader.read(part), 0);
  return X;
}

inline Matrix<double> read_bytes(const std::string& bytes, FrameLayout layout) {
  const std::string path = temporary("in", bytes);
  FrameReader reader(path, std::move(layout));
  ::unlink(path.c_str());
  return read_all(reader);
}

template <typename F>
inline std::string message(F f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "accepted";
}

}  // namespace demix::io
