#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "demix/random.hpp"
#include "demix/signal_files.hpp"
#include "io/edf_fields.hpp"
#include "support.hpp"

namespace demix::io {
namespace {
namespace fs = std::filesystem;

class Edf : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    folder_ = fs::temp_directory_path() /
              ("demix-edf-" + std::to_string(::getpid()) + "-" + fs::path(name).filename().string());
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path file(const std::string& stem = "x") const { return folder_ / (stem + GetParam()); }
  double levels() const { return std::string(GetParam()) == ".edf" ? 65535 : 16777215; }

  static std::vector<ValueRange> ranges_of(const Matrix<double>& X) {
    std::vector<ValueRange> ranges;
    for (Index i = 0; X.cols() > 0 && i < X.rows(); ++i)
      ranges.push_back({X.row(i).minCoeff(), X.row(i).maxCoeff()});
    return ranges;
  }

  static void write(const fs::path& path, const Matrix<double>& X, SignalInfo info, Index block = 1000) {
    info.channels = X.rows();
    NewFiles files;
    const auto writer = create_signals(files, path, info, ranges_of(X));
    for (Index t = 0; t < X.cols(); t += block) writer->write(X.middleCols(t, std::min(block, X.cols() - t)));
    writer->finish();
    files.commit();
  }

  static Matrix<double> read(SignalReader& reader, Index block = 777) {
    Matrix<double> X(reader.info().channels, 0), part(reader.info().channels, block);
    while (const Index got = reader.read(part)) {
      X.conservativeResize(Eigen::NoChange, X.cols() + got);
      X.rightCols(got) = part.leftCols(got);
    }
    return X;
  }
  static Matrix<double> read(const fs::path& path) { return read(*open_signals(path)); }

  // Within half a step, where the limits are at most `slack` wider than the data.
  void expect_close(const Matrix<double>& got, const Matrix<double>& X, double slack = 0.02) const {
    ASSERT_EQ(got.rows(), X.rows());
    ASSERT_EQ(got.cols(), X.cols());
    for (Index i = 0; i < X.rows(); ++i) {
      const double span = X.row(i).maxCoeff() - X.row(i).minCoeff();
      EXPECT_LE((got.row(i) - X.row(i)).cwiseAbs().maxCoeff(), 0.5001 * span * (1 + slack) / levels()) << i;
    }
  }

  static std::string bytes_of(const fs::path& path) { return read_file(path); }

  void expect_refused(const std::string& bytes, const std::string& part) const {
    std::ofstream(file("bad"), std::ios::binary) << bytes;
    try {
      read(file("bad"));
      FAIL() << "accepted; expected: " << part;
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
      EXPECT_EQ(std::string(e.what()).find(file("bad").string() + ": "), 0U) << e.what();
      EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos);
    }
  }

  static SignalInfo facts_at(double rate, Index frames) {
    SignalInfo info;
    info.rate = rate;
    info.frames = frames;
    return info;
  }

  // Two signals of four samples a second, three seconds.
  std::string small() const {
    write(file("small"), Random(3).normal(2, 12), facts_at(4, 12));
    return bytes_of(file("small"));
  }

  static std::string with(std::string bytes, std::size_t at, const std::string& text) {
    return bytes.replace(at, text.size(), text);
  }

  fs::path folder_;
};

TEST_P(Edf, KeepsSamplesNamesUnitsRateStartAndAnnotations) {
  Matrix<double> X = 40 * Random(1).normal(3, 2570);
  X.row(1).array() += 1000;
  SignalInfo info = facts_at(257, 2570);
  info.names = {"EEG Fpz", "a name that is too long to keep", "T\u00e9mp"};
  info.units = {"\u00b5V", "mV", "\u00b0C"};
  info.start = "2011-04-05T06:07:08";
  info.annotations = {{0, -1, "begin"}, {1.25, 0.5, "blink \u00e9"}, {9.9999, 0, "end"}};
  write(file(), X, info);

  const auto reader = open_signals(file());
  const SignalInfo& got = reader->info();
  EXPECT_EQ(got.channels, 3);
  EXPECT_EQ(got.frames, 2570);
  EXPECT_EQ(got.rate, 257);
  EXPECT_EQ(got.names, (std::vector<std::string>{"EEG Fpz", "a name that is t", "T_mp"}));
  EXPECT_EQ(got.units, (std::vector<std::string>{"uV", "mV", "degC"}));
  EXPECT_EQ(got.start, info.start);
  EXPECT_TRUE(got.notes.empty());
  ASSERT_EQ(got.annotations.size(), 3U);
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_NEAR(got.annotations[k].onset, info.annotations[k].onset, 1e-9);
    EXPECT_NEAR(got.annotations[k].duration, info.annotations[k].duration, 1e-9);
    EXPECT_EQ(got.annotations[k].text, info.annotations[k].text);
  }
  expect_close(read(*reader), X);
}

