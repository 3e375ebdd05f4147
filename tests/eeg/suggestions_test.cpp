#include <Eigen/Dense>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "demix/component_faces.hpp"
#include "demix/random.hpp"

/// An EEG of known parts: blinks, a heart, a muscle, the mains, a loose electrode, alpha and noise.
namespace demix::eeg {
namespace {

constexpr double rate = 250;
constexpr Index frames = 250 * 120;
const std::vector<std::string> names = {"Fp1", "Fpz", "Fp2", "F7", "F3", "Fz", "F4", "F8",
                                        "FC5", "FC6", "T7",  "C3", "Cz", "C4", "T8", "P7",
                                        "P3",  "Pz",  "P4",  "P8", "O1", "Oz", "O2"};
enum Part { blink, heart, muscle, mains, loose, alpha, noise, parts };

Vector<double> standardised(Vector<double> x) {
  x.array() -= x.mean();
  return x / std::sqrt(x.squaredNorm() / static_cast<double>(x.size()));
}

Matrix<double> sources(bool with_peaks) {
  Random random(24);
  Matrix<double> S(parts, frames);
  for (Index t = 0; t < frames; ++t) {
    for (Index k = 0; k < parts; ++k) S(k, t) = 0.02 * random.normal();
  }
  const auto bump = [&](Index k, double at, double width, double size) {
    for (Index t = 0; t < frames; ++t) {
      const double d = (static_cast<double>(t) / rate - at) / width;
      if (std::abs(d) < 5) S(k, t) += size * std::exp(-d * d / 2);
    }
  };
  if (with_peaks) {
    for (double at = 2; at < 119; at += 4 + 2 * random.normal() * 0.4) bump(blink, at, 0.08, 5);
    for (double at = 0.5; at < 119.5; at += 0.85 + 0.02 * random.normal()) bump(heart, at, 0.015, 4);
    for (double at = 5; at < 119; at += 11) bump(loose, at, 0.1, 8);
  }
  double slow = 0, before = 0;
  for (Index t = 0; t < frames; ++t) {
    const double s = static_cast<double>(t) / rate;
    const double white = random.normal();
    S(muscle, t) = white - 0.9 * before;  // rises with frequency
    before = white;
    S(mains, t) += std::sin(2 * std::numbers::pi * 50 * s);
    S(alpha, t) += std::sin(2 * std::numbers::pi * 10 * s) * (1 + 0.5 * std::sin(0.7 * s));
    slow = 0.97 * slow + 0.2 * random.normal();
    S(noise, t) += slow;
  }
  for (Index k = 0; k < parts; ++k) S.row(k) = standardised(S.row(k).transpose()).transpose();
  return S;
}

// Each part falls off with the distance from a place on the head.
Matrix<double> mixing(const Positions& positions) {
  const auto spread = [&](const char* name, double width) {
    const Position c = *standard_position(name);
    Vector<double> map(std::ssize(positions));
    for (Index i = 0; i < map.size(); ++i) {
      const Position& p = *positions[static_cast<std::size_t>(i)];
      map(i) = std::exp(-std::hypot(p[0] - c[0], p[1] - c[1], p[2] - c[2]) / width);
    }
    return map;
  };
  Matrix<double> A(std::ssize(positions), static_cast<Index>(parts));
  A.col(blink) = 60 * spread("Fpz", 0.03);
  A.col(heart) = 8 * (spread("P7", 0.2) - 0.6 * spread("F8", 0.2));
  A.col(muscle) = 10 * spread("T7", 0.025);
  A.col(mains) = 5 * spread("Cz", 0.3);
  A.col(loose) = Vector<double>::Constant(A.rows(), 0.01);
  A(16, loose) = 30;
  A.col(alpha) = 15 * spread("Oz", 0.05);
  A.col(noise) = 10 * spread("Cz", 0.06);
  return A;
}

struct Eeg {
  Positions positions = with_standard({}, names);
  Matrix<double> S, X;
  Model model;

