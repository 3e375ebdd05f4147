// The lines on local rules in docs/add-a-rule.md, in a rule. (Sanger's rule, from the same page, is built
// into this program as the page says, with its row in the table; see worked_example.cmake.)
#include "demix/methods.hpp"
#include "demix/rule.hpp"
#include "support.hpp"

namespace demix {
namespace {

class SingleOja final : public LocalRule<SingleOja> {
 public:
  SingleOja(Index inputs, double eta) : LocalRule(inputs, 1, 0), eta_(eta) {}

#include "local_rule.inc"

 private:
  double eta_;
};

TEST(WorkedExample, TheLocalLinesFindAPrincipalComponent) {
  SingleOja rule(3, 1e-3);
  Random random(1);
  Vector<double> y(1);
  for (int t = 0; t < 20000; ++t) {
    const Vector<double> x = Vector<double>({{3.0, 2.0, 1.0}}).asDiagonal() * random.normal(3, 1);
    rule.respond(x, y);
    rule.learn(x, y);
    ASSERT_EQ(rule.broadcast, y.squaredNorm());
  }
  EXPECT_NEAR(std::abs(rule.W(0, 0)), 1, 0.02);
}

TEST(WorkedExample, ItsRowIsInTheTable) {
  const Method& sanger = method_named("sanger");
  EXPECT_TRUE(sanger.online);
  EXPECT_EQ(sanger.locality, Locality::none);
  EXPECT_FALSE(sanger.square);
}

}  // namespace
}  // namespace demix
