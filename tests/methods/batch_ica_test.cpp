#include <algorithm>
#include <cmath>
#include <functional>

#include "demix/methods.hpp"
#include "demix/metrics.hpp"
#include "demix/synthetic.hpp"
#include "support.hpp"

namespace demix {
namespace {

Mixture laplace_and_uniform(Index samples) {
  Random random(31);
  const std::vector<Source> kinds{Source::laplace, Source::laplace, Source::laplace, Source::uniform};
  return mix(make_sources(kinds, samples, Timing::iid, random), normal_mixing(4, random));
}

// Batch methods that can be asked for all of it.
std::vector<std::string_view> batch_ica() {
  std::vector<std::string_view> names;
  for (const Method& m : methods()) {
    if (m.batch_ica) names.push_back(m.name);
  }
  return names;
}

TEST(BatchIca, OrderByExplainedPower) {
  const Mixture m = laplace_and_uniform(20000);
  for (const std::string_view name : batch_ica()) {
    MethodOptions options;
    options.order = Order::power;
    const Model model = method_named(name).run(m.mixtures, options).model;
    const Vector<double> power = model.mixing.colwise().squaredNorm();
    EXPECT_TRUE(std::is_sorted(power.begin(), power.end(), std::greater<>())) << name;
    EXPECT_EQ(model.options.at("order"), "power");
  }
}

// Frames of weight 0 may hold anything; those of weight 2 count as if they were there twice.
TEST(BatchIca, WeightsAreHowOftenAFrameIsThere) {
  const Mixture m = laplace_and_uniform(20000);
  Random random(32);
  Matrix<double> spoilt = m.mixtures;
  Vector<double> w(20000);
  Matrix<double> repeated(4, 40000);
  Index n = 0;
  for (Index t = 0; t < 20000; ++t) {
    w(t) = static_cast<double>(random.below(3));
    if (w(t) == 0) spoilt.col(t).setConstant(t % 2 == 0 ? NAN : 1e9);
    for (int k = 0; k < static_cast<int>(w(t)); ++k) repeated.col(n++) = m.mixtures.col(t);
  }
  repeated.conservativeResize(4, n);
  const MatrixRecording<double> recording(spoilt);
  const WeightedRecording weighted(recording, w);
  for (const std::string_view name : batch_ica()) {
    if (name == "auto") continue;  // which it takes depends on how many frames it thinks there are
    const Model one = method_named(name).run(weighted, {}).model;
    const Model two = method_named(name).run(repeated, {}).model;
    EXPECT_LT(amari_index(one.unmixing * two.mixing), name == "fobi" || name == "jade" ? 1e-6 : 1e-3) << name;
    EXPECT_LT(one.samples, 20000);
  }
  EXPECT_THROW(method_named("sm-ica-offline").run(weighted, {}), NoSuchOption);
  EXPECT_THROW(method_named("stream").run(weighted, {}), NoSuchOption);
}

// In units so much larger than others; also beside one channel that is not.
template <typename T>
void expect_separated_in_units_of(double scale) {
  const Mixture m = laplace_and_uniform(50000);
  for (const Index other : {Index{-1}, Index{2}}) {
    Vector<double> units = Vector<double>::Constant(4, scale);
    if (other >= 0) units(other) = 1;
    const Matrix<T> X = (units.asDiagonal() * m.mixtures).cast<T>();
    const MatrixRecording<T> recording(X);
    for (const std::string_view name : batch_ica()) {
      const Outcome out = method_named(name).run(recording, {});
      const Matrix<double> gain = out.model.unmixing * units.asDiagonal() * m.mixing;
      EXPECT_TRUE(gain.allFinite() && out.model.kurtosis.allFinite()) << name << " " << scale;
      // Three kurtoses are the same: too much for fobi.
      if (name != "fobi") {
        EXPECT_LT(amari_index(gain), 0.02) << name << " " << scale << " " << other;
      }
    }
  }
}

// Near the ends of what a float can hold, and, of doubles, whose first steps may be in float, beyond them.
TEST(BatchIca, UnitsDoNotMatter) {
  for (const double scale : {1e-37, 1e-20, 1e20, 1e37}) expect_separated_in_units_of<float>(scale);
  for (const double scale : {1e-100, 1e-40, 1e40, 1e100}) expect_separated_in_units_of<double>(scale);
}

TEST(BatchIca, StabilityTellsWhatIsFoundAgain) {
  const Mixture m = laplace_and_uniform(20000);
  Random random(33);
  Matrix<double> S(6, 20000);  // four of noise, which nothing tells apart but chance
  S << m.sources.topRows(2), random.normal(4, 20000);
  const Matrix<double> X = normal_mixing(6, random) * S;
  for (const char* name : {"fastica", "picard"}) {
    MethodOptions options;
    options.stability = 4;
    const Model model = method_named(name).run(X, options).model;
    ASSERT_EQ(model.stability.size(), 6);
    EXPECT_GT(model.stability.head(2).minCoeff(), 0.95) << name << " " << model.stability.transpose();
    EXPECT_LT(model.stability.tail(4).maxCoeff(), 0.9) << name << " " << model.stability.transpose();
    EXPECT_EQ(method_named(name).run(X, options).model.stability, model.stability);
  }
  MethodOptions options;
  options.stability = 3;
  EXPECT_THROW(method_named("easi").run(X, options), NoSuchOption);
  EXPECT_THROW(method_named("fobi").run(Matrix<double>(X.leftCols(9)), options), std::invalid_argument);
}

TEST(BatchIca, OthersRefuseWhatTheyDoNotTake) {
  const Mixture m = laplace_and_uniform(1000);
  for (const Method& method : methods()) {
    MethodOptions order, stability, start;
    order.order = Order::power;
    stability.stability = 2;
    start.start = Matrix<double>::Identity(4, 4);
    if (!method.batch_ica) {
      EXPECT_THROW(method.checked(order), NoSuchOption) << method.name;
      EXPECT_THROW(method.checked(stability), NoSuchOption) << method.name;
    }
    if (!method.takes_start) {
      EXPECT_THROW(method.checked(start), NoSuchOption) << method.name;
    }
  }
}

TEST(BatchIca, AutoSeparatesWhatFobiCannot) {
  Random random(34);
  const Mixture m = mix(make_sources(std::vector<Source>(8, Source::laplace), 100000, Timing::iid, random),
                        normal_mixing(8, random));
  const Outcome out = method_named("auto").run(m.mixtures, {});
  EXPECT_LT(amari_index(out.model.unmixing * m.mixing), 0.01);
  EXPECT_GT(amari_index(method_named("fobi").run(m.mixtures, {}).model.unmixing * m.mixing), 0.1);
  EXPECT_EQ(out.model.method, "fastica");
  EXPECT_FALSE(out.why.empty());
}

}  // namespace
}  // namespace demix
