// What holds for every rule in the table of methods, in every form, as it is run there.
#include "demix/methods.hpp"
#include "demix/synthetic.hpp"
#include "support.hpp"

namespace demix {
namespace {

constexpr Index size = 4;

struct Case {
  const Method* method;
  std::string form;
  std::string name() const { return std::string(method->name) + " " + form; }
};

std::vector<Case> every_rule() {
  std::vector<Case> all;
  for (const Method& m : methods()) {
    if (!m.online || m.by_kurtosis || m.contrast) continue;
    for (const Form& form : m.forms) all.push_back({&m, std::string(form.name)});
  }
  return all;
}

std::unique_ptr<OnlineSeparator> make(const Case& c, double eta_factor = 1, std::uint64_t seed = 1) {
  MethodOptions o;
  o.form = c.form;
  o.seed = seed;
  o = c.method->checked(o);
  *o.eta *= eta_factor;
  return c.method->make(size, size, o);
}

Matrix<double> some_mixtures() {
  Random random(2);
  const Matrix<double> A = random.normal(size, size);
  return A * make_sources({Source::sine, Source::laplace, Source::uniform, Source::square}, 3000, Timing::iid,
                          random);
}

// All its outputs; 0 from where it failed.
Matrix<double> outputs(OnlineSeparator& separator, const Matrix<double>& X) {
  Matrix<double> Y = Matrix<double>::Zero(size, X.cols());
  Vector<double> y(size);
  for (Index t = 0; t < X.cols(); ++t) {
    separator.step(X.col(t), y);
    Y.col(t) = y;
  }
  return Y;
}

TEST(EveryRule, TheSeedDecides) {
  const Matrix<double> X = some_mixtures().leftCols(500);
  for (const Case& c : every_rule()) {
    const auto once = make(c);
    const auto again = make(c);
    const auto other = make(c, 1, 2);
    const Matrix<double> Y = outputs(*once, X);
    EXPECT_EQ(outputs(*again, X), Y) << c.name();
    EXPECT_EQ(again->unmixing(), once->unmixing()) << c.name();
    const bool random_start = c.method->name != "hj";  // which starts from M = 0
    EXPECT_EQ(outputs(*other, X) != Y, random_start) << c.name();
  }
}

TEST(EveryRule, LearnsAtItsDefaultRateWithoutFailing) {
  // Nearly white: with the same power everywhere no subspace would be the principal one.
  const Matrix<double> X =
      Vector<double>({{1.2, 1.0, 0.8}}).asDiagonal() * make_scenario(1, 3000, 1).mixtures;
  for (const Case& c : every_rule()) {
    MethodOptions o;
    o.form = c.form;
    const Index outputs = c.method->square ? 3 : 2;
    const auto separator = c.method->make(3, outputs, c.method->checked(o));
    const Matrix<double> before = separator->unmixing();
    Vector<double> y(outputs);
    for (Index t = 0; t < X.cols(); ++t) ASSERT_TRUE(separator->step(X.col(t), y)) << c.name() << " " << t;
    EXPECT_TRUE(separator->unmixing().allFinite()) << c.name();
    EXPECT_GT((separator->unmixing() - before).norm(), 1e-3) << c.name();
    EXPECT_TRUE(separator->failure().empty()) << c.name();
  }
}

TEST(EveryRule, SaysWhenItHasDiverged) {
  const Matrix<double> X = some_mixtures();
  for (const Case& c : every_rule()) {
    const auto separator = make(c, 1e13);
    const Matrix<double> Y = outputs(*separator, X);
    EXPECT_TRUE(Y.allFinite()) << c.name();
    EXPECT_TRUE(separator->unmixing().allFinite()) << c.name();
    // ORICA's steps and normalised ones are bounded; Herault and Jutten's network inhibits itself to silence.
    const bool cannot =
        c.method->name == "orica" || c.method->name == "hj" || c.form.starts_with("normalised");
    EXPECT_EQ(separator->failure().empty(), cannot) << c.name();
    Vector<double> y = Vector<double>::Ones(size);
    EXPECT_EQ(separator->step(X.col(0), y), cannot) << c.name();  // it stays so
    EXPECT_EQ(y.norm() > 0, cannot) << c.name();
    EXPECT_EQ(Y.rightCols(1).norm() > 0, cannot) << c.name();
  }
}

TEST(EveryRule, SaysSoOfFramesThatAreNoNumbers) {
  for (const Case& c : every_rule()) {
    const auto separator = make(c);
    Vector<double> y(size);
    EXPECT_TRUE(separator->step(Vector<double>::Ones(size), y)) << c.name();
    EXPECT_FALSE(separator->step(Vector<double>::Constant(size, std::numeric_limits<double>::quiet_NaN()), y))
        << c.name();
    EXPECT_EQ(y.norm(), 0) << c.name();
    EXPECT_FALSE(separator->failure().empty()) << c.name();
    EXPECT_TRUE(separator->unmixing().allFinite()) << c.name();
  }
}

}  // namespace
}  // namespace demix