TEST_P(Edf, AnyBlocksGiveTheSame) {
  const Matrix<double> X = Random(2).normal(2, 1000);
  write(file("a"), X, facts_at(100, 1000));
  write(file("b"), X, facts_at(100, 1000), 7);
  EXPECT_EQ(bytes_of(file("a")), bytes_of(file("b")));
  const auto reader = open_signals(file("a"));
  const Matrix<double> whole = read(*reader, 5000);
  for (const Index block : {1, 3, 99, 100, 101, 1000}) {
    reader->rewind();
    EXPECT_EQ(read(*reader, block), whole) << block;
  }
}

// Frames from anywhere, by several threads at once; of short records and of records much longer than what is
// asked.
TEST_P(Edf, FramesFromAnywhere) {
  for (const double rate : {100.0, 44100.0}) {
    write(file(), Random(2).normal(3, 100000), facts_at(rate, 100000));
    const auto reader = open_signals(file());
    const Matrix<double> whole = read(*reader);
    ASSERT_TRUE(reader->random_access());
    const auto look = [&](Index from) {
      for (Index first = from; first < whole.cols(); first += 1777) {
        for (const Index count : {Index{1}, Index{99}, Index{5000}}) {
          Matrix<double> some(3, std::min(count, whole.cols() - first));
          reader->read_at(first, some);
          EXPECT_EQ(some, whole.middleCols(first, some.cols()));
        }
      }
    };
    std::jthread other(look, 0);
    look(500);
  }
}

TEST_P(Edf, SeveralReadersOfOneFile) {
  write(file(), Random(2).normal(2, 1000), facts_at(100, 1000));
  const auto a = open_signals(file()), b = open_signals(file());
  EXPECT_EQ(read(*a, 10), read(*b, 300));
}

// A record lasts a multiple of 10 microseconds: at 128 frames per second, four frames or a multiple of that.
TEST_P(Edf, LengthIsKeptWhereItIsKnownAsFarAsRecordsAllow) {
  const std::vector<std::pair<double, Index>> least_records = {{1, 1},    {0.5, 1},     {128, 4},    {250, 1},
                                                               {1000, 1}, {128.5, 257}, {44100, 441}};
  for (const auto& [rate, least] : least_records) {
    for (const Index frames : {1, 2, 7, 997, 30504}) {
      const Matrix<double> X = Random(5).normal(2, frames);
      write(file(), X, facts_at(rate, frames));
      const auto reader = open_signals(file());
      EXPECT_NEAR(reader->info().rate, rate, 1e-12 * rate);
      const Matrix<double> got = read(*reader);
      ASSERT_EQ(got.cols(), (frames + least - 1) / least * least) << rate << " " << frames;
      for (Index t = frames; t < got.cols(); ++t) EXPECT_EQ(got.col(t), got.col(frames - 1));
    }
  }
}

TEST_P(Edf, LengthUnknownIsFilledUpWithTheLastFrame) {
  const Matrix<double> X = Random(5).normal(2, 130);
  write(file(), X, facts_at(100, 0));
  const Matrix<double> got = read(file());
  ASSERT_EQ(got.cols(), 200);
  expect_close(got.leftCols(130), X);
  EXPECT_EQ(got.col(199), got.col(129));
}

TEST_P(Edf, ValuesOfAnySize) {
  for (const double scale : {1e-200, 1e-13, 1e-5, 1.0, 12345.678, 99999999.0, 1e12, 1e200}) {
    const Matrix<double> X = scale * Random(6).normal(3, 200);
    write(file(), X, facts_at(100, 200));
    expect_close(read(file()), X, 0.3);
  }
}

TEST_P(Edf, ConstantChannels) {
  Matrix<double> X(4, 50);
  X.colwise() = Vector<double>{{0.0, 1.5, -1e6, 3.14159265358979}};
  write(file(), X, facts_at(50, 50));
  const Matrix<double> got = read(file());
  EXPECT_EQ(got.topRows(3), X.topRows(3));
  EXPECT_NEAR(got(3, 0), X(3, 0), 2e-4);
}

