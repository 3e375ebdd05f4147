// Every rule, in every form, beside its formula written out with whole matrices: explicit inverses, an
// eigenvalue problem per frame, every subset tried. From the same weights, fed the same frames, both come to
// the same outputs and weights.
#include <cmath>

#include "demix/linear_algebra.hpp"
#include "demix/random.hpp"
#include "demix/rules/amari.hpp"
#include "demix/rules/bcm.hpp"
#include "demix/rules/bio_nica.hpp"
#include "demix/rules/easi.hpp"
#include "demix/rules/error_gated_hebbian.hpp"
#include "demix/rules/herault_jutten.hpp"
#include "demix/rules/infomax.hpp"
#include "demix/rules/nonlinear_oja.hpp"
#include "demix/rules/oja_subspace.hpp"
#include "demix/rules/orica.hpp"
#include "demix/rules/principal_subspace.hpp"
#include "demix/rules/reconstruction.hpp"
#include "support.hpp"

namespace demix {
namespace {

using Mat = Matrix<double>;
using Vec = Vector<double>;

constexpr Index d = 4;
const Mat I = Mat::Identity(d, d);

// Two uniform and two Laplace sources, mixed a little.
Mat some_frames(Index count = 200) {
  Random random(11);
  const Mat A = I + 0.3 * random.normal(d, d);
  Mat S(d, count);
  for (Index t = 0; t < count; ++t) {
    for (Index i = 0; i < d; ++i) S(i, t) = i < 2 ? random.uniform(-1.7, 1.7) : random.laplace();
  }
  return A * S;
}

// Ten times the usual rate, that 200 frames may change much.
RuleOptions in_form(const Form& form) {
  RuleOptions o;
  o.form = form.name;
  o.eta = 10 * form.eta;
  o.tau = 0.7;
  o.seed = 5;
  return o;
}

void expect_same(const Mat& ours, const Mat& plain, double tolerance = 1e-9) {
  ASSERT_EQ(ours.rows(), plain.rows());
  ASSERT_EQ(ours.cols(), plain.cols());
  EXPECT_LT((ours - plain).norm(), tolerance * plain.norm());
}

// `plain` is one frame of the formula: x in, y out, its own weights changed.
template <typename Plain>
void expect_same_outputs(Rule& rule, const Mat& X, Plain&& plain, double tolerance = 1e-9) {
  const Mat before = rule.unmixing();
  Vec y(before.rows());
  for (Index t = 0; t < X.cols(); ++t) {
    const Vec x = X.col(t);
    rule.respond(x, y);
    const Vec expected = plain(x);
    ASSERT_LE((y - expected).norm(), tolerance * expected.norm()) << "frame " << t;
    rule.learn(x, y);
  }
  EXPECT_GT((rule.unmixing() - before).norm(), 0.02 * before.norm()) << "it has hardly learned";
}

TEST(RuleFormulas, HeraultJutten) {
  for (const Form& form : rules::HeraultJutten::forms) {
    const RuleOptions o = in_form(form);
    rules::HeraultJutten rule(d, d, o);
    Mat M = rule.M;
    expect_same_outputs(rule, some_frames(), [&](const Vec& x) {
      const Vec y = inverse(I + M) * x;
      const Vec f = y.array().pow(3);
      const Vec g = form.name == "atan" ? Vec(y.array().atan()) : y;
      Mat change = o.eta * f * g.transpose();
      change.diagonal().setZero();
      M += change;
      return y;
    });
    expect_same(rule.M, M);
    expect_same(rule.unmixing(), inverse(I + M));
  }
}

TEST(RuleFormulas, Easi) {
  for (const Form& form : rules::Easi::forms) {
    const RuleOptions o = in_form(form);
    const bool cubic = form.name == "cubic" || form.name == "normalised";
    const bool normalised = form.name == "normalised" || form.name == "normalised-tanh";
    rules::Easi rule(d, d, o);
    Mat W = rule.W;
    expect_same_outputs(rule, some_frames(), [&](const Vec& x) {
      const Vec y = W * x;
      const Vec g = cubic ? Vec(y.array().pow(3)) : Vec(y.array().tanh());
      const Mat white = y * y.transpose() - I;
      const Mat skew = g * y.transpose() - y * g.transpose();
      if (normalised) {
        W -= o.eta * (white / (1 + o.eta * y.dot(y)) + skew / (1 + o.eta * std::abs(g.dot(y)))) * W;
      } else {
        W -= o.eta * (white + skew) * W;
      }
      return y;
    });
    expect_same(rule.unmixing(), W);
  }
}

TEST(RuleFormulas, NonlinearOja) {
  const RuleOptions o = in_form(rules::NonlinearOja::forms[0]);
  rules::NonlinearOja rule(d, 3, o);
  Mat W = rule.W;
  expect_same_outputs(rule, some_frames(), [&](const Vec& x) {
    const Vec y = W * x;
    const Vec g = y.array().tanh();
    W += o.eta * (g * x.transpose() - g * g.transpose() * W);
    return y;
  });
  expect_same(rule.unmixing(), W);
}

TEST(RuleFormulas, Infomax) {
  for (const Form& form : rules::Infomax::forms) {
    if (form.name == "extended") continue;
    const RuleOptions o = in_form(form);
    rules::Infomax rule(d, d, o);
    Mat W = rule.W;
    expect_same_outputs(rule, some_frames(), [&](const Vec& x) {
      const Vec y = W * x;
      Vec phi = y.array().pow(3);
      if (form.name == "tanh") phi = 2 * y.array().tanh();
      if (form.name == "logistic") phi = 2 / (1 + (-y.array()).exp()) - 1;
      W += o.eta * (inverse(W).transpose() - phi * x.transpose());
      return y;
    });
    expect_same(rule.unmixing(), W);
  }
}

// k_i = sign(E[sech^2 y_i] E[y_i^2] - E[y_i tanh y_i]), with expectations that start from 1 and forget.
struct Signs {
  Vec sech2 = Vec::Ones(d), power = Vec::Ones(d), slope = Vec::Ones(d);
  int changes = 0;

