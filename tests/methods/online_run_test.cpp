#include <algorithm>
#include <map>

#include "demix/methods.hpp"
#include "demix/metrics.hpp"
#include "demix/synthetic.hpp"
#include "methods/model_options.hpp"
#include "support.hpp"

/// How online methods are fed: which frames, in which order, how often.
namespace demix {
namespace {

std::vector<Index> fed;  // by what the frame says of itself

class Listener final : public OnlineSeparator {
 public:
  Listener(Index inputs, Index outputs) : U_(Matrix<double>::Identity(outputs, inputs)) {}
  bool step(const Vector<double>& x, Vector<double>& y) override {
    fed.push_back(std::lround(x(0)));
    y = U_ * x;
    return true;
  }
  Matrix<double> unmixing() const override { return U_; }

 private:
  Matrix<double> U_;
};

// The frames a method is fed with, of a recording that says which they are.
std::vector<Index> frames_fed(Index frames, const MethodOptions& options, Outcome* outcome = nullptr) {
  Method method = method_named("psp");  // any
  method.input = Input::any;            // as they are
  method.make = [](Index inputs, Index outputs, const MethodOptions&) -> std::unique_ptr<OnlineSeparator> {
    return std::make_unique<Listener>(inputs, outputs);
  };
  Matrix<double> X = Random(1).normal(2, frames);
  for (Index t = 0; t < frames; ++t) X(0, t) = static_cast<double>(t);
  fed.clear();
  const Outcome out = method.run(X, options);
  if (outcome) *outcome = out;
  return fed;
}

std::vector<Index> part(const std::vector<Index>& all, Index first, Index count) {
  return {all.begin() + first, all.begin() + first + count};
}

std::vector<Index> sorted(std::vector<Index> v) {
  std::sort(v.begin(), v.end());
  return v;
}

TEST(Feeding, FramesComeInTheirOrderAsOftenAsAsked) {
  MethodOptions options;
  options.passes = 3;
  const std::vector<Index> all = frames_fed(1000, options);
  ASSERT_EQ(all.size(), 3000U);
  for (Index t = 0; t < 3000; ++t) ASSERT_EQ(all[static_cast<std::size_t>(t)], t % 1000);
}

TEST(Feeding, ShuffledEveryPassHasAllFramesInAnOrderOfItsOwn) {
  MethodOptions options;
  options.passes = 2;
  options.shuffle = true;
  const std::vector<Index> all = frames_fed(1000, options);
  ASSERT_EQ(all.size(), 2000U);
  const std::vector<Index> one = part(all, 0, 1000);
  const std::vector<Index> two = part(all, 1000, 1000);
  EXPECT_EQ(sorted(one), sorted(two));
  EXPECT_EQ(sorted(one).front(), 0);
  EXPECT_EQ(sorted(one).back(), 999);
  EXPECT_NE(one, sorted(one));
  EXPECT_NE(one, two);
  // Any frame at any time: the mean place of the first half is that of the second.
  double early = 0;
  for (const Index t : part(one, 0, 500)) early += static_cast<double>(t) / 500;
  EXPECT_NEAR(early, 500, 60);
  EXPECT_EQ(frames_fed(1000, options), all);  // from the seed
  options.seed = 5;
  EXPECT_NE(frames_fed(1000, options), all);
}

TEST(Feeding, LiveOutputsAreKeptWhereTheirFrameIs) {
  MethodOptions options;
  options.shuffle = true;
  options.online_output = true;
  Outcome out;
  frames_fed(500, options, &out);
  ASSERT_EQ(out.online_output.cols(), 500);
  for (Index t = 0; t < 500; ++t) ASSERT_EQ(std::lround(out.online_output(0, t)), t);
  EXPECT_EQ(out.model.options.at("shuffle"), "yes");
}

// A recording sorted by one of its channels: only shuffled can the network learn from it.
TEST(Feeding, ShufflingIsWhatSortedFramesNeed) {
  Random random(2);
  const Matrix<double> X = random.normal(3, 3) * make_sources({Source::square, Source::sine, Source::laplace},
                                                              30000, Timing::iid, random);
  std::vector<Index> order(30000);
  for (Index t = 0; t < 30000; ++t) order[static_cast<std::size_t>(t)] = t;
  std::sort(order.begin(), order.end(), [&](Index a, Index b) { return X(0, a) < X(0, b); });
  const Matrix<double> in_order = X(Eigen::all, order);
  const Model fobi = method_named("fobi").run(in_order, {}).model;
  MethodOptions options;
  const Model plain = method_named("sm-ica").run(in_order, options).model;
  options.shuffle = true;
  const Model shuffled = method_named("sm-ica").run(in_order, options).model;
  EXPECT_LT(amari_index(shuffled.unmixing * fobi.mixing), 0.1);
  EXPECT_GT(amari_index(plain.unmixing * fobi.mixing), 0.2);
  EXPECT_EQ(plain.options.at("shuffle"), "no");
  EXPECT_EQ(shuffled.options.at("shuffle"), "yes");
}

// Everything that was asked for is in the model, and nothing else.
TEST(Record, TellsWhatWasAskedFor) {
  using Recorded = std::map<std::string, std::string>;
  Model model;
  record_options(model, {});
  EXPECT_EQ(model.options, Recorded{});
  MethodOptions o;
  o.form = "tanh";
  o.components = 3;
  o.eta = 0.1;
  o.tau = 1.5;
  o.weight = Weight::log;
  o.sub_gaussian = 2;
  o.whiten = false;
  o.order = Order::power;
  o.stability = 7;
  o.lambda = {1, 2.5};
  record_options(model, o);
  EXPECT_EQ(model.options, (Recorded{{"form", "tanh"},
                                     {"components", "3"},
                                     {"eta", "0.1"},
                                     {"tau", "1.5"},
                                     {"weight", "log"},
                                     {"sub_gaussian", "2"},
                                     {"whiten", "no"},
                                     {"order", "power"},
                                     {"stability", "7"},
                                     {"lambda", "1,2.5"}}));
  MethodOptions share;
  share.share = 0.95;
  share.whiten = true;
  Model other;
  record_options(other, share);
  EXPECT_EQ(other.options, (Recorded{{"components", "0.95"}, {"whiten", "yes"}}));
}

// Every batch method, and an online one that whitens, keeps as few components as hold the share.
TEST(Share, OfThePowerIsKeptByEveryMethod) {
  Random random(3);
  const Matrix<double> S = make_sources({Source::square, Source::sine, Source::laplace, Source::uniform},
                                        20000, Timing::iid, random);
  const Matrix<double> X = Vector<double>({{10.0, 6.0, 1.0, 0.5}}).asDiagonal() * S;  // 73, 26, 0.7, 0.2 %
  for (const Method& method : methods()) {
    MethodOptions options;
    if (method.online) options.whiten = true;
    if (method.finds != Finds::sources) continue;
    for (const auto& [share, components] : std::map<double, Index>{{0.5, 1}, {0.9, 2}, {0.995, 3}}) {
      options.share = share;
      try {
        EXPECT_EQ(method.run(X, options).model.components(), components) << method.name << " " << share;
      } catch (const Diverged&) {
      }
    }
  }
}

}  // namespace
}  // namespace demix
