#include <sys/time.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <csignal>
#include <limits>
#include <thread>

#include "io/stream_support.hpp"

namespace demix::io {
namespace {

TEST(StreamIo, FormatsHaveNamesAndExtensions) {
  for (const Encoding format : all_formats) {
    const std::string name(encoding_name(format));
    EXPECT_EQ(encoding_named(name), format);
    EXPECT_EQ(encoding_of("a.b/x." + name), format);
  }
  EXPECT_EQ(encoding_of("X.WAV"), Encoding::wav);
  for (const char* path : {"x.raw", "x", "-", "wav", "x.xf32", "x.npy", ""})
    EXPECT_FALSE(encoding_of(path)) << path;
  EXPECT_THROW(encoding_named("raw"), std::invalid_argument);
}

TEST(StreamIo, RoundTripThroughFiles) {
  for (const Encoding format : all_formats) {
    const Matrix<double> X = samples(format, 3, 5000);  // beyond the buffers
    const std::string path = scratch("round_trip");
    StreamWriter first(path, format, layout_of(format, 3));
    first.write(X.leftCols(17));
    StreamWriter writer = std::move(first);
    writer.write(X.rightCols(X.cols() - 17));
    writer.sync();
    writer.finish();
    StreamReader first_reader(path, format, {.channels = 3});
    StreamReader reader = std::move(first_reader);
    EXPECT_EQ(reader.info().rate, format == Encoding::wav ? 8000 : 0);
    EXPECT_EQ(read_all(reader, 999), X) << encoding_name(format);
    ::unlink(path.c_str());
  }
}

TEST(StreamIo, CountsWhatWholeNumbersCannotHold) {
  const Matrix<double> X = (Matrix<double>(2, 3) << 1, -1, 1.5, -2, std::nan(""), 0.5).finished();
  for (const Encoding format : all_formats) {
    const bool whole = format == Encoding::s16 || format == Encoding::s32;
    const std::string path = scratch("clipped");
    StreamWriter writer(path, format, layout_of(format, 2));
    writer.write(X);
    writer.write(X);
    EXPECT_EQ(writer.clipped(), whole ? 4 : 0) << encoding_name(format);
    ::unlink(path.c_str());
  }
}

TEST(StreamIo, RoundTripThroughDribblingPipes) {
  for (const Encoding format : all_formats) {
    for (const bool blocking : {true, false}) {
      const Matrix<double> X = samples(format, 3, 100);
      const std::string bytes = bytes_of(format, layout_of(format, 3), X);
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
      StreamReader reader("-", format, {.channels = 3});
      EXPECT_EQ(reader.fd(), STDIN_FILENO);
      EXPECT_EQ(read_all(reader), X) << encoding_name(format);
      dribbler.join();
    }
  }
}

// The next frame is only sent once the one before has been read: holding one back would wait for ever.
TEST(StreamIo, FramesComeAsSoonAsTheyAreComplete) {
  for (const Encoding format : all_formats) {
    const Matrix<double> X = samples(format, 2, 20);
    const std::string header = bytes_of(format, layout_of(format, 2), X.leftCols(0));
    const auto frame = [&](Index t) {
      return bytes_of(format, layout_of(format, 2), X.middleCols(t, 1)).substr(header.size());
    };
    Pipe pipe;
    const Redirect input(STDIN_FILENO, pipe.from);
    pipe.put(is_text(format) ? frame(0) : header);
    StreamReader reader("-", format, {.channels = 2});
    Matrix<double> out(2, 8);
    for (Index t = 0; t < X.cols(); ++t) {
      const bool there = is_text(format) && t == 0;  // it tells the number of channels
      EXPECT_EQ(reader.at_hand(), there);
      if (!there) {
        for (const char c : frame(t)) pipe.put(std::string(1, c));
      }
      ASSERT_EQ(reader.read_some(out), 1);
      EXPECT_EQ(out.col(0), X.col(t));
      EXPECT_FALSE(reader.ended());
    }
    const Index pair = 2;  // what is there together is given out without another read
    pipe.put(frame(0) + frame(1) + frame(2).substr(0, 3));
    ASSERT_EQ(reader.read_some(out.leftCols(1)), 1);
    EXPECT_TRUE(reader.at_hand());
    ASSERT_EQ(reader.read_some(out), pair - 1);
    EXPECT_EQ(out.col(0), X.col(1));
    EXPECT_FALSE(reader.at_hand());
  }
}

TEST(StreamIo, PipesAreWrittenLikeFiles) {
  for (const Encoding format : all_formats) {
    const Matrix<double> X = samples(format, 2, 30);
    std::string expected = bytes_of(format, layout_of(format, 2), X);
    if (format == Encoding::wav) {
      for (const std::size_t at : {4, 46, 54}) expected.replace(at, 4, 4, '\xff');  // lengths stay unknown
    }
    Pipe pipe;
    {
      const Redirect output(STDOUT_FILENO, pipe.to);
      StreamWriter writer("-", format, layout_of(format, 2));
      writer.write(X);
      writer.sync();
      writer.finish();
    }
    std::string got(1 << 16, '\0');
    got.resize(static_cast<std::size_t>(::read(pipe.from, got.data(), got.size())));
    EXPECT_EQ(got, expected) << encoding_name(format);
    EXPECT_EQ(read_bytes(got, format, {.channels = 2}), X);
  }
}

TEST(StreamIo, ASignalInterruptsAReadButEndsNothing) {
  struct sigaction action {};
  struct sigaction before {};
  action.sa_handler = [](int) {};  // no SA_RESTART
  ::sigaction(SIGALRM, &action, &before);
  const itimerval often{{0, 2000}, {0, 2000}};
  const itimerval never{};
  Pipe pipe;
  const Redirect input(STDIN_FILENO, pipe.from);
  StreamReader reader("-", Encoding::f32, {.channels = 1});
  Matrix<double> out(1, 1);
  ::setitimer(ITIMER_REAL, &often, nullptr);
  EXPECT_EQ(reader.read_some(out), 0);
  EXPECT_FALSE(reader.ended());
  EXPECT_THROW(reader.skip(1), Interrupted);
  EXPECT_THROW(StreamReader("-", Encoding::wav, {}), Interrupted);
  ::setitimer(ITIMER_REAL, &never, nullptr);
  ::sigaction(SIGALRM, &before, nullptr);
  pipe.put(word(0x3f800000, 4));
  EXPECT_EQ(reader.read_some(out), 1);
  EXPECT_EQ(out(0, 0), 1);
}

TEST(StreamIo, PartialLastFrameIsRefusedAfterTheWholeOnes) {
  const std::string path = temporary("partial.f64", std::string(16 * 3 + 5, '\0'));
  StreamReader reader(path, Encoding::f64, {.channels = 2});
  Matrix<double> out(2, 10);
  EXPECT_EQ(reader.read_some(out), 3);
  EXPECT_FALSE(reader.ended());
  for (int again = 0; again < 2; ++again) {
    EXPECT_EQ(
        message([&] { reader.read_some(out); }),
        path + ": ends with 5 bytes of a frame of 16; it is cut off, or has another number of channels");
    EXPECT_TRUE(reader.at_hand());
  }
  ::unlink(path.c_str());
}

TEST(StreamIo, RawInputMustBeDescribed) {
  const std::string path = temporary("x.f32", "12345678");
  EXPECT_EQ(message([&] { StreamReader(path, Encoding::f32, {}); }),
            path + ": raw f32 does not say how many channels it has; give their number");
  EXPECT_THROW(StreamReader(path, Encoding::f32, {.channels = Index(1) << 60}), Error);
  StreamReader reader(path, Encoding::f32, {.channels = 2, .rate = 500});
  EXPECT_EQ(reader.info().rate, 500);
  EXPECT_EQ(reader.info().frames, 1);
  Matrix<double> narrow(1, 1);
  Matrix<double> none(2, 0);
  EXPECT_THROW(reader.read_some(narrow), std::invalid_argument);
  EXPECT_EQ(reader.read_some(none), 0);
  EXPECT_FALSE(reader.ended());
  ::unlink(path.c_str());
  EXPECT_THROW(StreamReader(path, Encoding::f32, {.channels = 2}), Error);
  EXPECT_THROW(StreamReader(::testing::TempDir(), Encoding::f32, {.channels = 2}), Error);
}

TEST(StreamIo, ALengthIsKnownWhereItCanBe) {
  for (const Encoding format : all_formats) {
    const Matrix<double> X = samples(format, 2, 30000);
    const std::string path = temporary("length", bytes_of(format, layout_of(format, 2), X));
    StreamReader reader(path, format, {.channels = 2});
    EXPECT_EQ(reader.info().frames, is_text(format) ? 0 : 30000) << encoding_name(format);
    Matrix<double> out(2, 7000);
    double before = *reader.progress();
    EXPECT_LT(before, 0.01);
    while (reader.read(out) > 0) {
      EXPECT_GT(*reader.progress(), before);
      before = *reader.progress();
    }
    EXPECT_EQ(before, 1);
    reader.rewind();
    ASSERT_EQ(reader.read(out), 7000);
    EXPECT_EQ(out, X.leftCols(7000));
    ::unlink(path.c_str());
  }
  Pipe pipe;
  const Redirect input(STDIN_FILENO, pipe.from);
  StreamReader reader("-", Encoding::f32, {.channels = 2});
  EXPECT_FALSE(reader.progress());
  EXPECT_EQ(reader.info().frames, 0);
  EXPECT_THROW(reader.rewind(), Error);
}

TEST(StreamIo, SkippingIsReading) {
  for (const Encoding format : all_formats) {
    const Index frames = 30000;  // more than is buffered
    const Matrix<double> X = samples(format, 1, frames);
    const std::string bytes =
        bytes_of(format, layout_of(format, 1), X) + (format == Encoding::wav ? chunk("LIST", "abcd") : "");
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
            StreamReader reader(piped ? "-" : path, format, {.channels = 1});
            Matrix<double> out(1, 3);
            if (first > 0) {
              EXPECT_EQ(reader.read_some(out), 3);
            }
            if (first + skipped > frames) {
              EXPECT_NE(message([&] { reader.skip(skipped); })
                            .find("ends after " + std::to_string(frames - first) + " of the " +
                                  std::to_string(skipped) + " frames to skip"),
                        std::string::npos);
            } else {
              reader.skip(skipped);
              EXPECT_EQ(read_all(reader, 1000), X.rightCols(frames - first - skipped))
                  << encoding_name(format) << piped << first << " " << skipped;
            }
          }
          feeder.join();
        }
      }
    }
    StreamReader reader(path, format, {.channels = 1});
    EXPECT_THROW(reader.skip(-1), std::invalid_argument);
    EXPECT_THROW(reader.skip(std::numeric_limits<std::int64_t>::max()), Error);
    ::unlink(path.c_str());
  }
}

