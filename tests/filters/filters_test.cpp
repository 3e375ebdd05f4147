#include <cmath>

#include "demix/filters.hpp"
#include "demix/random.hpp"
#include "support.hpp"

namespace demix {
namespace {

Matrix<double> drifting(Index channels, Index frames) {
  Matrix<double> X = Random(1).normal(channels, frames);
  for (Index t = 1; t < frames; ++t) X.col(t) = 0.99 * X.col(t - 1) + X.col(t);
  return X;
}

TEST(Filters, ChunksGiveWhatTheWholeGives) {
  const Matrix<double> X = drifting(3, 70000);
  const MatrixRecording<double> recording(X);
  const Filter filter = design({.highpass = 0.5, .lowpass = 40, .notches = {50}, .decimate = 1}, 256);
  const Matrix<double> whole = zero_phase(filter, X);
  const FilteredRecording filtered(recording, filter);
  const Matrix<double> got = gather(filtered);
  ASSERT_EQ(got.cols(), X.cols());
  EXPECT_LT((got - whole).cwiseAbs().maxCoeff(), 1e-7 * X.cwiseAbs().maxCoeff());
  const auto reading = filtered.read();  // the same, whatever the blocks
  Matrix<double> block(3, 777);
  for (Index at = 0; const Index n = reading->next(block); at += n)
    ASSERT_EQ(block.leftCols(n), got.middleCols(at, n));
}

TEST(Filters, StretchesBetweenBoundariesAreFilteredForThemselves) {
  const Matrix<double> X = drifting(2, 5000);
  const MatrixRecording<double> recording(X);
  const Filter filter = design({.highpass = 1, .lowpass = 0, .notches = {}, .decimate = 1}, 100);
  const Matrix<double> got = gather(FilteredRecording(recording, filter, {4000, 1500, 1500, 0}));
  EXPECT_EQ(got.leftCols(1500), zero_phase(filter, X.leftCols(1500)));
  EXPECT_EQ(got.middleCols(1500, 2500), zero_phase(filter, X.middleCols(1500, 2500)));
  EXPECT_EQ(got.rightCols(1000), zero_phase(filter, X.rightCols(1000)));
  for (const Index boundary : {1, 2, 4999}) {  // stretches of a frame or two
    EXPECT_TRUE(gather(FilteredRecording(recording, filter, {boundary})).allFinite());
  }
}

TEST(Filters, PassTheirBandAndStopTheRest) {
  const double rate = 200;
  Matrix<double> X(1, 20000);
  const auto power_of = [&](double hz, const FilterOptions& options) {
    for (Index t = 0; t < X.cols(); ++t) X(0, t) = std::sin(2 * M_PI * hz * static_cast<double>(t) / rate);
    const Matrix<double> Y = zero_phase(design(options, rate), X).middleCols(5000, 10000);
    return 2 * Y.squaredNorm() / 10000;
  };
  EXPECT_NEAR(power_of(10, {.highpass = 1, .lowpass = 40, .notches = {50}}), 1, 1e-3);
  EXPECT_NEAR(power_of(1, {.highpass = 1}), 0.25, 1e-3);  // half the power, twice
  EXPECT_NEAR(power_of(40, {.lowpass = 40}), 0.25, 1e-3);
  EXPECT_LT(power_of(50, {.notches = {50}}), 1e-6);
  EXPECT_LT(power_of(0.1, {.highpass = 1}), 1e-12);
  EXPECT_LT(power_of(45, {.decimate = 4}), 1e-6);
}

TEST(Filters, WhatCannotBeIsRefused) {
  const auto complaint = [](const FilterOptions& options, double rate) {
    try {
      design(options, rate);
    } catch (const std::invalid_argument& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_EQ(complaint({.highpass = 64}, 128), "highpass: 64 Hz is not between 0 and 64 Hz, half the rate");
  EXPECT_EQ(complaint({.notches = {50, 90.5}}, 128),
            "notch: 90.5 Hz is not between 0 and 64 Hz, half the rate");
  EXPECT_NE(complaint({.highpass = 40, .lowpass = 10}, 128), "");
  EXPECT_NE(complaint({.highpass = 1}, 0), "");
}

TEST(Filters, EveryNthFrameAndSomeChannels) {
  const Matrix<double> X = drifting(4, 10001);
  const MatrixRecording<double> recording(X);
  for (const Index n : {1, 3, 5000, 20000}) {
    const DecimatedRecording some(recording, n);
    const Matrix<double> got = gather(some);
    ASSERT_EQ(got.cols(), some.frames());
    ASSERT_EQ(got.cols(), (10000 / n) + 1);
    for (Index k = 0; k < got.cols(); ++k) ASSERT_EQ(got.col(k), X.col(k * n));
  }
  const PickedRecording picked(recording, {2, 0});
  const Matrix<double> got = gather(picked);
  EXPECT_EQ(got.row(0), X.row(2));
  EXPECT_EQ(got.row(1), X.row(0));
  FrameBuffer buffer;
  EXPECT_EQ(std::get<Frames<double>>(picked.frames_at(17, 5, buffer)), got.middleCols(17, 5));
}

}  // namespace
}  // namespace demix
