#include "demix/frame_io.hpp"

#include <fcntl.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <csignal>
#include <cstring>
#include <fstream>
#include <limits>
#include <string>
#include <thread>

#include "demix/random.hpp"
#include "support.hpp"

namespace demix::io {
namespace {

constexpr FrameFormat all_formats[] = {FrameFormat::f32, FrameFormat::f64, FrameFormat::wav,
                                       FrameFormat::csv};

std::string scratch(const std::string& name) {
  return ::testing::TempDir() + "frame_io_" + std::to_string(::getpid()) + "_" + name;
}

std::string temporary(const std::string& name, const std::string& bytes) {
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

FrameLayout layout_of(FrameFormat format, Index channels) {
  return {format, channels, format == FrameFormat::wav ? 8000.0 : 0.0, {}};
}

Matrix<double> samples(FrameFormat format, Index channels, Index frames) {
  const Matrix<double> X = Random(7).normal(channels, frames);
  if (format == FrameFormat::f32 || format == FrameFormat::wav) return X.cast<float>().cast<double>();
  return X;
}

std::string bytes_of(FrameLayout layout, const Matrix<double>& X) {
  const std::string path = scratch("bytes");
  FrameWriter writer(path, std::move(layout));
  writer.write(X);
  writer.finish();
  std::string bytes = read_file(path);
  EXPECT_EQ(writer.bytes(), bytes.size());
  ::unlink(path.c_str());
  return bytes;
}

// At most `block` frames at a time, to the end.
Matrix<double> read_all(FrameReader& reader, Index block = 7) {
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

Matrix<double> read_bytes(const std::string& bytes, FrameLayout layout) {
  const std::string path = temporary("in", bytes);
  FrameReader reader(path, std::move(layout));
  ::unlink(path.c_str());
  return read_all(reader);
}

template <typename F>
std::string message(F f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "accepted";
}

std::string word(std::uint64_t value, std::size_t width) {
  std::string bytes(width, '\0');
  std::memcpy(bytes.data(), &value, width);
  return bytes;
}

std::string chunk(const std::string& id, const std::string& body) {
  return id + word(body.size(), 4) + body + std::string(body.size() % 2, '\0');
}

std::string wav_format(unsigned tag, unsigned channels, unsigned bits) {
  const unsigned block = channels * bits / 8;
  return word(tag, 2) + word(channels, 2) + word(8000, 4) + word(8000 * block, 4) + word(block, 2) +
         word(bits, 2);
}

std::string extensible(unsigned tag, unsigned channels, unsigned bits) {
  return wav_format(0xfffe, channels, bits) + word(22, 2) + word(bits, 2) + word(0, 4) + word(tag, 2) +
         std::string("\x00\x00\x00\x00\x10\x00\x80\x00\x00\xaa\x00\x38\x9b\x71", 14);
}

std::string wav(const std::string& chunks) { return "RIFF" + word(4 + chunks.size(), 4) + "WAVE" + chunks; }

TEST(FrameIo, FormatsHaveNamesAndExtensions) {
  for (const FrameFormat format : all_formats) {
    const std::string name(frame_format_name(format));
    EXPECT_EQ(frame_format_named(name), format);
    EXPECT_EQ(frame_format_of("a.b/x." + name), format);
  }
  EXPECT_EQ(frame_format_of("X.WAV"), FrameFormat::wav);
  for (const char* path : {"x.raw", "x", "-", "wav", "x.xf32", ""})
    EXPECT_FALSE(frame_format_of(path)) << path;
  EXPECT_THROW(frame_format_named("raw"), std::invalid_argument);
}

TEST(FrameIo, RoundTripThroughFiles) {
  for (const FrameFormat format : all_formats) {
    const Matrix<double> X = samples(format, 3, 5000);  // beyond the buffers
    const std::string path = scratch("round_trip");
    FrameWriter first(path, layout_of(format, 3));
    first.write(X.leftCols(17));
    FrameWriter writer = std::move(first);
    writer.write(X.rightCols(X.cols() - 17));
    writer.sync();
    writer.finish();
    FrameReader first_reader(path, {format, 3, 0, {}});
    FrameReader reader = std::move(first_reader);
    EXPECT_EQ(reader.layout().rate, format == FrameFormat::wav ? 8000 : 0);
    EXPECT_EQ(read_all(reader, 999), X) << frame_format_name(format);
    ::unlink(path.c_str());
  }
}

TEST(FrameIo, RoundTripThroughDribblingPipes) {
  for (const FrameFormat format : all_formats) {
    for (const bool blocking : {true, false}) {
      const Matrix<double> X = samples(format, 3, 100);
      const std::string bytes = bytes_of(layout_of(format, 3), X);
      Pipe pipe;
      if (!blocking) ::fcntl(pipe.from, F_SETFL, O_NONBLOCK);
      const Redirect input(STDIN_FILENO, pipe.from);
      std::thread dribbler([&] {
        Random random(5);
        for (std::size_t at = 0; at < bytes.size();) {
          const std::string part = bytes.substr(at, 1 + static_cast<std::size_t>(random.below(7)));
          pipe.put(part);
          at += part.size();
        }
        pipe.close_to();
      });
      FrameReader reader("-", {format, 3, 0, {}});
      EXPECT_EQ(reader.fd(), STDIN_FILENO);
      EXPECT_EQ(read_all(reader), X) << frame_format_name(format);
      dribbler.join();
    }
  }
}

// The next frame is only sent once the one before has been read: holding one back would wait for ever.
TEST(FrameIo, FramesComeAsSoonAsTheyAreComplete) {
  for (const FrameFormat format : all_formats) {
    const Matrix<double> X = samples(format, 2, 20);
    const std::string header = bytes_of(layout_of(format, 2), X.leftCols(0));
    const auto frame = [&](Index t) {
      return bytes_of(layout_of(format, 2), X.middleCols(t, 1)).substr(header.size());
    };
    Pipe pipe;
    const Redirect input(STDIN_FILENO, pipe.from);
    pipe.put(format == FrameFormat::csv ? frame(0) : header);
    FrameReader reader("-", {format, 2, 0, {}});
    Matrix<double> out(2, 8);
    for (Index t = 0; t < X.cols(); ++t) {
      const bool there = format == FrameFormat::csv && t == 0;  // it tells the number of channels
      EXPECT_EQ(reader.at_hand(), there);
      if (!there) {
        for (const char c : frame(t)) pipe.put(std::string(1, c));
      }
      ASSERT_EQ(reader.read(out), 1);
      EXPECT_EQ(out.col(0), X.col(t));
      EXPECT_FALSE(reader.ended());
    }
    const Index pair = 2;  // what is there together is given out without another read
    pipe.put(frame(0) + frame(1) + frame(2).substr(0, 3));
    ASSERT_EQ(reader.read(out.leftCols(1)), 1);
    EXPECT_TRUE(reader.at_hand());
    ASSERT_EQ(reader.read(out), pair - 1);
    EXPECT_EQ(out.col(0), X.col(1));
    EXPECT_FALSE(reader.at_hand());
  }
}

TEST(FrameIo, PipesAreWrittenLikeFiles) {
  for (const FrameFormat format : all_formats) {
    const Matrix<double> X = samples(format, 2, 30);
    std::string expected = bytes_of(layout_of(format, 2), X);
    if (format == FrameFormat::wav) {
      for (const std::size_t at : {4, 46, 54}) expected.replace(at, 4, 4, '\xff');  // lengths stay unknown
    }
    Pipe pipe;
    {
      const Redirect output(STDOUT_FILENO, pipe.to);
      FrameWriter writer("-", layout_of(format, 2));
      writer.write(X);
      writer.sync();
      writer.finish();
    }
    std::string got(1 << 16, '\0');
    got.resize(static_cast<std::size_t>(::read(pipe.from, got.data(), got.size())));
    EXPECT_EQ(got, expected) << frame_format_name(format);
    EXPECT_EQ(read_bytes(got, {format, 2, 0, {}}), X);
  }
}

TEST(FrameIo, ASignalInterruptsAReadButEndsNothing) {
  struct sigaction action {};
  struct sigaction before {};
  action.sa_handler = [](int) {};  // no SA_RESTART
  ::sigaction(SIGALRM, &action, &before);
  const itimerval often{{0, 2000}, {0, 2000}};
  const itimerval never{};
  Pipe pipe;
  const Redirect input(STDIN_FILENO, pipe.from);
  FrameReader reader("-", {FrameFormat::f32, 1, 0, {}});
  Matrix<double> out(1, 1);
  ::setitimer(ITIMER_REAL, &often, nullptr);
  EXPECT_EQ(reader.read(out), 0);
  EXPECT_FALSE(reader.ended());
  EXPECT_THROW(reader.skip(1), Interrupted);
  EXPECT_THROW(FrameReader("-", {FrameFormat::wav, 0, 0, {}}), Interrupted);
  ::setitimer(ITIMER_REAL, &never, nullptr);
  ::sigaction(SIGALRM, &before, nullptr);
  pipe.put(word(0x3f800000, 4));
  EXPECT_EQ(reader.read(out), 1);
  EXPECT_EQ(out(0, 0), 1);
}

TEST(FrameIo, WavSampleFormats) {
  struct Case {
    unsigned tag;
    unsigned bits;
    std::string bytes;
    std::array<double, 4> values;
  };
  const auto single = [](double v) { return word(std::bit_cast<std::uint32_t>(static_cast<float>(v)), 4); };
  const auto twice = [](double v) { return word(std::bit_cast<std::uint64_t>(v), 8); };
  const Case cases[] = {
      {1, 8, std::string("\x80\x00\xff\x40", 4), {0, -1, 127 / 128.0, -0.5}},
      {1,
       16,
       word(0, 2) + word(0x8000, 2) + word(0x7fff, 2) + word(0xffff, 2),
       {0, -1, 32767 / 32768.0, -1 / 32768.0}},
      {1,
       24,
       word(0, 3) + word(0x800000, 3) + word(0x400000, 3) + word(0xffffff, 3),
       {0, -1, 0.5, -1 / 8388608.0}},
      {1,
       32,
       word(0, 4) + word(0x80000000, 4) + word(0x40000000, 4) + word(0xffffffff, 4),
       {0, -1, 0.5, -1 / 2147483648.0}},
      {3, 32, single(0) + single(-1) + single(0.5) + single(2.25), {0, -1, 0.5, 2.25}},
      {3, 64, twice(0) + twice(-1) + twice(0.1) + twice(1e300), {0, -1, 0.1, 1e300}},
  };
  for (const Case& c : cases) {
    const Matrix<double> X = Eigen::Map<const Eigen::Matrix2d>(c.values.data());
    for (const std::string& format : {wav_format(c.tag, 2, c.bits), extensible(c.tag, 2, c.bits)}) {
      const std::string file = wav(chunk("fmt ", format) + chunk("data", c.bytes));
      EXPECT_EQ(read_bytes(file, {FrameFormat::wav, 0, 8000, {}}), X) << c.tag << " " << c.bits;
    }
  }
}

TEST(FrameIo, WavDataIsFoundAndItsLengthBelievedIfItCanBe) {
  const std::string format = chunk("fmt ", wav_format(1, 1, 16));
  const std::string data = word(0x2000, 2) + word(0xe000, 2) + word(0x4000, 2);
  const Matrix<double> X = Eigen::RowVector3d(0.25, -0.25, 0.5);
  const FrameLayout any{FrameFormat::wav, 0, 0, {}};
  EXPECT_EQ(read_bytes(wav(chunk("LIST", "odd") + format + chunk("fact", "1234") + chunk("data", data) +
                           chunk("LIST", "after")),
                       any),
            X);
  for (const std::uint32_t size : {0u, 0xffffffffu, 1000u, 0x7ffff000u}) {
    EXPECT_EQ(read_bytes(wav(format + "data" + word(size, 4) + data), any), X) << size;
  }
  const std::string ds64 = chunk("ds64", word(0, 8) + word(4, 8) + word(2, 8) + word(0, 4));
  EXPECT_EQ(
      read_bytes("RF64" + word(0xffffffff, 4) + "WAVE" + ds64 + format + "data" + word(0xffffffff, 4) + data,
                 any),
      X.leftCols(2));

  // The end of the data is the end, whatever the pipe does after it.
  Pipe pipe;
  const Redirect input(STDIN_FILENO, pipe.from);
  pipe.put(wav(format + chunk("data", data)));
  FrameReader reader("-", any);
  Matrix<double> out(1, 3);
  EXPECT_EQ(reader.read(out), 3);
  EXPECT_TRUE(reader.ended());
  EXPECT_FALSE(reader.at_hand());
}

TEST(FrameIo, DamagedWavIsReadOrRefused) {
  const Matrix<double> X = samples(FrameFormat::wav, 2, 5);
  const std::string data = bytes_of(layout_of(FrameFormat::wav, 2), X).substr(58);
  const std::string whole =
      wav(chunk("LIST", "abc") + chunk("fmt ", extensible(3, 2, 32)) + chunk("data", data));
  const std::size_t header = whole.size() - data.size();
  ASSERT_EQ(read_bytes(whole, {FrameFormat::wav, 0, 0, {}}), X);
  const auto outcome = [](const std::string& bytes) {
    return message([&] { read_bytes(bytes, {FrameFormat::wav, 0, 0, {}}); });
  };
  for (std::size_t n = 0; n < whole.size(); ++n) {
    const std::string said = outcome(whole.substr(0, n));
    if (n < header) {
      EXPECT_NE(said.find("ends within its header"), std::string::npos) << n << said;
    } else if ((n - header) % 8 == 0) {
      EXPECT_EQ(said, "accepted") << n;
    } else {
      EXPECT_NE(said.find("ends with " + std::to_string((n - header) % 8) + " bytes of a frame of 8"),
                std::string::npos)
          << n << said;
    }
  }
  for (std::size_t at = 0; at < header; ++at) {
    for (int flip = 1; flip < 256; flip = 2 * flip + 1) {
      std::string bytes = whole;
      bytes[at] = static_cast<char>(bytes[at] ^ flip);
      outcome(bytes);
    }
  }
}

TEST(FrameIo, WrongWavIsRefusedWithTheReason) {
  const auto said = [](const std::string& bytes, Index channels = 0, double rate = 0) {
    const std::string text = message([&] { read_bytes(bytes, {FrameFormat::wav, channels, rate, {}}); });
    EXPECT_EQ(text.find('\n'), std::string::npos);
    return text.substr(text.find(": ") + 2);
  };
  const std::string good = chunk("fmt ", wav_format(1, 2, 16));
  const std::string data = chunk("data", "12345678");
  EXPECT_EQ(said("RIFX" + wav(good + data).substr(4)), "is a big-endian WAV (RIFX); convert it to RIFF");
  EXPECT_EQ(said("OggS" + wav(good + data).substr(4)),
            "is not a WAV file; its first bytes are not RIFF ... WAVE");
  EXPECT_EQ(said(wav(data)), "the WAV header has no 'fmt ' chunk before its data");
  EXPECT_EQ(said(wav(chunk("fmt ", "short") + data)), "the 'fmt ' chunk of the WAV header is too short");
  EXPECT_EQ(
      said(wav(chunk("fmt ", wav_format(0x55, 2, 16)) + data)),
      "WAV format 85 with 16 bits is not supported; use PCM of 8, 16, 24 or 32 bits or float of 32 or 64");
  EXPECT_EQ(said(wav(chunk("fmt ", wav_format(1, 0, 16)) + data)),
            "the WAV header says there are no channels; it is damaged");
  std::string block = wav_format(1, 2, 16);
  block[12] = 3;
  EXPECT_EQ(said(wav(chunk("fmt ", block) + data)),
            "the WAV header says 3 bytes per frame, but 2 channels of 16 bits; it is damaged");
  EXPECT_EQ(said(wav(good + data), 3), "has 2 channels where 3 were asked for");
  EXPECT_EQ(said(wav(good + data), 2, 44100.5), "has 8000 frames per second where 44100.5 were asked for");
  EXPECT_EQ(said(wav(good + chunk("data", "123456")), 2),
            "ends with 2 bytes of a frame of 4; it is cut off, or has another number of channels");
}

// Whole texts through a pipe: the same numbers, names and complaints as from parse_text().
TEST(FrameIo, TextIsReadAsParseTextDoes) {
  Random random(3);
  const std::string alphabet = "0123456789012345678901234567890123456789.,;-+eE  \t\n\n\n\rnaif#\"\xff";
  std::vector<std::string> texts = {"1,2\n3,4\n5,6\n",
                                    "1, 2\r\n3, 4\r\n\r\n+5, 6",
                                    "  1   2\n3 4 \n\n5\t6\n",
                                    "\xef\xbb\xbf# made by hand\na;'b c'\n1;2\n# more\n3;4",
                                    "\xef\xbb\xbf",
                                    "\xef\xbb",
                                    "nan,inf\n-inf,1e999\n1e-999,-nan\n",
                                    "1,x\n",
                                    "1,2\n3\n",
                                    "x,y\n1,2\n3,4,5\n",
                                    "1,2\n\n#\n3,oops\n",
                                    "1,2\n3,\n",
                                    "",
                                    "\n#\n",
                                    "\xe9,b\n1,2\n"};
  const auto any = [&] {
    return static_cast<std::size_t>(random.below(static_cast<Index>(alphabet.size())));
  };
  for (int k = 0; k < 3000; ++k) {
    std::string text = "a,b\n1,2\r\n3.5,-4e1\n\n# c\n+5,inf\n6,7";
    if (k % 2 == 0) text.resize(static_cast<std::size_t>(random.below(40)), '0');
    for (char& c : text) {
      if (k % 2 == 0 || random.below(30) == 0) c = alphabet[any()];
    }
    texts.push_back(text);
  }
  Index frames = 0;
  for (const std::string& text : texts) {
    Pipe pipe;
    const Redirect input(STDIN_FILENO, pipe.from);
    pipe.put(text);
    pipe.close_to();
    Matrix<double> got;
    Signals expected;
    std::vector<std::string> names;
    const std::string said = message([&] {
      FrameReader reader("-", {FrameFormat::csv, 0, 0, {}});
      names = reader.layout().names;
      got = read_all(reader);
    });
    const std::string should = message([&] { expected = parse_text(text, "standard input"); });
    if (said == "accepted" && got.size() == 0) continue;  // names alone: a stream that has not begun
    ASSERT_EQ(said, should) << text;
    ASSERT_EQ(names.size() > 0 && said == "accepted", expected.names.size() > 0) << text;
    if (said != "accepted") continue;
    EXPECT_EQ(names, expected.names);
    ASSERT_EQ(got.rows(), expected.data.rows()) << text;
    ASSERT_EQ(got.cols(), expected.data.cols()) << text;
    EXPECT_EQ(std::memcmp(got.data(), expected.data.data(), sizeof(double) * got.size()), 0)
        << text;  // NaN, too
    frames += got.cols();
  }
  EXPECT_GT(frames, 1000);
}

TEST(FrameIo, TextIsRefusedAfterTheFramesBefore) {
  const std::string path = temporary("bad.csv", "a,b\n1,2\n\n3,4\n5,oops\n6,7\n");
  FrameReader reader(path, {FrameFormat::csv, 2, 250, {}});
  EXPECT_EQ(reader.layout().names, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(reader.layout().rate, 250);
  Matrix<double> out(2, 10);
  EXPECT_EQ(reader.read(out), 2);
  EXPECT_EQ(out.leftCols(2), (Matrix<double>(2, 2) << 1, 3, 2, 4).finished());
  for (int again = 0; again < 2; ++again) {
    EXPECT_EQ(message([&] { reader.read(out); }), path + ": line 5, column 2: 'oops' is not a number");
  }
  EXPECT_EQ(message([&] {
              FrameReader(path, {FrameFormat::csv, 3, 0, {}});
            }),
            path + ": has 2 channels where 3 were asked for");
  ::unlink(path.c_str());

  const std::string endless = temporary("endless.csv", "1\n" + std::string((1 << 24) + 1, '2'));
  FrameReader long_line(endless, {FrameFormat::csv, 0, 0, {}});
  Matrix<double> one(1, 10);
  EXPECT_EQ(long_line.read(one), 1);
  EXPECT_EQ(message([&] { long_line.read(one); }),
            endless + ": line 2 is longer than 16 MiB; is it text, one frame per line?");
  ::unlink(endless.c_str());
}

TEST(FrameIo, NamesReadBackAsNames) {
  const auto back = [](const std::vector<std::string>& names) {
    const auto channels = static_cast<Index>(names.size());
    const std::string path = temporary(
        "names.csv", bytes_of({FrameFormat::csv, channels, 0, names}, Matrix<double>::Ones(channels, 2)));
    FrameReader reader(path, {FrameFormat::csv, channels, 0, {}});
    ::unlink(path.c_str());
    EXPECT_EQ(read_all(reader).cols(), 2);
    return reader.layout().names;
  };
  const std::vector<std::string> hard = {"#1", "2", "+nan", "", " a ", "'b'", "C 3;x", "plain", "1e999"};
  EXPECT_EQ(back(hard), hard);
  EXPECT_EQ(back({"a,b", "c\nd"}), (std::vector<std::string>{"a b", "c d"}));
  EXPECT_EQ(back({"C 3"}), (std::vector<std::string>{"C_3"}));
  EXPECT_EQ(back({""}), (std::vector<std::string>{""}));
}

TEST(FrameIo, PartialLastFrameIsRefusedAfterTheWholeOnes) {
  const std::string path = temporary("partial.f64", std::string(16 * 3 + 5, '\0'));
  FrameReader reader(path, {FrameFormat::f64, 2, 0, {}});
  Matrix<double> out(2, 10);
  EXPECT_EQ(reader.read(out), 3);
  EXPECT_FALSE(reader.ended());
  for (int again = 0; again < 2; ++again) {
    EXPECT_EQ(
        message([&] { reader.read(out); }),
        path + ": ends with 5 bytes of a frame of 16; it is cut off, or has another number of channels");
    EXPECT_TRUE(reader.at_hand());
  }
  ::unlink(path.c_str());
}

TEST(FrameIo, RawInputMustBeDescribed) {
  const std::string path = temporary("x.f32", "12345678");
  EXPECT_EQ(message([&] {
              FrameReader(path, {FrameFormat::f32, 0, 0, {}});
            }),
            path + ": raw f32 does not say how many channels it has; give their number");
  EXPECT_THROW(FrameReader(path, {FrameFormat::f32, Index(1) << 60, 0, {}}), Error);
  EXPECT_THROW(FrameReader(path, {FrameFormat::f32, 2, 0, {"one"}}), Error);
  FrameReader reader(path, {FrameFormat::f32, 2, 500, {"l", "r"}});
  EXPECT_EQ(reader.layout().rate, 500);
  EXPECT_EQ(reader.layout().names.size(), 2);
  Matrix<double> narrow(1, 1);
  Matrix<double> none(2, 0);
  EXPECT_THROW(reader.read(narrow), std::invalid_argument);
  EXPECT_EQ(reader.read(none), 0);
  EXPECT_FALSE(reader.ended());
  ::unlink(path.c_str());
  EXPECT_THROW(FrameReader(path, {FrameFormat::f32, 2, 0, {}}), Error);
  EXPECT_THROW(FrameReader(::testing::TempDir(), {FrameFormat::f32, 2, 0, {}}), Error);
}

TEST(FrameIo, SkippingIsReading) {
  for (const FrameFormat format : all_formats) {
    const Index frames = 30000;  // more than is buffered
    const Matrix<double> X = samples(format, 1, frames);
    const std::string bytes =
        bytes_of(layout_of(format, 1), X) + (format == FrameFormat::wav ? chunk("LIST", "abcd") : "");
    const std::string path = temporary("skip", bytes);
    for (const bool piped : {false, true}) {
      for (const Index first : {Index{0}, Index{3}}) {
        for (const Index skipped : {Index{0}, Index{1}, Index{25000}, frames - first, frames - first + 1}) {
          Pipe pipe;
          std::thread feeder([&] {
            if (piped) static_cast<void>(!::write(pipe.to, bytes.data(), bytes.size()));
            pipe.close_to();
          });
          {
            const Redirect input(STDIN_FILENO, pipe.from);
            FrameReader reader(piped ? "-" : path, {format, 1, 0, {}});
            Matrix<double> out(1, 3);
            if (first > 0) {
              EXPECT_EQ(reader.read(out), 3);
            }
            if (first + skipped > frames) {
              EXPECT_NE(message([&] { reader.skip(skipped); })
                            .find("ends after " + std::to_string(frames - first) + " of the " +
                                  std::to_string(skipped) + " frames to skip"),
                        std::string::npos);
            } else {
              reader.skip(skipped);
              EXPECT_EQ(read_all(reader, 1000), X.rightCols(frames - first - skipped))
                  << frame_format_name(format) << piped << first << " " << skipped;
            }
          }
          feeder.join();
        }
      }
    }
    FrameReader reader(path, {format, 1, 0, {}});
    EXPECT_THROW(reader.skip(-1), std::invalid_argument);
    EXPECT_THROW(reader.skip(std::numeric_limits<std::int64_t>::max()), Error);
    ::unlink(path.c_str());
  }
}

TEST(FrameIo, ResumedIsUninterrupted) {
  for (const FrameFormat format : all_formats) {
    FrameLayout layout = layout_of(format, 2);
    if (format == FrameFormat::csv) layout.names = {"a", "b"};
    const Matrix<double> X = samples(format, 2, 50);
    const std::string expected = bytes_of(layout, X);
    for (const bool finished : {false, true}) {
      const std::string path = scratch("resumed");
      std::uint64_t bytes = 0;
      {
        FrameWriter writer(path, layout);
        EXPECT_EQ(writer.bytes(), bytes_of(layout, X.leftCols(0)).size());
        writer.write(X.leftCols(20));
        writer.flush();
        bytes = writer.bytes();
        writer.write(X.leftCols(7));  // after the state was saved
        finished ? writer.finish() : writer.flush();
      }
      {
        FrameWriter writer = FrameWriter::resume(path, layout, bytes);
        EXPECT_EQ(writer.bytes(), bytes);
        EXPECT_EQ(read_bytes(read_file(path), {format, 2, 0, {}}), X.leftCols(20));
        writer.write(X.rightCols(30));
        writer.finish();
      }
      EXPECT_EQ(read_file(path), expected) << frame_format_name(format);
      ::unlink(path.c_str());
    }
  }
}

TEST(FrameIo, ResumingTheWrongOutputIsRefusedAndLeavesItAlone) {
  const std::string bytes = bytes_of(layout_of(FrameFormat::wav, 2), Matrix<double>::Ones(2, 5));
  const std::string path = temporary("wrong.wav", bytes);
  const std::string belongs = "the output does not belong to the state";
  const auto said = [&](const std::string& name, Index channels, std::uint64_t at) {
    return message([&] { FrameWriter::resume(name, layout_of(FrameFormat::wav, channels), at); });
  };
  EXPECT_EQ(said(path, 2, 1000), path + ": has 98 bytes where 1000 had been written; " + belongs);
  EXPECT_NE(said(path, 3, 70).find(belongs), std::string::npos);
  EXPECT_NE(said(path, 2, 57).find(belongs), std::string::npos);
  EXPECT_EQ(read_file(path), bytes);
  ::unlink(path.c_str());
  EXPECT_NE(said(path, 2, 58).find("cannot write"), std::string::npos);
  EXPECT_EQ(said("/dev/null", 2, 0), "/dev/null: cannot go on with it; it is not a regular file");

  Pipe pipe;
  {
    const Redirect output(STDOUT_FILENO, pipe.to);
    FrameWriter writer = FrameWriter::resume("-", layout_of(FrameFormat::wav, 1), 5000);
    writer.write(Matrix<double>::Ones(1, 2));
    writer.finish();
    EXPECT_EQ(writer.bytes(), 5008);
  }
  std::array<char, 100> got{};
  EXPECT_EQ(::read(pipe.from, got.data(), got.size()), 8);
}

TEST(FrameIo, WavHeaderIsPatchedWhereItIsOrNotAtAll) {
  const Matrix<double> X = Matrix<double>::Ones(1, 3);
  const std::string finished = bytes_of(layout_of(FrameFormat::wav, 1), X);
  for (const int flags : {0, O_APPEND}) {
    const std::string path = temporary("patched", "before");
    const int fd = ::open(path.c_str(), O_WRONLY | flags);
    ::lseek(fd, 0, SEEK_END);
    {
      const Redirect output(STDOUT_FILENO, fd);
      FrameWriter writer("-", layout_of(FrameFormat::wav, 1));
      writer.write(X);
      writer.finish();
    }
    ::close(fd);
    std::string expected = finished;
    if (flags != 0) {
      for (const std::size_t at : {4, 46, 54}) expected.replace(at, 4, 4, '\xff');
    }
    EXPECT_EQ(read_file(path), "before" + expected);
    ::unlink(path.c_str());
  }
}

TEST(FrameIo, WhatCannotBeWrittenIsRefused) {
  const std::string path = temporary("kept.wav", "precious");
  EXPECT_THROW(FrameWriter(path, {FrameFormat::wav, 2, 0, {}}), Error);
  EXPECT_THROW(FrameWriter(path, {FrameFormat::wav, 2, 250.5, {}}), Error);
  EXPECT_THROW(FrameWriter(path, {FrameFormat::wav, 20000, 250, {}}), Error);
  EXPECT_THROW(FrameWriter(path, {FrameFormat::f32, 0, 0, {}}), std::invalid_argument);
  EXPECT_THROW(FrameWriter(path, {FrameFormat::csv, 2, 0, {"a"}}), std::invalid_argument);
  EXPECT_EQ(read_file(path), "precious");
  FrameWriter writer(path, {FrameFormat::f32, 2, 0, {}});
  EXPECT_THROW(writer.write(Matrix<double>::Ones(3, 1)), std::invalid_argument);
  ::unlink(path.c_str());
  EXPECT_THROW(FrameWriter(::testing::TempDir(), {FrameFormat::f32, 2, 0, {}}), Error);
  if (::access("/dev/full", W_OK) == 0) {
    FrameWriter full("/dev/full", {FrameFormat::f32, 1, 0, {}});
    full.write(Matrix<double>::Ones(1, 1));
    EXPECT_NE(message([&] { full.flush(); }).find("/dev/full: cannot write: "), std::string::npos);
    EXPECT_EQ(full.bytes(), 0);
  }
}

TEST(FrameIo, FloatsAreClamped) {
  const double largest = std::numeric_limits<float>::max();
  const double infinite = std::numeric_limits<double>::infinity();
  Matrix<double> X(1, 6);
  X << 1e39, -1e300, infinite, -infinite, std::nan(""), 0.5;
  const Matrix<double> back =
      read_bytes(bytes_of({FrameFormat::f32, 1, 0, {}}, X), {FrameFormat::f32, 1, 0, {}});
  EXPECT_EQ(back.leftCols(4), Eigen::RowVector4d(largest, -largest, largest, -largest));
  EXPECT_TRUE(std::isnan(back(0, 4)));
  EXPECT_EQ(back(0, 5), 0.5);
}

TEST(FrameIo, AClosedPipeIsToldApart) {
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  Pipe pipe;
  bool closed = false;
  {
    const Redirect output(STDOUT_FILENO, pipe.to);
    FrameWriter writer("-", layout_of(FrameFormat::f64, 2));
    pipe.close_from();
    writer.write(Matrix<double>::Ones(2, 2));
    try {
      writer.flush();
    } catch (const ClosedPipe&) {
      closed = true;
    }
  }
  EXPECT_TRUE(closed);
  std::signal(SIGPIPE, before);
}

TEST(FrameIo, ASlowReaderOfAFullPipeGetsEverything) {
  const Matrix<double> X = samples(FrameFormat::f64, 2, 20000);
  for (const int flags : {0, O_NONBLOCK}) {
    Pipe pipe;
    ::fcntl(pipe.to, F_SETFL, flags);
    std::string got;
    std::thread reader([&] {
      std::array<char, 10007> part{};
      for (ssize_t n = 1; n > 0;) {
        n = ::read(pipe.from, part.data(), part.size());
        if (n > 0) got.append(part.data(), static_cast<std::size_t>(n));
      }
    });
    {
      const Redirect output(STDOUT_FILENO, pipe.to);
      FrameWriter writer("-", layout_of(FrameFormat::f64, 2));
      writer.write(X);
      writer.finish();
    }
    pipe.close_to();
    reader.join();
    EXPECT_EQ(got, bytes_of(layout_of(FrameFormat::f64, 2), X));
  }
}

}  // namespace
}  // namespace demix::io
