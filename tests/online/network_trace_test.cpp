#include "demix/network_trace.hpp"

#include "demix/natural_network.hpp"
#include "demix/sm_ica_network.hpp"
#include "demix/stream_separator.hpp"
#include "demix/synthetic.hpp"
#include "support.hpp"

namespace demix {
namespace {

NetworkMoment moment_of(double value, Index d = 2) {
  NetworkMoment m;
  m.W = m.M = Matrix<double>::Constant(d, d, value);
  m.c = m.y = Vector<double>::Constant(d, value);
  m.modulator = value;
  return m;
}

TEST(NetworkTrace, KeepsEveryStridethFrameInBoundedMemory) {
  NetworkTrace trace(1, 64 * 8 * (4 + 4 + 2 + 2 + 3));  // 64 rows
  for (int t = 1; t <= 1000; ++t) {
    trace.add(t % 4 == 0 ? 1 : 0, [t] { return moment_of(t); });
    EXPECT_LE(trace.rows().size(), 64u);
  }
  EXPECT_EQ(trace.stride(), 16);
  const auto rows = trace.rows();
  ASSERT_EQ(rows.size(), 63u);
  for (std::size_t k = 0; k < rows.size(); ++k) {
    EXPECT_EQ(rows[k].frame, 1 + 16 * static_cast<std::int64_t>(k));
    EXPECT_EQ(rows[k].moment.modulator, static_cast<double>(rows[k].frame));
    if (k + 1 < rows.size()) {
      EXPECT_EQ(rows[k].ltp, 0.25) << "the mean over the stride";
    }
  }
}

TEST(NetworkTrace, BeginsWithLearningAndAnewWithOtherOutputs) {
  NetworkTrace trace(101);
  for (int t = 0; t < 5; ++t) trace.add({}, [] { return moment_of(0); });
  for (int t = 0; t < 5; ++t) trace.add(0.5, [] { return moment_of(1); });
  ASSERT_EQ(trace.rows().size(), 5u);
  EXPECT_EQ(trace.rows()[0].frame, 106);
  trace.add(0.5, [] { return moment_of(2, 3); });
  ASSERT_EQ(trace.rows().size(), 1u);
  EXPECT_EQ(trace.rows()[0].frame, 111);
}

// What the trace says of the last frame, computed here from the weights before it.
TEST(NetworkTrace, IsOfThePublishedNetworkAsItIs) {
  const Mixture m = make_scenario(1, 500, 2);
  SmIcaNetworkOptions options;
  options.eta = 1e-3;
  options.lambda2 = Vector<double>{{0.5, 1, 2}};
  SmIcaNetwork<double> network(3, 3, options);
  NetworkTrace trace;
  Vector<double> y(3);
  for (Index t = 0; t < 500; ++t) {
    const Matrix<double> W = network.feedforward();
    ASSERT_EQ(network.step(m.mixtures.col(t), y), NetworkStatus::ok);
    network.note(trace);
    const NetworkTrace::Row last = trace.rows().back();
    const Vector<double> c = W * m.mixtures.col(t);
    EXPECT_TRUE(last.moment.c.isApprox(c, 1e-12));
    EXPECT_EQ(last.moment.y, y);
    EXPECT_EQ(last.moment.W, network.feedforward());
    EXPECT_EQ(last.moment.M, network.lateral());
    EXPECT_NEAR(last.moment.modulator, y.squaredNorm(), 1e-12 * y.squaredNorm());
    double potentiated = 0;
    for (Index i = 0; i < 3; ++i) {
      // Hebb: the change of W_ij has the sign of y_i x_j
      const double change = network.feedforward()(i, 0) - W(i, 0);
      potentiated += change * y(i) * m.mixtures(0, t) > 0 ? 1. / 3 : 0;
    }
    EXPECT_NEAR(last.ltp, potentiated, 1e-12);
  }
}

TEST(NetworkTrace, IsOfTheNaturalNetworkAlone) {
  const Mixture m = make_scenario(4, 3000, 2);
  NaturalNetwork<double> network(3);
  StreamOptions options;
  options.learn = StreamOptions::Learn::frame;
  StreamSeparator<double> stream(3, options);
  StreamSeparator<double> moments(3);
  NetworkTrace trace;
  NetworkTrace of_stream;
  NetworkTrace of_moments;
  Vector<double> y(3);
  for (Index t = 0; t < m.mixtures.cols(); ++t) {
    network.step(m.mixtures.col(t), y);
    network.note(trace);
    stream.step(m.mixtures.col(t), y);
    stream.note(of_stream);
    moments.step(m.mixtures.col(t), y);
    moments.note(of_moments);
  }
  const NetworkTrace::Row last = trace.rows().back();
  EXPECT_EQ(trace.rows()[0].frame, network.warm_up());
  EXPECT_TRUE((last.moment.M * last.moment.y).isApprox(last.moment.c, 0.2));  // M has learned since
  EXPECT_NEAR(last.moment.modulator, last.moment.y.squaredNorm(), 1e-9);
  EXPECT_EQ(of_stream.rows().back().moment.W, last.moment.W) << "the stream's network is the network";
  EXPECT_TRUE(of_moments.rows().empty());
}

}  // namespace
}  // namespace demix
