#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "report/drawing.hpp"
#include "report/markup.hpp"
#include "report/page_support.hpp"

/// What a page is made of: the signals in short, drawings of them, text.
namespace demix::report {
namespace {

using testing::inf;
using testing::is_utf8;
using testing::nan;
using testing::summary_of;

// Summary

TEST(Summary, IsTheSameWhateverTheBlocks) {
  std::mt19937 random(1);
  for (const Index frames : {1, 5, 1023, 1024, 1025, 2048, 4095, 4097, 20000, 40000}) {
    Matrix<double> X = Matrix<double>::Random(3, frames);
    X.row(1).array() += 1e6;
    const Summary whole = summary_of(X);
    for (const Index most : {1, 7, 1000, 5000}) {
      Summary parts(3);
      for (Index t = 0; t < frames;) {
        const Index n = std::min<Index>(frames - t, 1 + static_cast<Index>(random() % most));
        parts.add(X.middleCols(t, n));
        parts.add(X.middleCols(t, 0));
        t += n;
      }
      EXPECT_TRUE(parts == whole) << frames << " frames in blocks of up to " << most;
    }
    EXPECT_EQ(whole.frames(), frames);
  }
}

TEST(Summary, HoldsWhatTheFramesSay) {
  for (const Index frames : {1, 2, 1000, 1024, 2047, 2048, 5000, 65536, 100001}) {
    const Matrix<double> X = Matrix<double>::Random(2, frames);
    const Summary s = summary_of(X);
    for (Index i = 0; i < 2; ++i) {
      const Summary::Channel& c = s.channel(i);
      ASSERT_LE(c.envelope.size(), Summary::most_bins);
      ASSERT_EQ(static_cast<Index>(c.envelope.size()), (frames + s.bin_frames() - 1) / s.bin_frames());
      for (std::size_t b = 0; b < c.envelope.size(); ++b) {
        const Index from = static_cast<Index>(b) * s.bin_frames();
        const auto part = X.row(i).segment(from, std::min<Index>(s.bin_frames(), frames - from));
        ASSERT_EQ(c.envelope[b].least, part.minCoeff());
        ASSERT_EQ(c.envelope[b].most, part.maxCoeff());
      }
      ASSERT_EQ(static_cast<Index>(c.excerpt.size()), std::min<Index>(frames, Summary::excerpt_frames));
      for (std::size_t t = 0; t < c.excerpt.size(); ++t) {
        ASSERT_EQ(c.excerpt[t], X(i, s.excerpt_start() + static_cast<Index>(t)));
      }
    }
    EXPECT_LE(2 * s.excerpt_start(), frames);
    if (frames > 2 * Summary::excerpt_frames) {
      EXPECT_GE(4 * s.excerpt_start(), frames);
    }
  }
}

TEST(Summary, MomentsAreThoseOfTwoPassesFarFromZeroToo) {
  for (const double offset : {0., 1e7}) {
    const Matrix<double> X = Matrix<double>::Random(1, 3000).array().cube() + offset;
    const Summary summary = summary_of(X);
    const Summary::Channel& c = summary.channel(0);
    const Eigen::ArrayXd d = X.row(0).transpose().array() - X.mean();
    const double variance = d.square().mean();
    EXPECT_EQ(c.count, 3000);
    EXPECT_NEAR(c.mean, X.mean(), 1e-13 * (1 + offset));
    EXPECT_NEAR(c.deviation(), std::sqrt(variance), 1e-9);
    EXPECT_NEAR(c.kurtosis(), d.pow(4).mean() / (variance * variance), 1e-6);
  }
}

// Every k-th frame would see only one of the two values.
TEST(Summary, TheSampleIsNotFooledByAPeriod) {
  for (const Index period : {2, 8, 64, 512}) {
    Matrix<double> X(1, 300000);
    for (Index t = 0; t < X.cols(); ++t) X(0, t) = t % period < period / 2 ? 1 : -1;
    const Summary summary = summary_of(X);
    const auto& sample = summary.channel(0).sample;
    EXPECT_GT(sample.size(), Summary::most_samples / 3);
    EXPECT_LE(sample.size(), Summary::most_samples);
    double sum = 0;
    for (const double v : sample) sum += v;
    EXPECT_LT(std::abs(sum), 5 * std::sqrt(static_cast<double>(sample.size()))) << "period " << period;
  }
}

TEST(Summary, LeavesOutWhatIsNoNumber) {
  Matrix<double> X = Matrix<double>::Random(2, 5000);
  const Summary before = summary_of(X);
  X(0, 10) = nan;
  X(0, 2000) = inf;
  const Summary summary = summary_of(X);
  const Summary::Channel& c = summary.channel(0);
  EXPECT_EQ(c.count, 4998);
  EXPECT_TRUE(std::isfinite(c.mean) && std::isfinite(c.kurtosis()));
  EXPECT_TRUE(summary.channel(1) == before.channel(1));
}

TEST(Summary, RefusesABlockOfOtherChannels) {
  Summary s(2);
  EXPECT_THROW(s.add(Matrix<double>::Zero(3, 1)), std::invalid_argument);
}

// Drawings

TEST(Histogram, CountsEveryNumberOnce) {
  const auto total = [](const std::vector<double>& values) {
    Index sum = 0;
    for (const Index n : drawing::counts(values, drawing::range_of(values))) sum += n;
    return sum;
  };
  const Summary summary = summary_of(Matrix<double>::Random(1, 50000));
  const auto& sample = summary.channel(0).sample;
  EXPECT_EQ(total(sample), static_cast<Index>(sample.size()));
  EXPECT_EQ(total({}), 0);
  EXPECT_EQ(total({3, 3, 3}), 3);
  EXPECT_EQ(total({1, nan, 2, inf, -inf}), 2);
  EXPECT_EQ(total({-1.7e308, 0, 1.7e308}), 3);
  const auto ends = drawing::counts({-1.7e308, 0, 1.7e308}, {-1.7e308, 1.7e308});
  EXPECT_EQ(ends.front(), 1);
  EXPECT_EQ(ends.back(), 1);
}

TEST(Trace, GoesThroughItsValues) {
  const std::vector<double> values{0, 1, 0.5, nan, 1, nan, 0, 0};
  const std::string svg = drawing::traces({{&values, "line"}}, {0, 1}, "whole");
  EXPECT_NE(svg.find("viewBox=\"0 0 7 192\""), std::string::npos) << svg;
  EXPECT_NE(svg.find("d=\"M0 192l1-192 1 96M4 0h1M6 192l1 0\""), std::string::npos) << svg;
}

TEST(Trace, AConstantIsAFlatLineInTheMiddle) {
  const std::vector<double> values(3, 42.);
  const std::string svg = drawing::traces({{&values, "line"}}, drawing::range_of(values), "whole");
  EXPECT_NE(svg.find("d=\"M0 96l1 0 1 0\""), std::string::npos) << svg;
}

// Text

TEST(Markup, IsEscaped) {
  EXPECT_EQ(markup::escaped("<a href='x'>&\"\n\t"), "&lt;a href=&#39;x&#39;&gt;&amp;&quot;\n\t");
  EXPECT_EQ(markup::escaped("µV é 語 \xf0\x9d\x84\x9e"), "µV é 語 \xf0\x9d\x84\x9e");
  const std::string bad = "\xef\xbf\xbd";
  EXPECT_EQ(markup::escaped(std::string("\0\x1b\x7f", 3)), bad + bad + "\x7f");
  EXPECT_EQ(markup::escaped("a\xe9z"), "a" + bad + "z");                  // Latin-1
  EXPECT_EQ(markup::escaped("\xc0\xaf"), bad + bad);                      // too long for what it is
  EXPECT_EQ(markup::escaped("\xed\xa0\x80"), bad + bad + bad);            // a surrogate
  EXPECT_EQ(markup::escaped("\xf4\x90\x80\x80"), bad + bad + bad + bad);  // above the last
  EXPECT_EQ(markup::escaped("\xe2\x82"), bad + bad);                      // cut short
}

TEST(Markup, AnyBytesBecomeUtf8) {
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    std::string bytes(random() % 12, '\0');
    for (char& c : bytes) c = static_cast<char>(random() % 3 == 0 ? random() : 0x80 + random() % 0x80);
    ASSERT_TRUE(is_utf8(markup::escaped(bytes)));
    if (is_utf8(bytes) && bytes.find_first_of("&<>\"'") == std::string::npos &&
        std::none_of(bytes.begin(), bytes.end(), [](char c) { return c >= 0 && c < 0x20; }) &&
        bytes.find("\xef\xbf") == std::string::npos) {
      ASSERT_EQ(markup::escaped(bytes), bytes);
    }
  }
}

TEST(Markup, Base64IsThatOfTheStandard) {  // RFC 4648, section 10
  for (const auto& [in, out] : {std::pair{"", ""},
                                {"f", "Zg=="},
                                {"fo", "Zm8="},
                                {"foo", "Zm9v"},
                                {"foob", "Zm9vYg=="},
                                {"fooba", "Zm9vYmE="},
                                {"foobar", "Zm9vYmFy"}}) {
    EXPECT_EQ(markup::base64(in), out);
  }
  EXPECT_EQ(markup::base64("\xff\xfe\xfb"), "//77");
}

TEST(Markup, AFileNameIsAnAddress) {
  EXPECT_EQ(markup::address("sounds/a b#1?.wav"), "./sounds/a%20b%231%3F.wav");
  EXPECT_EQ(markup::address("javascript:x"), "./javascript%3Ax");
  EXPECT_EQ(markup::address("\xff%"), "./%FF%25");
}

TEST(Markup, NumbersReadWell) {
  EXPECT_EQ(markup::number(-0.12345), "−0.123");
  EXPECT_EQ(markup::number(12345.6), "12346");
  EXPECT_EQ(markup::number(1.5e9), "1.5e9");
  EXPECT_EQ(markup::number(1.5e-9), "1.5e−9");
  EXPECT_EQ(markup::number(-0.0), "0");
  EXPECT_EQ(markup::number(nan), "–");
  EXPECT_EQ(markup::number(-inf), "–");
  EXPECT_EQ(markup::count(0), "0");
  EXPECT_EQ(markup::count(999), "999");
  EXPECT_EQ(markup::count(1234567), "1,234,567");
  EXPECT_EQ(markup::time(0.25), "0.25 s");
  EXPECT_EQ(markup::time(12.34), "12.3 s");
  EXPECT_EQ(markup::time(119.96), "2:00 min");
  EXPECT_EQ(markup::time(3725), "1:02:05 h");
}

}  // namespace
}  // namespace demix::report