TEST(StreamIo, ResumedIsUninterrupted) {
  for (const Encoding format : all_formats) {
    SignalInfo layout = layout_of(format, 2);
    if (is_text(format)) layout.names = {"a", "b"};
    const Matrix<double> X = samples(format, 2, 50);
    const std::string expected = bytes_of(format, layout, X);
    for (const bool finished : {false, true}) {
      const std::string path = scratch("resumed");
      std::uint64_t bytes = 0;
      {
        StreamWriter writer(path, format, layout);
        EXPECT_EQ(writer.bytes(), bytes_of(format, layout, X.leftCols(0)).size());
        writer.write(X.leftCols(20));
        writer.flush();
        bytes = writer.bytes();
        writer.write(X.leftCols(7));  // after the state was saved
        finished ? writer.finish() : writer.flush();
      }
      {
        StreamWriter writer = StreamWriter::resume(path, format, layout, {bytes, -1, {}});
        EXPECT_EQ(writer.bytes(), bytes);
        EXPECT_EQ(read_bytes(read_file(path), format, {.channels = 2}), X.leftCols(20));
        writer.write(X.rightCols(30));
        writer.finish();
      }
      EXPECT_EQ(read_file(path), expected) << encoding_name(format);
      ::unlink(path.c_str());
    }
  }
}

