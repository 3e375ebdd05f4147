#include "demix/synthetic.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>

#include "demix/linear_algebra.hpp"
#include "support.hpp"

namespace demix {
namespace {

const std::vector<Source> all{Source::square, Source::sine, Source::sawtooth, Source::laplace,
                              Source::uniform};

TEST(Synthetic, SourcesHaveUnitVarianceAndTheirKurtosis) {
  for (const Timing timing : {Timing::iid, Timing::waveform}) {
    Random random(1);
    const Matrix<double> S = make_sources(all, 400000, timing, random);
    for (Index i = 0; i < S.rows(); ++i) {
      const auto s = S.row(i).array();
      const double kurtosis = source_kurtosis(all[static_cast<std::size_t>(i)]);
      EXPECT_NEAR(s.mean(), 0, 0.01);
      EXPECT_NEAR(s.square().mean(), 1, 0.01);
      EXPECT_NEAR(s.pow(4).mean(), kurtosis, 0.06 * kurtosis);
    }
    EXPECT_TRUE((S * S.transpose() / 400000.0).isIdentity(0.03));
  }
}

TEST(Synthetic, WaveformsHaveThePapersFrequencies) {
  Random random(1);
  const Matrix<double> S = make_sources(all, 100001, Timing::waveform, random);
  const double hertz[] = {155, 180, 200};
  for (Index i = 0; i < 3; ++i) {
    Index rising = 0;
    for (Index t = 1; t < S.cols(); ++t) rising += S(i, t - 1) < 0 && S(i, t) >= 0;
    EXPECT_NEAR(static_cast<double>(rising), hertz[i], 1);
  }
}

std::uint64_t fingerprint(const Matrix<double>& m) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (Index i = 0; i < m.size(); ++i) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, m.data() + i, 8);
    hash = (hash ^ bits) * 0x100000001b3U;
  }
  return hash;
}

TEST(Synthetic, TheSameNumbersOnEveryMachine) {
  Random random(2024);
  EXPECT_EQ(fingerprint(make_sources(all, 1000, Timing::iid, random)), 12732522494688627430U);
  EXPECT_EQ(fingerprint(make_sources(all, 1000, Timing::waveform, random)), 8437346374547894606U);
}

TEST(Synthetic, ALongerRunExtendsAShorterOne) {
  const Mixture a = make_scenario(4, 500, 11);
  const Mixture b = make_scenario(4, 900, 11);
  EXPECT_EQ(a.sources, b.sources.leftCols(500));
  EXPECT_EQ(a.mixing, b.mixing);
  EXPECT_NE(a.mixing, make_scenario(4, 500, 12).mixing);
}

TEST(Synthetic, ScenariosAreWhiteOrColouredAsInThePaper) {
  for (int k = 1; k <= 4; ++k) {
    const Mixture m = make_scenario(k, 5000, 3);
    EXPECT_TRUE(m.mixtures.isApprox(m.mixing * m.sources));
    const Matrix<double> C = m.mixtures * m.mixtures.transpose() / 5000;
    EXPECT_EQ(C.isIdentity(1e-9), k == 1 || k == 3);
    EXPECT_EQ(scenario_sources(k)[2], k <= 2 ? Source::sawtooth : Source::laplace);
  }
  EXPECT_THROW(make_scenario(5, 10, 0), std::invalid_argument);
}

TEST(Synthetic, MixingMatricesHaveTheConditionAskedFor) {
  Random random(4);
  for (const double condition : {1.0, 10.0, 1e6}) {
    const Vector<double> s = singular_values(conditioned_mixing(5, condition, random));
    EXPECT_NEAR(s(0) / s(4) / condition, 1, 1e-6);
  }
  EXPECT_LE(uniform_mixing(4, 0.5, random).cwiseAbs().maxCoeff(), 0.5);
  EXPECT_THROW(conditioned_mixing(3, 0.5, random), std::invalid_argument);
  EXPECT_EQ(source_named("laplace"), Source::laplace);
  EXPECT_THROW(source_named("triangle"), std::invalid_argument);
}

}  // namespace
}  // namespace demix