  explicit Eeg(bool with_peaks = true) : S(sources(with_peaks)) {
    model.names = names;
    model.mixing = mixing(positions);
    model.unmixing = model.mixing.completeOrthogonalDecomposition().pseudoInverse();
    model.mean = Vector<double>::Zero(model.mixing.rows());
    model.kurtosis = Vector<double>::Constant(model.mixing.cols(), 3);
    X = model.mixing * S;
  }
};

std::vector<std::string> kinds(const std::vector<Suggestion>& all) {
  std::vector<std::string> out(parts);
  for (const Suggestion& s : all) out[static_cast<std::size_t>(s.component)] = s.kind;
  return out;
}

TEST(Faces, AreWhatTheSourcesAre) {
  const Eeg eeg;
  const Faces faces = faces_of(eeg.model, MatrixRecording<double>(eeg.X), {.rate = rate});
  ASSERT_EQ(faces.faces.size(), static_cast<std::size_t>(parts));
  double power = 0;
  for (Index k = 0; k < parts; ++k) {
    const Face& face = faces.faces[static_cast<std::size_t>(k)];
    EXPECT_NEAR(face.deviation, 1, 1e-6);
    EXPECT_NEAR(face.kurtosis, eeg.S.row(k).array().pow(4).mean(), 1e-6 * face.kurtosis);
    power += face.power;
    // The density adds up to the variance (Parseval), but for what is slower than a segment.
    double sum = 0;
    for (const double d : face.spectrum) sum += d * faces.frequencies[1];
    EXPECT_NEAR(sum, 1, k == alpha || k == mains ? 0.02 : 0.15) << k;
  }
  EXPECT_NEAR(power, 1, 1e-12);
  const std::vector<double>& a = faces.faces[alpha].spectrum;
  const auto peak = std::max_element(a.begin(), a.end()) - a.begin();
  EXPECT_NEAR(faces.frequencies[static_cast<std::size_t>(peak)], 10, 0.5);
  EXPECT_NEAR(faces.faces[heart].beats, 60 / 0.85, 3);
  EXPECT_EQ(faces.faces[alpha].beats, 0);
}

TEST(Faces, LikenessToAReferenceHasItsLag) {
  const Eeg eeg;
  Matrix<double> X(eeg.X.rows() + 1, frames);
  X.topRows(eeg.X.rows()) = eeg.X;
  constexpr Index later = 10;  // frames
  for (Index t = 0; t < frames; ++t)
    X(eeg.X.rows(), t) = -3 * eeg.S(blink, std::max<Index>(0, t - later)) + 7;
  RecordingFacts facts{.rate = rate};
  for (Index i = 0; i < eeg.X.rows(); ++i) facts.channels.push_back(i);
  facts.references = {{eeg.X.rows(), "EOG", Reference::Kind::eog}};
  const Faces faces = faces_of(eeg.model, MatrixRecording<double>(X), facts);
  EXPECT_LT(faces.faces[blink].correlations[0].r, -0.98);
  EXPECT_NEAR(faces.faces[blink].correlations[0].lag, later / rate, 1e-9);
  EXPECT_LT(std::abs(faces.faces[alpha].correlations[0].r), 0.1);
  const auto found = suggestions(faces, {});  // no map is needed then
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].component, blink);
  EXPECT_EQ(found[0].reason.substr(0, 4), "r = ");
}

TEST(Faces, TrialsAreAveragedAboutTheEvents) {
  const Eeg eeg;
  Matrix<double> X = Matrix<double>::Zero(eeg.X.rows(), frames);
  RecordingFacts facts{.rate = rate};
  for (std::int64_t t = 500; t + 500 < frames; t += 300) {
    facts.events.push_back(t);
    X.col(t + 75) = eeg.model.mixing.col(alpha);  // 0.3 s after
  }
  const Faces faces = faces_of(eeg.model, MatrixRecording<double>(X), facts);
  const EventImage& image = faces.faces[alpha].events;
  EXPECT_EQ(image.trials, std::ssize(facts.events));
  const auto peak = std::max_element(image.average.begin(), image.average.end()) - image.average.begin();
  EXPECT_NEAR(-0.2 + (static_cast<double>(peak) + 0.5) / static_cast<double>(image.average.size()), 0.3,
              0.01);
  EXPECT_GT(image.values.col(peak).minCoeff(), 0);
}

TEST(Suggestions, NameWhatIsNotOfTheBrainAndNothingElse) {
  const Eeg eeg;
  const Faces faces = faces_of(eeg.model, MatrixRecording<double>(eeg.X), {.rate = rate});
  const std::vector<std::string> expected = {"blink", "heart", "muscle", "line-noise", "channel", "", ""};
  EXPECT_EQ(kinds(suggestions(faces, eeg.positions)), expected);
}

TEST(Suggestions, NeedTheMapToTellABlinkWithoutEog) {
  const Eeg eeg;
  const Faces faces = faces_of(eeg.model, MatrixRecording<double>(eeg.X), {.rate = rate});
  EXPECT_EQ(kinds(suggestions(faces, {}))[blink], "");
}