TEST_P(Edf, WhatItCannotHoldIsRefused) {
  const Matrix<double> X = Random(7).normal(2, 100);
  const auto refused = [&](const Matrix<double>& data, const SignalInfo& info, const std::string& part) {
    try {
      write(file(), data, info);
      ADD_FAILURE() << "written; expected: " << part;
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
      EXPECT_EQ(std::string(e.what()).find(file().string() + ": "), 0U) << e.what();
    }
    EXPECT_TRUE(fs::is_empty(folder_));
  };
  refused(X, facts_at(0, 100), "frames per second");
  refused(X, facts_at(std::sqrt(2.0), 100), "exactly");
  refused(X, facts_at(1e-3, 100), "exactly");
  refused(X.array() + 1e9, facts_at(100, 100), "offset");
  refused(X * 4e307, facts_at(100, 100), "too large");
  Matrix<double> hole = X;
  hole(1, 5) = std::nan("");
  refused(hole, facts_at(100, 100), "not finite");
  refused(Matrix<double>::Zero(640, 4), facts_at(4, 4), "at most 639");
  refused(Matrix<double>(2, 0), facts_at(4, 0), "no frames");
}

TEST_P(Edf, LabelsAreUnique) {
  SignalInfo info = facts_at(10, 10);
  const std::string annotations =
      std::string(GetParam() == std::string(".edf") ? "EDF" : "BDF") + " Annotations";
  info.names = {"the same beginning 1", "the same beginning 2", "", annotations, "x"};
  write(file(), Random(1).normal(5, 10), info);
  const auto names = open_signals(file())->info().names;
  EXPECT_EQ(names, (std::vector<std::string>{"the same beginni", "the same begin-2", "channel 3",
                                             annotations.substr(0, 14) + "-2", "x"}));
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), 5U);
}

TEST_P(Edf, ManyAnnotations) {
  SignalInfo info = facts_at(10, 100);
  for (int k = 0; k < 500; ++k) info.annotations.push_back({k * 0.02, -1, "n" + std::to_string(k)});
  info.annotations.push_back({5, 1, std::string(39, 'x') + "\u00e9 cut before, not within"});
  write(file(), Random(1).normal(2, 100), info);
  const auto got = open_signals(file())->info().annotations;
  ASSERT_EQ(got.size(), 501U);
  EXPECT_EQ(got[499].text, "n499");
  EXPECT_EQ(got[500].text, std::string(39, 'x'));
}

// The header of a written file, with the second signal's samples per record and the data changed to fit.
TEST_P(Edf, ChannelsOfAnotherRateAreLeftOutAndNamed) {
  const std::size_t width = std::string(GetParam()) == ".edf" ? 2 : 3;
  const std::string good = [&] {
    write(file("three"), Random(3).normal(3, 4), facts_at(4, 4));
    return bytes_of(file("three"));
  }();
  const Matrix<double> X = read(file("three"));
  std::string bytes = with(good, 256 + 216 * 4 + 8, "2       ");  // four signals with the annotations
  bytes.erase(256 * 5 + (4 + 2) * width, 2 * width);
  std::ofstream(file("mixed"), std::ios::binary) << bytes;
  const auto reader = open_signals(file("mixed"));
  EXPECT_EQ(reader->info().names, (std::vector<std::string>{"channel 1", "channel 3"}));
  ASSERT_EQ(reader->info().notes.size(), 1U);
  EXPECT_NE(reader->info().notes[0].find("channel 2 at 2"), std::string::npos) << reader->info().notes[0];
  const Matrix<double> got = read(*reader);
  EXPECT_EQ(got.row(0), X.row(0));
  EXPECT_EQ(got.row(1), X.row(2));
}

TEST_P(Edf, BadHeadersAreRefusedWithAReason) {
  const std::string good = small();
  const std::string kind = GetParam() == std::string(".edf") ? "EDF" : "BDF";
  expect_refused("", "empty");
  expect_refused("not an EDF file at all", "not an EDF or BDF file");
  expect_refused(good.substr(0, 100), "cut off in its header");
  expect_refused(good.substr(0, 600), "cut off in its header");
  expect_refused(good.substr(0, 256 * 4 + 3), "holds no records");
  expect_refused(with(good, 236, "3 4     "), "whole number");
  expect_refused(with(good, 252, "9999"), "size of its header");
  expect_refused(with(good, 252, "0   "), "0 signals");
  expect_refused(with(good, 184, "512     "), "size of its header");
  expect_refused(with(good, 256 + 216 * 3, "99999999"), "records of");
  expect_refused(with(good, 256 + 216 * 3, "-1      "), "no samples");
  expect_refused(with(good, 256 + 104 * 3, good.substr(256 + 112 * 3, 8)), "limits of signal 1");
  expect_refused(with(good, 256 + 104 * 3, "nan     "), "number is expected");
  expect_refused(with(good, 244, "0       "), "no rate");
}

