#include <cmath>
#include <limits>

#include "demix/metrics.hpp"
#include "online/stream_support.hpp"
#include "support.hpp"

/// What a stream says about itself, and that each of its options does what it says.
namespace demix {
namespace {

using Learn = StreamOptions::Learn;
using testing::Data;
using testing::fastica_by_hand;
using testing::make;
using testing::many;
using testing::run;
using testing::separate;

const std::vector<Source> three{Source::square, Source::sine, Source::laplace};

Vector<double> known(const Vector<double>& v) {  // NaN is not equal to itself
  return v.unaryExpr([](double x) { return std::isnan(x) ? -1 : x; });
}

void expect_same(const StreamStatus& a, const StreamStatus& b) {
  EXPECT_EQ(a.frames, b.frames);
  EXPECT_EQ(a.refused, b.refused);
  EXPECT_EQ(a.outliers, b.outliers);
  EXPECT_EQ(a.rank, b.rank);
  EXPECT_EQ(a.settled, b.settled);
  EXPECT_EQ(a.moved, b.moved);
  EXPECT_EQ(a.expected_mse, b.expected_mse);
  EXPECT_EQ(known(a.kurtosis), known(b.kurtosis));
  EXPECT_EQ(known(a.kurtosis_error), known(b.kurtosis_error));
  EXPECT_EQ(a.unresolved, b.unresolved);
  EXPECT_EQ(a.condition, b.condition);
  EXPECT_EQ(a.changes, b.changes);
  EXPECT_EQ(a.last_change, b.last_change);
}

template <typename T>
void expect_same(const StreamSeparator<T>& a, const StreamSeparator<T>& b) {
  expect_same(a.status(), b.status());
  EXPECT_EQ(a.unmixing(), b.unmixing());
  EXPECT_EQ(a.mean(), b.mean());
  EXPECT_EQ(a.frames(), b.frames());
  EXPECT_EQ(a.options(), b.options());
  EXPECT_EQ(a.channels(), b.channels());
  EXPECT_EQ(a.outputs(), b.outputs());
}

// A stream to which everything has happened that its status can tell of.
struct Eventful {
  StreamOptions options;
  Matrix<double> X, later;
  Eventful() {
    options.memory = 8000;
    options.robust = true;
    options.saturation = 1e5;
    options.seed = 3;
    Random random(32);  // a draw in which the status sees that two are not told apart
    Matrix<double> S = make_sources({Source::square}, 50000, Timing::iid, random);
    S.conservativeResize(3, Eigen::NoChange);
    S.bottomRows(2) = random.normal(2, 50000);  // which nothing tells apart
    const Matrix<double> A = random.normal(3, 3);
    const Matrix<double> B = random.normal(3, 3);
    X.resize(3, 40000);
    X << A * S.leftCols(25000), B * S.middleCols(25000, 15000);
    later = B * S.rightCols(10000);
    for (Index t = 25; t < X.cols(); t += 50) X.col(t) *= 4;  // large, but not so large that it is left out
    for (Index t = 50; t < X.cols(); t += 997) X.col(t).setConstant(3e3);
    X(1, 500) = std::numeric_limits<double>::quiet_NaN();
    X(2, 30000) = 2e5;
  }
};

TEST(Stream, ItsStateHoldsAllOfItsStatus) {
  const Eventful eventful;
  StreamSeparator<double> stream(3, eventful.options);
  run(stream, eventful.X);
  const StreamStatus s = stream.status();
  EXPECT_EQ(s.frames, 40000);
  EXPECT_EQ(s.refused, 2);
  EXPECT_GE(s.outliers, 30);
  EXPECT_GE(s.changes, 1);
  EXPECT_GT(s.last_change, 25000);
  EXPECT_FALSE(s.unresolved.empty());
  StreamSeparator<double> restored = StreamSeparator<double>::restore(stream.state());
  expect_same(stream, restored);
  StreamSeparator<double> copied(stream);
  expect_same(stream, copied);
  EXPECT_EQ(run(stream, eventful.later), run(restored, eventful.later));
  expect_same(stream, restored);
  run(copied, eventful.later);
  expect_same(stream, copied);
  stream.finish();
  restored.finish();
  expect_same(stream, restored);
}

// Whenever it is stopped: before the gate opens, while it has learned, right before the change and the alarm,
// while it learns anew.
TEST(Stream, GoesOnFromItsStateThroughAllThatHappens) {
  const Eventful eventful;
  const Matrix<double>& X = eventful.X;
  StreamSeparator<double> whole(3, eventful.options);
  run(whole, X);
  const Index change = whole.status().last_change;
  for (const Index at :
       {Index{30}, Index{299}, Index{5000}, Index{24990}, change - 1, change + 1, change + 200}) {
    StreamSeparator<double> stream(3, eventful.options);
    run(stream, X.leftCols(at));
    StreamSeparator<double> restored = StreamSeparator<double>::restore(stream.state());
    expect_same(stream, restored);
    // Soon after, also of what it would come to if it ended there, and at the end.
    const Index soon = std::min<Index>(300, X.cols() - at);
    run(stream, X.middleCols(at, soon));
    run(restored, X.middleCols(at, soon));
    expect_same(stream, restored);
    StreamSeparator<double> ended = restored;
    ended.finish();
    stream.finish();
    expect_same(stream, ended);
    run(restored, X.rightCols(X.cols() - at - soon));
    expect_same(whole, restored);
  }
}

TEST(Stream, ItsStateHoldsAllOfItsOptions) {
  std::vector<StreamOptions> ways(4);
  ways[0] = {Learn::one_pass, 2, 5000, true, 17.5, 99, 12};
  ways[1] = {Learn::replay, 2, 0, false, 3.5, 77, 13};
  ways[2] = {Learn::frame, 0, 0, false, 0, 16384, 14, Weight::reciprocal};
  for (const StreamOptions& options : ways) {
    StreamSeparator<float> stream(3, options);
    run(stream, make(2000, 32, 10, three).X);
    expect_same(stream, StreamSeparator<float>::restore(stream.state()));
  }
}

TEST(Stream, NothingIsToldBeforeTheFirstBlock) {
  StreamSeparator<double> stream(3);
  for (const Index frames : {0, 10}) {
    if (frames > 0) run(stream, make(frames, 33, 10, three).X);
    const StreamStatus s = stream.status();
    EXPECT_EQ(s.frames, frames);
    EXPECT_EQ(s.refused, 0);
    EXPECT_EQ(s.outliers, 0);
    EXPECT_EQ(s.rank, 0);
    EXPECT_FALSE(s.settled);
    EXPECT_EQ(s.moved, 1);
    EXPECT_FALSE(s.expected_mse || s.condition);
    EXPECT_EQ(s.kurtosis.size(), 0);
    EXPECT_EQ(s.changes, 0);
    EXPECT_EQ(s.last_change, -1);
  }
}

// After a change what was settled is not any more, until it has been learned anew.
TEST(Stream, AChangeUnsettlesIt) {
  Random random(34);
  const Matrix<double> S = make_sources(three, 60000, Timing::iid, random);
  const Matrix<double> A = random.normal(3, 3);
  const Matrix<double> B = random.normal(3, 3);
  StreamOptions options;
  options.memory = 10000;
  StreamSeparator<double> stream(3, options);
  run(stream, A * S.leftCols(30000));
  EXPECT_TRUE(stream.status().settled);
  EXPECT_LE(stream.status().moved, 0.01);
  Vector<double> y(3);
  Index t = 30000;
  while (t < 60000 && stream.status().changes == 0) stream.step(B * S.col(t++), y);
  EXPECT_EQ(stream.status().last_change, t);
  EXPECT_LT(t, 33000);
  EXPECT_FALSE(stream.status().settled);
  EXPECT_EQ(stream.status().moved, 1);
  run(stream, B * S.rightCols(60000 - t));
  EXPECT_TRUE(stream.status().settled);
  EXPECT_EQ(stream.status().changes, 1);
  EXPECT_EQ(stream.status().last_change, t);
}

// The sources change places and sizes: each output goes on with what is most alike, and when they have
// settled anew, they are in the order of kurtosis anew.
TEST(Stream, AfterAChangeOutputsArePutInOrderAnew) {
  Random random(45);
  const Matrix<double> S = make_sources(three, 60000, Timing::iid, random);
  const Matrix<double> A = random.normal(3, 3);
  Matrix<double> B(3, 3);
  B << 2 * A.col(1), A.col(2), A.col(0) / 2;
  StreamOptions options;
  options.memory = 10000;
  StreamSeparator<double> stream(3, options);
  const auto is_in_order = [&] {
    const Vector<double> kurtosis = stream.status().kurtosis;
    return std::is_sorted(kurtosis.begin(), kurtosis.end(), std::greater<>());
  };
  run(stream, A * S.leftCols(30000));
  EXPECT_TRUE(stream.status().settled && is_in_order());
  Vector<double> y(3);
  Index t = 30000;
  while (t < 60000 && stream.status().changes == 0) stream.step(B * S.col(t++), y);
  bool out_of_order = false;
  while (t < 60000 && !stream.status().settled) {
    stream.step(B * S.col(t++), y);
    out_of_order |= !is_in_order();
  }
  EXPECT_TRUE(out_of_order);  // while they go on where they were
  EXPECT_LT(t, 60000);
  EXPECT_TRUE(stream.status().settled && is_in_order());
}

// Without a memory a change is told, and what was learned is kept.
TEST(Stream, WithoutMemoryAChangeIsOnlyTold) {
  const Eventful eventful;
  StreamSeparator<double> stream(3);
  Matrix<double> X = eventful.X;
  X.col(500).setZero();
  X.col(30000).setZero();
  for (Index t = 50; t < X.cols(); t += 997) X.col(t).setZero();
  run(stream, X);
  EXPECT_GE(stream.status().changes, 1);
  EXPECT_GT(stream.status().last_change, 25000);
  stream.finish();
  const Matrix<double> U = stream.unmixing();
  EXPECT_LT(amari_index(U * inverse(fastica_by_hand(X, Vector<double>::Ones(X.cols()), U))), 1e-3);
  EXPECT_EQ(stream.model().samples, 40000);
}

TEST(Stream, ItsModelTellsItsOptions) {
  StreamSeparator<double> plain(3);
  run(plain, make(3000, 35, 10, three).X);
  const std::map<std::string, std::string> by_default{{"learn", "one-pass"}};
  EXPECT_EQ(plain.model().options, by_default);
  EXPECT_EQ(plain.model().samples, 3000);
  EXPECT_EQ(plain.model().method, "stream");
  StreamSeparator<double> all(3, {Learn::one_pass, 2, 5000, true});
  run(all, make(3000, 35, 10, three).X);
  const std::map<std::string, std::string> set{
      {"learn", "one-pass"}, {"memory", "5000"}, {"robust", "yes"}, {"components", "2"}};
  EXPECT_EQ(all.model().options, set);
  StreamSeparator<double> replay(3, {Learn::replay});
  run(replay, make(3000, 35, 10, three).X);
  EXPECT_EQ(replay.model().options.at("learn"), "replay");
}

TEST(Stream, ItsModelWarnsUntilItHasSettled) {
  const Data data = make(60000, 36, 10, three);
  StreamSeparator<double> stream(3);
  const auto warns = [&](Warning::Kind kind) {
    const Model model = stream.model();
    return std::any_of(model.warnings.begin(), model.warnings.end(),
                       [&](const Warning& w) { return w.kind == kind; });
  };
  run(stream, data.X.leftCols(80));
  EXPECT_TRUE(warns(Warning::Kind::not_converged));
  EXPECT_TRUE(warns(Warning::Kind::few_samples));
  run(stream, data.X.rightCols(59920));
  EXPECT_FALSE(warns(Warning::Kind::not_converged));
  EXPECT_FALSE(warns(Warning::Kind::few_samples));
}

// A source keeps its sign though the channel on which it is strongest, where it would begin as positive,
// becomes another one, on which it is negative.
TEST(Stream, SignsGoOnWhereTheStrongestChannelBecomesAnother) {
  Random random(37);
  constexpr Index frames = 60000;
  Matrix<double> S =
      make_sources({Source::square, Source::laplace, Source::sine}, frames, Timing::iid, random);
  S.row(1).head(6000) *= 0.05;  // hardly there at first, so that channel 1 is nearly the first source alone
  Matrix<double> A(3, 3);
  A << 1, 1.2, 0,  //
      -1, 0, 0.6,  //
      0.1, 1, 1;
  const Matrix<double> X = A * S;
  StreamSeparator<double> stream(3);
  run(stream, X.leftCols(6000));
  const auto gains = [&] { return Matrix<double>(stream.unmixing() * A); };
  const auto of_first = [&](const Matrix<double>& G) {
    Index row = 0;
    G.col(0).cwiseAbs().maxCoeff(&row);
    return row;
  };
  Matrix<double> before = gains();
  EXPECT_GT(before(of_first(before), 0), 0.5);  // positive on channel 1
  for (Index t = 6000; t < frames; t += 500) {
    run(stream, X.middleCols(t, 500));
    const Matrix<double> now = gains();
    ASSERT_GT(now(of_first(now), 0), 0.5) << t;
    before = now;
  }
  // There, alone, it is the other way round: strongest on channel 2, where it is positive.
  StreamSeparator<double> fresh(3);
  run(fresh, X.rightCols(40000));
  fresh.finish();
  const Matrix<double> G = fresh.unmixing() * A;
  EXPECT_LT(G(of_first(G), 0), -0.5);
}

// Every block counts exp(-block/memory) of what the next one does: FastICA with those weights.
TEST(Stream, MemoryFadesBlockByBlock) {
  Random random(38);
  constexpr Index frames = 64 * 300;
  const Matrix<double> X =
      conditioned_mixing(3, 10, random) * make_sources(three, frames, Timing::iid, random);
  StreamOptions options;
  options.memory = 3000;
  StreamSeparator<double> stream(3, options);
  ASSERT_EQ(stream.block(), 64);
  run(stream, X);
  stream.finish();
  ASSERT_EQ(stream.status().changes, 0);
  Vector<double> w(frames);
  for (Index t = 0; t < frames; ++t)
    w(t) = std::exp(-64. / 3000 * static_cast<double>((frames - 1 - t) / 64));
  const Vector<double> mean = X * w / w.sum();
  EXPECT_LT(amari_index(stream.unmixing() * inverse(fastica_by_hand(X, w))), 0.005);
  EXPECT_TRUE(stream.mean().isApprox(mean, 1e-10));
  EXPECT_EQ(stream.model().samples, std::llround(w.sum()));
}

// A mixing that turns all the time: with a memory it is followed, without one it is not.
TEST(Stream, MemoryFollowsAMixingThatTurns) {
  Random random(39);
  constexpr Index frames = 60000;
  const Matrix<double> S = make_sources(three, frames, Timing::iid, random);
  const Matrix<double> A = random.orthogonal(3);
  const auto turned = [&](Index t) {
    const double angle = 2e-5 * static_cast<double>(t);
    Matrix<double> R = Matrix<double>::Identity(3, 3);
    R(0, 0) = R(1, 1) = std::cos(angle);
    R(0, 1) = -(R(1, 0) = std::sin(angle));
    return Matrix<double>(R * A);
  };
  Matrix<double> X(3, frames);
  for (Index t = 0; t < frames; ++t) X.col(t) = turned(t) * S.col(t);
  const auto error = [&](double memory) {
    StreamOptions options;
    options.memory = memory;
    StreamSeparator<double> stream(3, options);
    run(stream, X);
    return amari_index(stream.unmixing() * turned(frames));
  };
  EXPECT_LT(error(5000), 0.15);
  EXPECT_GT(error(0), 0.3);
}

// One frame in fifty is a hundred times as large as others: robust, it is as if they were not there.
TEST(Stream, RobustIsAsIfOutliersWereNotThere) {
  const Data data = make(20000, 40, 10, three);
  Matrix<double> X = data.X;
  const Vector<double> mean = data.X.rowwise().mean();
  Random random(41);
  std::int64_t outliers = 0;
  std::vector<Index> good;
  for (Index t = 0; t < X.cols(); ++t) {
    if (t % 50 == 7) {
      X.col(t) = mean + 100 * random.normal(3, 3) * random.normal(3, 1);
      ++outliers;
    } else {
      good.push_back(t);
    }
  }
  StreamOptions options;
  options.robust = true;
  StreamSeparator<double> stream(3, options);
  run(stream, X);
  stream.finish();
  const Matrix<double> expected = fastica_by_hand(X(Eigen::all, good));
  EXPECT_NEAR(static_cast<double>(stream.status().outliers), static_cast<double>(outliers), 4);
  EXPECT_LT(amari_index(stream.unmixing() * inverse(expected)), 0.01);
  EXPECT_EQ(stream.model().samples, 20000 - stream.status().outliers);
  StreamSeparator<double> plain(3);
  run(plain, X);
  plain.finish();
  EXPECT_EQ(plain.status().outliers, 0);
  EXPECT_GT(amari_index(plain.unmixing() * inverse(expected)), 0.1);
}

// Also while the gate is still shut: of the first frames it keeps the good ones only.
TEST(Stream, RobustFromTheFirstFrameOn) {
  const Data data = make(256, 42, 10, three);
  Matrix<double> X = data.X;
  for (const Index t : {3, 100, 200}) X.col(t) *= 1e4;
  std::vector<Index> good;
  for (Index t = 0; t < 256; ++t) {
    if (t != 3 && t != 100 && t != 200) good.push_back(t);
  }
  StreamOptions options;
  options.robust = true;
  StreamSeparator<double> stream(3, options);
  run(stream, X);
  stream.finish();
  EXPECT_EQ(stream.status().outliers, 3);
  EXPECT_LT(amari_index(stream.unmixing() * inverse(fastica_by_hand(X(Eigen::all, good)))), 1e-6);
  EXPECT_EQ(stream.model().samples, 253);
}

// With nothing else to draw, replay learns from the frame at hand.
TEST(Stream, ReplayOfOneFrameIsTheFrame) {
  const Matrix<double> X = make(5000, 43, 10, three).X;
  StreamSeparator<double> replay(3, {Learn::replay, 0, 0, false, 0, 1});
  StreamSeparator<double> frame(3, {Learn::frame});
  StreamSeparator<double> more(3, {Learn::replay, 0, 0, false, 0, 100});
  run(replay, X);
  run(frame, X);
  run(more, X);
  // Up to the mean, which is that with this frame or without.
  const Matrix<double> expected = inverse(frame.unmixing());
  EXPECT_LT(amari_index(replay.unmixing() * expected), 0.01);
  EXPECT_GT(amari_index(more.unmixing() * expected), 0.02);
}

TEST(Stream, TheSeedIsThatOfTheStartAndOfTheDraws) {
  const Matrix<double> X = make(3000, 44, 10, three).X;
  const auto found = [&](Learn learn, std::uint64_t seed) {
    StreamSeparator<double> stream(3, {learn, 0, 0, false, 0, 16384, seed});
    run(stream, X);
    return stream.unmixing();
  };
  for (const Learn learn : {Learn::replay, Learn::frame}) {
    EXPECT_EQ(found(learn, 1), found(learn, 1));
    EXPECT_NE(found(learn, 1), found(learn, 2));
  }
  EXPECT_EQ(found(Learn::one_pass, 1), found(Learn::one_pass, 2));  // which has nothing to draw
}

}  // namespace
}  // namespace demix
