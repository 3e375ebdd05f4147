#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <string>

#include "demix/random.hpp"
#include "demix/signal_stream.hpp"
#include "support.hpp"

/// What the tests of streams share: pipes, files, and reading them to the end.
namespace demix::io {

constexpr Encoding all_formats[] = {Encoding::f32, Encoding::f64, Encoding::wav, Encoding::csv,
                                    Encoding::tsv};

inline bool is_text(Encoding format) { return format == Encoding::csv || format == Encoding::tsv; }

inline std::string scratch(const std::string& name) {
  return ::testing::TempDir() + "stream_io_" + std::to_string(::getpid()) + "_" + name;
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

inline SignalInfo layout_of(Encoding format, Index channels) {
  SignalInfo info;
  info.channels = channels;
  if (format == Encoding::wav) info.rate = 8000;
  return info;
}

inline Matrix<double> samples(Encoding format, Index channels, Index frames) {
  const Matrix<double> X = Random(7).normal(channels, frames);
  if (format == Encoding::f32 || format == Encoding::wav) return X.cast<float>().cast<double>();
  return X;
}

inline std::string bytes_of(Encoding format, SignalInfo info, const Matrix<double>& X) {
  const std::string path = scratch("bytes");
  StreamWriter writer(path, format, std::move(info));
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
inline Matrix<double> read_all(StreamReader& reader, Index block = 7) {
  Matrix<double> X(reader.info().channels, 0);
  Matrix<double> part(reader.info().channels, block);
  while (!reader.ended()) {
    const bool at_hand = reader.at_hand();
    const Index got = reader.read_some(part);
    EXPECT_GT(got, at_hand ? 0 : -1);
    X.conservativeResize(Eigen::NoChange, X.cols() + got);
    X.rightCols(got) = part.leftCols(got);
  }
  EXPECT_FALSE(reader.at_hand());
  EXPECT_EQ(reader.read_some(part), 0);
  return X;
}

inline Matrix<double> read_bytes(const std::string& bytes, Encoding format, const ReadOptions& asked = {}) {
  const std::string path = temporary("in", bytes);
  StreamReader reader(path, format, asked);
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