  Vec k() const {
    return (sech2.array() * power.array() - slope.array()).unaryExpr([](double v) {
      return v >= 0 ? 1.0 : -1.0;
    });
  }
  void forget(const Vec& y, double rate) {
    const Vec before = k();
    sech2 = (1 - rate) * sech2.array() + rate / y.array().cosh().square();
    power = (1 - rate) * power.array() + rate * y.array().square();
    slope = (1 - rate) * slope.array() + rate * y.array() * y.array().tanh();
    changes += before != k();
  }
};

TEST(RuleFormulas, ExtendedInfomax) {
  const RuleOptions o = in_form(rules::Infomax::forms[0]);
  ASSERT_EQ(o.form, "extended");
  rules::Infomax rule(d, d, o);
  Mat W = rule.W;
  Signs signs;
  expect_same_outputs(rule, some_frames(2000), [&](const Vec& x) {
    const Vec y = W * x;
    signs.forget(y, 1e-3);
    const Mat K = signs.k().asDiagonal();
    W += o.eta * (I - K * Vec(y.array().tanh()) * y.transpose() - y * y.transpose()) * W;
    return y;
  });
  expect_same(rule.unmixing(), W);
  EXPECT_GT(signs.changes, 1);
}

TEST(RuleFormulas, Amari) {
  for (const Form& form : rules::Amari::forms) {
    const RuleOptions o = in_form(form);
    rules::Amari rule(d, d, o);
    Mat W = rule.W;
    expect_same_outputs(rule, some_frames(), [&](const Vec& x) {
      const Vec y = W * x;
      const auto a = y.array();
      Vec phi = a.pow(3);
      if (form.name == "polynomial") {
        phi = 3. / 4 * a.pow(11) + 25. / 4 * a.pow(9) - 14. / 3 * a.pow(7) - 47. / 4 * a.pow(5) +
              29. / 4 * a.pow(3);
      }
      W += o.eta * (I - phi * y.transpose()) * W;
      return y;
    });
    expect_same(rule.unmixing(), W);
  }
}

TEST(RuleFormulas, ErrorGatedHebbian) {
  for (const Form& form : rules::ErrorGatedHebbian::forms) {
    RuleOptions o = in_form(form);
    o.eta = form.eta;  // these frames are neither all Laplace nor all uniform, and it diverges easily
    rules::ErrorGatedHebbian rule(d, d, o);
    Mat W = rule.W;
    expect_same_outputs(rule, some_frames(), [&](const Vec& x) {
      const Vec y = W * x;
      Vec g;
      double surprise;  // E_0 - E(y)
      if (form.name == "laplace") {
        g = std::sqrt(2.) * (100 * y.array()).tanh();
        surprise = d + 1 - y.dot(g);
      } else {
        g = 4 * y.array().pow(3) / 9;
        surprise = d / 5. + 16. / 45 - (y / std::sqrt(3.)).array().pow(4).sum();
      }
      W += o.eta * surprise * g * x.transpose();
      return y;
    });
    expect_same(rule.unmixing(), W);
  }
}

// E_0 is where sources of the density the form is for are a fixed point: no change in the mean.
TEST(RuleFormulas, ErrorGatedHebbianRestsAtItsSources) {
  for (const Form& form : rules::ErrorGatedHebbian::forms) {
    RuleOptions o = in_form(form);
    o.eta = 1e-9;  // W stays where it is while the changes add up
    rules::ErrorGatedHebbian rule(d, d, o);
    rule.W = I;
    Random random(1);
    constexpr Index frames = 200000;
    Vec x(d), y(d);
    for (Index t = 0; t < frames; ++t) {
      for (Index i = 0; i < d; ++i) {
        x(i) = form.name == "laplace" ? random.laplace() : random.uniform(-std::sqrt(3.), std::sqrt(3.));
      }
      rule.respond(x, y);
      rule.learn(x, y);
    }
    const Mat mean_change = (rule.W - I) / (o.eta * frames);
    EXPECT_LT(mean_change.cwiseAbs().maxCoeff(), 0.05) << form.name;
  }
}

TEST(RuleFormulas, Bcm) {
  const RuleOptions o = in_form(rules::Bcm::forms[0]);
  rules::Bcm rule(d, 3, o);
  Mat W = rule.W;
  Vec theta = Vec::Ones(3);
  expect_same_outputs(rule, some_frames(), [&](const Vec& x) {
    const Vec y = W * x;
    theta = (1 - 10 * o.eta) * theta + 10 * o.eta * y.cwiseProduct(y);
    W += o.eta * y.cwiseProduct(y - theta) * x.transpose();
    return y;
  });
  expect_same(rule.unmixing(), W);
  expect_same(rule.own, theta);
}

TEST(RuleFormulas, OjaSubspace) {
  const RuleOptions o = in_form(rules::OjaSubspace::forms[0]);
  rules::OjaSubspace rule(d, 3, o);
  Mat W = rule.W;
  expect_same_outputs(rule, some_frames(), [&](const Vec& x) {
    const Vec y = W * x;
    W += o.eta * (y * x.transpose() - y * y.transpose() * W);
    return y;
  });
  expect_same(rule.unmixing(), W);
}

TEST(RuleFormulas, Reconstruction) {
  const RuleOptions o = in_form(rules::Reconstruction::forms[0]);
  rules::Reconstruction rule(d, 3, o);
  Mat W = rule.W;
  expect_same_outputs(rule, some_frames(), [&](const Vec& x) {
    Vec y = Vec::Zero(3);  // dy/dt = W x - W W^T y
    for (int step = 0; step < 2000; ++step) y += 0.2 / W.squaredNorm() * (W * x - W * W.transpose() * y);
    W += o.eta * y * (x - W.transpose() * y).transpose();
    return y;
  });
  expect_same(rule.W, W);
  expect_same(rule.unmixing(), inverse(W * W.transpose()) * W);
}

TEST(RuleFormulas, PrincipalSubspace) {
  const RuleOptions o = in_form(rules::PrincipalSubspace::forms[0]);
  rules::PrincipalSubspace rule(d, 3, o);
  Mat W = rule.W;
  Mat M = rule.M;
  expect_same_outputs(rule, some_frames(), [&](const Vec& x) {
    const Vec y = inverse(M) * W * x;
    W += o.eta * (y * x.transpose() - W);
    M += o.eta / o.tau * (y * y.transpose() - M);
    return y;
  });
  expect_same(rule.W, W);
  expect_same(rule.M, M);
  expect_same(rule.unmixing(), inverse(M) * W);
}

// argmin_{y >= 0} y^T M y / 2 - c^T y, by trying every set of outputs that may be above 0.
Vec best_nonnegative(const Mat& M, const Vec& c) {
  Vec best = Vec::Zero(d);
  double least = 0;
  for (unsigned set = 1; set < (1U << d); ++set) {
    std::vector<Index> on;
    for (Index i = 0; i < d; ++i) {
      if ((set >> i & 1U) != 0) on.push_back(i);
    }
    const Vec part = inverse(M(on, on)) * c(on);
    if (part.minCoeff() < 0) continue;
    Vec y = Vec::Zero(d);
    y(on) = part;
    const double value = y.dot(M * y) / 2 - c.dot(y);
    if (value < least) best = y;
    least = std::min(least, value);
  }
  return best;
}

// The rule stops when its outputs move by less than 1e-9 of the largest.
TEST(RuleFormulas, BioNica) {
  const RuleOptions o = in_form(rules::BioNica::forms[0]);
  rules::BioNica rule(d, d, o);
  rule.W.row(0) = -rule.W.row(0).cwiseAbs();  // begins silent, and has to be turned round
  Mat W = rule.W;
  Mat M = rule.M;
  Vec x_mean = Vec::Zero(d);
  Vec c_mean = Vec::Zero(d);
  std::vector<int> silent(d, 0);
  int n = 0;
  int turned = 0;
  const Mat X = some_frames(1500).cwiseAbs();
  const auto plain = [&](const Vec& x) {
    Vec c = W * x;
    const Vec y = best_nonnegative(M, c);
    const double rate = ++n < 1000 ? 1. / n : 1e-3;
    x_mean = (1 - rate) * x_mean + rate * x;
    c_mean = (1 - rate) * c_mean + rate * c;
    for (Index i = 0; i < d; ++i) {
      silent[i] = y(i) > 0 ? 0 : silent[i] + 1;
      if (silent[i] < 50) continue;
      silent[i] = 0;
      ++turned;
      W.row(i) *= -1;
      c(i) *= -1;
      c_mean(i) *= -1;
    }
    W += 2 * o.eta * (y * x.transpose() - (c - c_mean) * (x - x_mean).transpose());
    M += o.eta / o.tau * (y * y.transpose() - M);
    return y;
  };
  expect_same_outputs(rule, X, plain, 1e-7);
  expect_same(rule.W, W, 1e-7);
  expect_same(rule.M, M, 1e-7);
  expect_same(rule.unmixing(), inverse(M) * W, 1e-7);
  EXPECT_GT(turned, 0);
}

// To the letter, with an eigenvalue problem per frame. lambda starts small, so that 1 + lambda (f^T y - 1) >
// 0; else the literal step mirrors W, and the rule turns it.
TEST(RuleFormulas, Orica) {
  for (const bool known : {true, false}) {
    RuleOptions o = in_form(rules::Orica::forms[0]);
    o.eta = 0.1;
    if (known) o.sub_gaussian = 3;
    rules::Orica rule(d, d, o);
    Mat W = rule.W;
    Mat P = I;
    Signs signs;
    int n = 0;
    expect_same_outputs(rule, some_frames(500), [&](const Vec& x) {
      const double lambda = o.eta / std::pow(++n, 0.6);
      const Vec v = P * x;
      const Vec y = W * v;
      signs.forget(y, lambda);
      const Vec k = known ? Vec({{1.0, -1.0, -1.0, -1.0}}) : signs.k();
      const Vec f = -2 * k.array() * y.array().tanh();
      const double Q = 1 + lambda * (f.dot(y) - 1);
      EXPECT_GT(Q, 0);
      W = (W - y * (lambda / Q) * f.transpose() * W) / (1 - lambda);
      W = inverse_sqrt(symmetric_eigen(W * W.transpose())) * W;
      P = (P - v * v.transpose() * P / ((1 - lambda) / lambda + v.dot(v))) / (1 - lambda);
      return y;
    });
    expect_same(rule.W, W);
    expect_same(rule.unmixing(), W * P);
    if (!known) {
      EXPECT_GT(signs.changes, 1);
    }
  }
}

// Nothing makes W orthogonal again: turned a hundred thousand times, it is still what it was.
TEST(RuleFormulas, OricaStaysARotation) {
  const Mat X = some_frames(1000);
  for (const bool known : {true, false}) {
    RuleOptions o;
    o.form = "tanh";
    o.eta = rules::Orica::forms[0].eta;
    if (known) o.sub_gaussian = 2;
    rules::Orica rule(d, d, o);
    const double orientation = determinant(rule.W);
    Vec x(d), y(d);
    for (Index t = 0; t < 100000; ++t) {
      x = X.col(t % X.cols());
      rule.respond(x, y);
      rule.learn(x, y);
    }
    EXPECT_LT((rule.W * rule.W.transpose() - I).norm(), 1e-9);
    EXPECT_NEAR(determinant(rule.W), orientation, 1e-9);
  }
}

}  // namespace
}  // namespace demix