TEST(StreamIo, ResumingTheWrongOutputIsRefusedAndLeavesItAlone) {
  const std::string bytes = bytes_of(Encoding::wav, layout_of(Encoding::wav, 2), Matrix<double>::Ones(2, 5));
  const std::string path = temporary("wrong.wav", bytes);
  const std::string belongs = "the output does not belong to the state";
  const auto said = [&](const std::string& name, Index channels, std::uint64_t at) {
    return message([&] {
      StreamWriter::resume(name, Encoding::wav, layout_of(Encoding::wav, channels), {at, -1, {}});
    });
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
    StreamWriter writer =
        StreamWriter::resume("-", Encoding::wav, layout_of(Encoding::wav, 1), {5000, -1, {}});
    writer.write(Matrix<double>::Ones(1, 2));
    writer.finish();
    EXPECT_EQ(writer.bytes(), 5008);
  }
  std::array<char, 100> got{};
  EXPECT_EQ(::read(pipe.from, got.data(), got.size()), 8);
}

TEST(StreamIo, WhatCannotBeWrittenIsRefused) {
  const std::string path = temporary("kept.wav", "precious");
  EXPECT_THROW(StreamWriter(path, Encoding::wav, {.channels = 2}), Error);
  EXPECT_THROW(StreamWriter(path, Encoding::wav, {.channels = 2, .rate = 250.5}), Error);
  EXPECT_THROW(StreamWriter(path, Encoding::wav, {.channels = 20000, .rate = 250}), Error);
  EXPECT_THROW(StreamWriter(path, Encoding::f32, {}), std::invalid_argument);
  EXPECT_THROW(StreamWriter(path, Encoding::csv, {.channels = 2, .names = {"a"}}), std::invalid_argument);
  EXPECT_EQ(read_file(path), "precious");
  StreamWriter writer(path, Encoding::f32, {.channels = 2});
  EXPECT_THROW(writer.write(Matrix<double>::Ones(3, 1)), std::invalid_argument);
  ::unlink(path.c_str());
  EXPECT_THROW(StreamWriter(::testing::TempDir(), Encoding::f32, {.channels = 2}), Error);
  if (::access("/dev/full", W_OK) == 0) {
    StreamWriter full("/dev/full", Encoding::f32, {.channels = 1});
    full.write(Matrix<double>::Ones(1, 1));
    EXPECT_NE(message([&] { full.flush(); }).find("/dev/full: cannot write: "), std::string::npos);
    EXPECT_EQ(full.bytes(), 0);
  }
}