TEST_P(Edf, WhatOtherProgramsWriteIsReadWithANote) {
  const std::string good = small();
  const Matrix<double> X = read(file("small"));
  const std::string kind = GetParam() == std::string(".edf") ? "EDF" : "BDF";
  const auto info_of = [&](const std::string& bytes) {
    std::ofstream(file("odd"), std::ios::binary) << bytes;
    const auto reader = open_signals(file("odd"));
    EXPECT_EQ(read(*reader), X);
    return reader->info();
  };
  EXPECT_EQ(info_of(with(good, 256 + 96 * 3, "\xb5V")).units[0], "\u00b5V");
  const auto note_of = [&](const std::string& bytes) {
    const SignalInfo info = info_of(bytes);
    return info.notes.size() == 1 ? info.notes[0] : "";
  };
  EXPECT_NE(note_of(with(good, 236, "-1      ")).find("its 3 whole records are read"), std::string::npos);
  EXPECT_NE(note_of(with(good, 236, "-1      ") + "part of one").find("3 whole records"), std::string::npos);
  EXPECT_NE(note_of(with(good, 236, "99999999")).find("99999999 records; 3 whole ones are there and read"),
            std::string::npos);
  EXPECT_NE(note_of(with(good, 236, "2       ")).find("2 records; 3 whole ones"), std::string::npos);
  EXPECT_NE(note_of(with(good, 236, "0       ")).find("0 records; 3 whole ones"), std::string::npos);
  EXPECT_NE(note_of(good + "part of one").find("3 records; 3 whole ones"), std::string::npos);
  EXPECT_NE(note_of(with(with(good, 88, std::string(80, 'X')), 168, "41.01.00")).find("date"),
            std::string::npos);
  EXPECT_EQ(info_of(with(good, 192, kind + "+D")).notes.size(), 0U);  // perhaps gaps, but there are none
}

TEST_P(Edf, GapsAreBoundaries) {
  std::string bytes = with(small(), 192, GetParam() == std::string(".edf") ? "EDF+D" : "BDF+D");
  bytes.replace(bytes.find("+2\x14\x14"), 2, "+7");
  std::ofstream(file("gap"), std::ios::binary) << bytes;
  const SignalInfo info = open_signals(file("gap"))->info();
  ASSERT_EQ(info.annotations.size(), 1U);
  EXPECT_EQ(info.annotations[0].text, "boundary");
  EXPECT_EQ(info.annotations[0].onset, 2);
}

// Any bytes: an answer or an Error, nothing else. (The sanitizers watch.)
TEST_P(Edf, DamagedBytesNeverCrash) {
  const std::string good = small();
  Random random(4);
  const auto try_one = [&](const std::string& bytes) {
    std::ofstream(file("bad"), std::ios::binary) << bytes;
    try {
      read(file("bad"));
    } catch (const Error&) {
    }
  };
  for (std::size_t cut = 0; cut < good.size(); cut += 5) try_one(good.substr(0, cut));
  const std::string digits = "0123456789 -+.eEX\x14\x15\x01";
  for (int k = 0; k < 3000; ++k) {
    std::string bad = good;
    for (int hits = 0; hits < 2; ++hits) {
      char& byte = bad[static_cast<std::size_t>(random.below(static_cast<Index>(bad.size())))];
      byte = k % 2 ? digits[static_cast<std::size_t>(random.below(static_cast<Index>(digits.size())))]
                   : static_cast<char>(random.bits());
    }
    try_one(bad);
  }
}

INSTANTIATE_TEST_SUITE_P(Files, Edf, ::testing::Values(".edf", ".bdf"),
                         [](const auto& info) { return std::string(info.param).substr(1); });

TEST(EdfFields, LimitsLieOutsideAndFitEightCharacters) {
  Random random(8);
  for (int k = 0; k < 20000; ++k) {
    const double value = random.normal() * std::pow(10, static_cast<double>(random.below(60)) - 30);
    const std::string below = edf::limit_below(value), above = edf::limit_above(value);
    ASSERT_LE(below.size(), 8U);
    ASSERT_LE(above.size(), 8U);
    ASSERT_FALSE(below.empty() || above.empty()) << value;
    EXPECT_LE(*edf::number(below), value);
    EXPECT_GE(*edf::number(above), value);
    EXPECT_LE(*edf::number(above) - *edf::number(below), 0.21 * std::abs(value)) << below << " " << above;
  }
}

TEST(EdfFields, RecordsDivideTheLength) {
  const auto r = edf::choose_record(128, 30504, 100000);
  ASSERT_TRUE(r);
  EXPECT_EQ(30504 % r->frames, 0);
  EXPECT_EQ(static_cast<double>(r->frames) / r->seconds(), 128);
  EXPECT_EQ(edf::choose_record(250, 0, 100000)->frames, 250);
  EXPECT_FALSE(edf::choose_record(std::sqrt(2.0), 0, 100000));
}

}  // namespace
}  // namespace demix::io