TEST(Suggestions, NeedTheRimOfTheCapToTellAMuscle) {
  const Eeg eeg;
  const Faces faces = faces_of(eeg.model, MatrixRecording<double>(eeg.X), {.rate = rate});
  EXPECT_EQ(kinds(suggestions(faces, {}))[muscle], "");
  // No electrode is at the forehead, but at the rim: that is enough.
  Positions positions = eeg.positions;
  for (std::size_t i = 0; i < 3; ++i) positions[i].reset();
  EXPECT_EQ(kinds(suggestions(faces, positions))[muscle], "muscle");
  for (std::size_t i = 3; i < positions.size(); ++i) {
    if (names[i] != "F3" && names[i] != "Fz" && names[i] != "F4" && names[i] != "C3" && names[i] != "Cz" &&
        names[i] != "C4" && names[i] != "P3" && names[i] != "Pz" && names[i] != "P4")
      positions[i].reset();
  }
  EXPECT_EQ(kinds(suggestions(faces, positions))[muscle], "");
}

TEST(Suggestions, NoiseIsNoMuscle) {
  Eeg eeg;
  eeg.X = Random(5).normal(eeg.X.rows(), frames);
  eeg.model.mixing = Random(6).normal(eeg.X.rows(), eeg.X.rows());
  eeg.model.unmixing = eeg.model.mixing.inverse();
  eeg.model.kurtosis = Vector<double>::Constant(eeg.X.rows(), 3);
  const Faces faces = faces_of(eeg.model, MatrixRecording<double>(eeg.X), {.rate = rate});
  EXPECT_TRUE(suggestions(faces, eeg.positions).empty());
  EXPECT_TRUE(suggestions(faces, {}).empty());
}

TEST(Suggestions, LeaveSomething) {
  Eeg eeg;
  eeg.model.mixing = Matrix<double>(eeg.model.mixing.leftCols(2));
  eeg.model.unmixing = eeg.model.mixing.completeOrthogonalDecomposition().pseudoInverse();
  eeg.model.kurtosis = Vector<double>::Constant(2, 3);
  const Faces faces = faces_of(eeg.model, MatrixRecording<double>(eeg.X), {.rate = rate});
  EXPECT_TRUE(suggestions(faces, eeg.positions).empty());  // a blink and a heart
}

TEST(Suggestions, AFrontalRhythmIsNoBlink) {
  const Eeg eeg;
  Faces swapped = faces_of(eeg.model, MatrixRecording<double>(eeg.X), {.rate = rate});
  swapped.maps.col(alpha).swap(swapped.maps.col(blink));
  const auto found = kinds(suggestions(swapped, eeg.positions));
  EXPECT_EQ(found[alpha], "");
  EXPECT_EQ(found[blink], "");  // slow peaks at the back of the head
}

TEST(Suggestions, ASideLookHasOppositeSignsAtTheEyes) {
  Eeg eeg(false);
  Random random(3);
  double gaze = 0;
  for (Index t = 0; t < frames; ++t) {
    if (t % 400 == 0) gaze = random.normal();
    eeg.S(blink, t) = gaze;
  }
  const auto at = [](const char* name) { return std::ranges::find(names, name) - names.begin(); };
  Vector<double> map = Vector<double>::Constant(std::ssize(names), 0.02);
  map(at("F7")) = 40, map(at("F8")) = -40, map(at("Fp1")) = 12, map(at("Fp2")) = -12, map(at("FC5")) = 15,
  map(at("FC6")) = -15;
  eeg.model.mixing.col(blink) = map;
  eeg.model.unmixing = eeg.model.mixing.completeOrthogonalDecomposition().pseudoInverse();
  eeg.X = eeg.model.mixing * eeg.S;
  const Faces faces = faces_of(eeg.model, MatrixRecording<double>(eeg.X), {.rate = rate});
  EXPECT_EQ(kinds(suggestions(faces, eeg.positions))[blink], "eye-movement");
}

TEST(Faces, WhatDoesNotFitIsRefused) {
  const Eeg eeg;
  const MatrixRecording<double> X(eeg.X);
  EXPECT_THROW(faces_of(eeg.model, X, {.rate = 0}), std::invalid_argument);
  EXPECT_THROW(faces_of(eeg.model, X, {.rate = rate, .channels = {0, 1}}), std::invalid_argument);
}

}  // namespace
}  // namespace demix::eeg
