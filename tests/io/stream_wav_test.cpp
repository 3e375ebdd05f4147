#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "io/stream_support.hpp"

namespace demix::io {
namespace {

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

TEST(StreamIo, WavSampleFormats) {
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
      EXPECT_EQ(read_bytes(file, Encoding::wav, {.rate = 8000}), X) << c.tag << " " << c.bits;
      const std::string path = temporary("whole.wav", file);  // another decoder
      EXPECT_EQ(read_signals(path).data, X) << c.tag << " " << c.bits;
      const auto reader = open_signals(path);
      Matrix<double> last(2, 1);
      if (reader->random_access()) {  // by libsndfile
        reader->read_at(1, last);
        EXPECT_EQ(last, X.rightCols(1)) << c.tag << " " << c.bits;
        EXPECT_THROW(reader->read_at(2, last), Error);
      }
      ::unlink(path.c_str());
    }
  }
}

TEST(StreamIo, WavDataIsFoundAndItsLengthBelievedIfItCanBe) {
  const std::string format = chunk("fmt ", wav_format(1, 1, 16));
  const std::string data = word(0x2000, 2) + word(0xe000, 2) + word(0x4000, 2);
  const Matrix<double> X = Eigen::RowVector3d(0.25, -0.25, 0.5);
  EXPECT_EQ(read_bytes(wav(chunk("LIST", "odd") + format + chunk("fact", "1234") + chunk("data", data) +
                           chunk("LIST", "after")),
                       Encoding::wav),
            X);
  for (const std::uint32_t size : {0u, 0xffffffffu, 0x7ffff000u}) {
    EXPECT_EQ(read_bytes(wav(format + "data" + word(size, 4) + data), Encoding::wav), X) << size;
  }
  const std::string ds64 = chunk("ds64", word(0, 8) + word(4, 8) + word(2, 8) + word(0, 4));
  EXPECT_EQ(
      read_bytes("RF64" + word(0xffffffff, 4) + "WAVE" + ds64 + format + "data" + word(0xffffffff, 4) + data,
                 Encoding::wav),
      X.leftCols(2));

  // The end of the data is the end, whatever the pipe does after it.
  Pipe pipe;
  const Redirect input(STDIN_FILENO, pipe.from);
  pipe.put(wav(format + chunk("data", data)));
  StreamReader reader("-", Encoding::wav);
  Matrix<double> out(1, 3);
  EXPECT_EQ(reader.read_some(out), 3);
  EXPECT_TRUE(reader.ended());
  EXPECT_FALSE(reader.at_hand());
}

// Of a pipe it may be that whoever wrote it was stopped.
TEST(StreamIo, AWavThatIsCutOffIsRefusedAfterItsFramesUnlessItIsAPipe) {
  const Matrix<double> X = samples(Encoding::wav, 2, 5);
  const std::string cut = bytes_of(Encoding::wav, layout_of(Encoding::wav, 2), X).substr(0, 58 + 3 * 8);
  const std::string path = temporary("cut.wav", cut);
  StreamReader file(path, Encoding::wav);
  Matrix<double> out(2, 7);
  EXPECT_EQ(file.read_some(out), 3);
  EXPECT_EQ(Matrix<double>(out.leftCols(3)), Matrix<double>(X.leftCols(3)));
  EXPECT_FALSE(file.ended());
  EXPECT_EQ(message([&] { file.read_some(out); }),
            path + ": ends 16 bytes before its header says; it is cut off");
  ::unlink(path.c_str());
  Pipe pipe;
  const Redirect input(STDIN_FILENO, pipe.from);
  pipe.put(cut);
  pipe.close_to();
  StreamReader reader("-", Encoding::wav);
  EXPECT_EQ(read_all(reader), X.leftCols(3));
}

TEST(StreamIo, DamagedWavIsReadOrRefused) {
  const Matrix<double> X = samples(Encoding::wav, 2, 5);
  const std::string data = bytes_of(Encoding::wav, layout_of(Encoding::wav, 2), X).substr(58);
  const std::string whole =
      wav(chunk("LIST", "abc") + chunk("fmt ", extensible(3, 2, 32)) + chunk("data", data));
  const std::size_t header = whole.size() - data.size();
  ASSERT_EQ(read_bytes(whole, Encoding::wav, {}), X);
  const auto outcome = [](const std::string& bytes) {
    return message([&] { read_bytes(bytes, Encoding::wav, {}); });
  };
  for (std::size_t n = 0; n < whole.size(); ++n) {
    const std::string said = outcome(whole.substr(0, n));
    if (n < header) {
      EXPECT_NE(said.find("ends within its header"), std::string::npos) << n << said;
    } else if ((n - header) % 8 == 0) {
      EXPECT_NE(said.find(": ends " + std::to_string(whole.size() - n) + " bytes before its header says"),
                std::string::npos)
          << n << said;
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

TEST(StreamIo, WrongWavIsRefusedWithTheReason) {
  const auto said = [](const std::string& bytes, Index channels = 0, double rate = 0) {
    const std::string text =
        message([&] { read_bytes(bytes, Encoding::wav, {.channels = channels, .rate = rate}); });
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

TEST(StreamIo, WavHeaderIsPatchedWhereItIsOrNotAtAll) {
  const Matrix<double> X = Matrix<double>::Ones(1, 3);
  const std::string finished = bytes_of(Encoding::wav, layout_of(Encoding::wav, 1), X);
  for (const int flags : {0, O_APPEND}) {
    const std::string path = temporary("patched", "before");
    const int fd = ::open(path.c_str(), O_WRONLY | flags);
    ::lseek(fd, 0, SEEK_END);
    {
      const Redirect output(STDOUT_FILENO, fd);
      StreamWriter writer("-", Encoding::wav, layout_of(Encoding::wav, 1));
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

}  // namespace
}  // namespace demix::io