TEST(StreamIo, FloatsAreClamped) {
  const double largest = std::numeric_limits<float>::max();
  const double infinite = std::numeric_limits<double>::infinity();
  Matrix<double> X(1, 6);
  X << 1e39, -1e300, infinite, -infinite, std::nan(""), 0.5;
  const Matrix<double> back =
      read_bytes(bytes_of(Encoding::f32, {.channels = 1}, X), Encoding::f32, {.channels = 1});
  EXPECT_EQ(back.leftCols(4), Eigen::RowVector4d(largest, -largest, largest, -largest));
  EXPECT_TRUE(std::isnan(back(0, 4)));
  EXPECT_EQ(back(0, 5), 0.5);
}

TEST(StreamIo, AClosedPipeIsToldApart) {
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  Pipe pipe;
  bool closed = false;
  {
    const Redirect output(STDOUT_FILENO, pipe.to);
    StreamWriter writer("-", Encoding::f64, layout_of(Encoding::f64, 2));
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

TEST(StreamIo, ASlowReaderOfAFullPipeGetsEverything) {
  const Matrix<double> X = samples(Encoding::f64, 2, 20000);
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
      StreamWriter writer("-", Encoding::f64, layout_of(Encoding::f64, 2));
      writer.write(X);
      writer.finish();
    }
    pipe.close_to();
    reader.join();
    EXPECT_EQ(got, bytes_of(Encoding::f64, layout_of(Encoding::f64, 2), X));
  }
}

}  // namespace
}  // namespace demix::io
