// What `auto` and the diagnosis promise, on mixtures of real sounds and pictures: never much worse than the
// best method, an expected crosstalk that holds, echoes and delays told, glitches survived, no false alarms.
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <numbers>

#include "bars/recordings.hpp"
#include "demix/fastica.hpp"
#include "demix/fobi.hpp"
#include "demix/metrics.hpp"
#include "demix/picard.hpp"
#include "demix/separate.hpp"
#include "demix/signal_files.hpp"
#include "demix/synthetic.hpp"
#include "support.hpp"

namespace demix {
namespace {

using Signal = Vector<double>;

constexpr double rate = 16000;

bool full() { return std::getenv("DEMIX_FULL") != nullptr; }

// DEMIX_SEED draws anew.
Random random_from(std::uint64_t seed) {
  const char* more = std::getenv("DEMIX_SEED");
  return Random(seed + (more != nullptr ? 1000 * std::strtoull(more, nullptr, 10) : 0));
}

Signal read(const std::string& name) {
  const char* folder = std::getenv("DEMIX_DATA");
  if (folder == nullptr || !std::filesystem::exists(std::string(folder) + "/" + name)) return {};
  return gather(io::FileRecording({std::string(folder) + "/" + name})).row(0).transpose();
}

// A syllable-like envelope on coloured Laplace noise.
Signal voice_stand_in(Random& random) {
  Signal s(32000);
  double low = 0;
  const double speed = random.uniform(2000, 4000);
  for (Index t = 0; t < s.size(); ++t) {
    low = 0.7 * low + random.laplace();
    s(t) = low * (0.03 + std::pow(std::sin(static_cast<double>(t) / speed), 4));
  }
  return s;
}

Signal picture_stand_in(Random& random) {
  Signal s(Index{512} * 256);
  const double shape = random.uniform(0.5, 4);
  double level = 0;
  for (Index t = 0; t < s.size(); ++t) {
    if (random.below(200) == 0) level = std::pow(random.uniform(), shape);
    s(t) = level + 0.05 * random.normal();
  }
  return s;
}

std::vector<Signal> all_of(const std::vector<std::string>& names, Signal (*stand_in)(Random&),
                           const char* what) {
  std::vector<Signal> out;
  Random random(5);
  for (const std::string& name : names) {
    Signal s = read(name);
    if (s.size() == 0 && out.empty())
      std::printf("[   NOTE   ] no %s in $DEMIX_DATA: using generated stand-ins\n", what);
    out.push_back(s.size() > 0 ? s : stand_in(random));
  }
  return out;
}

const std::vector<Signal>& voices() {
  static const std::vector<Signal> v =
      all_of({"speech_tsp/FA01_03.wav", "speech_tsp/MA02_04.wav", "speech_more/FJ55_04.wav",
              "speech_more/MD19_07.wav", "speech_more/MH43_06.wav"},
             voice_stand_in, "voices");
  return v;
}

const std::vector<Signal>& pictures() {
  static const std::vector<Signal> v = all_of(
      {"images_free/astronaut_256x512.pgm", "images_free/coffee_256x512.pgm",
       "images_free/rocket_256x512.pgm", "images_more/camera_256x512.pgm", "images_more/gravel_256x512.pgm"},
      picture_stand_in, "photographs");
  return v;
}

// Speech-shaped noise, a plucked string, and a saw-tooth whose pitch wanders.
std::vector<Signal> noises(Random& random) {
  constexpr Index T = 40000;
  std::vector<Signal> out(3, Signal(T));
  double a = 0;
  double b = 0;
  double phase = 0;
  Signal string;
  for (Index t = 0; t < T; ++t) {
    a = 0.82 * a + random.normal();
    b = 0.82 * b + a;
    out[0](t) = b;
    if (t % 6000 == 0) {
      string =
          Signal(static_cast<Index>(rate / (110 * std::pow(2, static_cast<double>(random.below(12)) / 12))));
      for (double& v : string) v = random.uniform(-1, 1);
    }
    const Index k = t % string.size();
    out[1](t) = string(k);
    string(k) = 0.498 * (string(k) + string((k + 1) % string.size()));
    phase += (137 + 5 * std::sin(static_cast<double>(t) / 5000)) / rate;
    out[2](t) = 2 * (phase - std::floor(phase)) - 1;
  }
  return out;
}

Matrix<double> rows(const std::vector<const Signal*>& which) {
  Index frames = which[0]->size();
  for (const Signal* s : which) frames = std::min(frames, s->size());
  Matrix<double> S(static_cast<Index>(which.size()), frames);
  for (std::size_t k = 0; k < which.size(); ++k) S.row(static_cast<Index>(k)) = which[k]->head(frames);
  testing::standardise(S);
  return S;
}

// All pairs and triples, and pairs and triples with one of `others`.
std::vector<Matrix<double>> groups(const std::vector<Signal>& of, const std::vector<Signal>& others = {}) {
  std::vector<Matrix<double>> out;
  for (std::size_t i = 0; i < of.size(); ++i) {
    for (const Signal& o : others) out.push_back(rows({&of[i], &o}));
    for (std::size_t j = i + 1; j < of.size(); ++j) {
      out.push_back(rows({&of[i], &of[j]}));
      for (const Signal& o : others) out.push_back(rows({&of[i], &of[j], &o}));
      for (std::size_t k = j + 1; k < of.size(); ++k) out.push_back(rows({&of[i], &of[j], &of[k]}));
    }
  }
  return out;
}

// Of the processor, on all threads: less disturbed by what else the machine does.
double now() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// The best of three.
double seconds(const std::function<void()>& work) {
  double best = std::numeric_limits<double>::infinity();
  for (int k = 0; k < 3; ++k) {
    const double start = now();
    work();
    best = std::min(best, now() - start);
  }
  return best;
}

double decibels(double power) { return 10 * std::log10(power); }

bool told(const Model& model, Warning::Kind kind) {
  return std::ranges::any_of(model.warnings, [&](const Warning& w) { return w.kind == kind; });
}

TEST(AutoBar, RealMixtures) {
  Random random = random_from(4711);
  std::vector<double> ratios;
  std::vector<double> off;  // dB: truth over expectation
  Index below = 0;
  Index promised = 0;
  Index warned = 0;
  double auto_time = 0;
  double fast_time = 0;
  const int mixings = full() ? 5 : 1;
  for (int r = 0; r < mixings; ++r) {
    std::vector<Matrix<double>> problems = groups(voices(), noises(random));
    for (Matrix<double>& S : groups(pictures())) problems.push_back(std::move(S));
    for (const Matrix<double>& S : problems) {
      const Matrix<double> A = normal_mixing(S.rows(), random);
      const Matrix<double> X = A * S;
      const auto error = [&](const Model& m) { return mse_of_gain(m.unmixing * A); };
      Separated found;
      Model fast;
      const double own_time = seconds([&] { found = separate(X); });
      const double usual_time = seconds([&] { fast = fastica(X); });
      auto_time += own_time;
      fast_time += usual_time;
      const std::array<double, 3> others{error(fobi(X)), error(fast), error(picard(X))};
      const double best = std::ranges::min(others);
      const double own = error(found.model);
      ratios.push_back(own / best);
      warned += !found.model.warnings.empty();
      if (std::getenv("DEMIX_VERBOSE") != nullptr) {
        const auto& c = found.model.diagnosis.crosstalk;
        std::printf(
            "d %ld T %ld %.1f ms, fastica %.1f, %s %.1f dB ratio %.2f (fobi %.1f fastica %.1f picard %.1f) "
            "expected %.1f bound %.1f "
            "%s%s\n",
            static_cast<long>(S.rows()), static_cast<long>(S.cols()), 1e3 * own_time, 1e3 * usual_time,
            found.model.method.c_str(), decibels(own), own / best, decibels(others[0]), decibels(others[1]),
            decibels(others[2]), c ? decibels(c->expected) : 0, c ? decibels(c->bound) : 0, found.why.c_str(),
            found.model.warnings.empty() ? "" : (" " + found.model.warnings[0].text).c_str());
      }
      if (!found.model.warnings.empty() || !found.model.diagnosis.crosstalk) continue;
      ++promised;
      below += own < found.model.diagnosis.crosstalk->bound;
      off.push_back(decibels(own / found.model.diagnosis.crosstalk->expected));
    }
  }
  const auto share = [&](double limit) {
    return static_cast<double>(std::ranges::count_if(ratios, [&](double v) { return v <= limit; })) /
           static_cast<double>(ratios.size());
  };
  double decibels_over_best = 0;
  for (const double ratio : ratios)
    decibels_over_best += decibels(ratio) / static_cast<double>(ratios.size());
  std::printf(
      "[  FIGURE  ] auto on %zu real mixtures: MSE at most 1.05x the best of fobi, fastica, picard in %.1f "
      "%% (bar "
      "90 %%), 1.5x in %.1f %% (bar 100 %%), worst %.2fx, on average %+.2f dB; time %.2fx fastica's (bar "
      "1.3x)\n",
      ratios.size(), 100 * share(1.05), 100 * share(1.5), testing::largest(ratios), decibels_over_best,
      auto_time / fast_time);
  std::printf(
      "[  FIGURE  ] expected crosstalk, told and without a warning for %ld of %zu (%ld warned of): truth "
      "below the "
      "95 %% bound in %.1f %% (bar 90 %%), median of truth over expectation %+.1f dB (bar 3), worst %+.1f "
      "and %+.1f dB "
      "(bar 12)\n",
      static_cast<long>(promised), ratios.size(), static_cast<long>(warned),
      100 * static_cast<double>(below) / static_cast<double>(std::max<Index>(1, promised)),
      testing::median(off), testing::smallest(off), testing::largest(off));
  EXPECT_GE(share(1.05), 0.9);
  // Not in all: the best of three may be the luckiest. Where they differ by less than the recording can tell,
  // no choice always comes to it.
  EXPECT_GE(share(1.5), 0.94);
  EXPECT_LE(decibels_over_best, 0);
  EXPECT_GE(static_cast<double>(below), 0.9 * static_cast<double>(promised));
  EXPECT_LT(std::abs(testing::median(off)), 3);
  EXPECT_LT(testing::largest(off), 12);
}

// Source j reaches channel i late.
Matrix<double> delayed(const Matrix<double>& S, Random& random) {
  Matrix<double> X = Matrix<double>::Zero(S.rows(), S.cols());
  const Index base = 4 + random.below(13);  // .25 to 1 ms
  for (Index i = 0; i < S.rows(); ++i) {
    for (Index j = 0; j < S.rows(); ++j) {
      const Index by = i == j ? 0 : base + random.below(3);
      const double gain = random.uniform(0.5, 1) * (random.below(2) == 0 ? -1 : 1);
      X.row(i).tail(S.cols() - by) += gain * S.row(j).head(S.cols() - by);
    }
  }
  return X;
}

// A direct path and an exponentially decaying tail of noise, of which RT60 is when it is 60 dB down.
Matrix<double> in_a_room(const Matrix<double>& S, double rt60, Random& random) {
  Matrix<double> X = Matrix<double>::Zero(S.rows(), S.cols());
  const auto length = static_cast<Index>(rt60 * rate);
  for (Index i = 0; i < S.rows(); ++i) {
    for (Index j = 0; j < S.rows(); ++j) {
      Signal tail(length);
      for (Index k = 0; k < length; ++k) {
        tail(k) = random.normal() * std::pow(10, -3 * static_cast<double>(k) / static_cast<double>(length));
      }
      tail *= 0.5 / tail.norm();
      tail(0) += 1;
      const Index by = random.below(40);
      const double gain = i == j ? 1 : random.uniform(0.4, 0.9);
      for (Index k = 0; k < length; ++k) {
        const Index n = S.cols() - by - k;
        X.row(i).tail(n) += gain * tail(k) * S.row(j).head(n);
      }
    }
  }
  return X;
}

TEST(AutoBar, EchoesAndDelaysAreToldAndNothingElseIs) {
  Random random = random_from(77);
  const std::vector<Matrix<double>> voices_mixed = groups(voices());
  Index seen = 0;
  const Index convolved = full() ? 100 : 30;
  for (Index k = 0; k < convolved; ++k) {
    const Matrix<double>& S =
        voices_mixed[static_cast<std::size_t>(random.below(static_cast<Index>(voices_mixed.size())))];
    const Matrix<double> some = S.leftCols(std::min<Index>(S.cols(), full() ? S.cols() : 16000));
    const Matrix<double> X = k % 2 == 0 ? delayed(some, random)
                                        : in_a_room(some, random.uniform(0.05, full() ? 0.5 : 0.1), random);
    seen += told(separate(X).model, Warning::Kind::convolved);
  }
  Index false_alarms = 0;
  Index others = 0;
  Index instantaneous = 0;
  std::string which;
  const auto clean = [&](const Matrix<double>& X, const char* what) {
    const Model model = separate(X).model;
    ++instantaneous;
    if (told(model, Warning::Kind::convolved)) which += std::string(" ") + what;
    false_alarms += told(model, Warning::Kind::convolved);
    for (const auto kind : {Warning::Kind::dependent, Warning::Kind::glitches, Warning::Kind::drift,
                            Warning::Kind::clipped, Warning::Kind::unresolved}) {
      if (!told(model, kind)) continue;
      ++others;
      for (const Warning& w : model.warnings) {
        if (w.kind == kind) which += std::string(" [") + what + ": " + w.text + "]";
      }
    }
  };
  std::vector<Matrix<double>> sounds = groups(voices(), noises(random));
  for (std::size_t k = 0; k < sounds.size(); k += full() ? 1 : 4)
    clean(normal_mixing(sounds[k].rows(), random) * sounds[k], "sounds");
  for (const Matrix<double>& S : groups(pictures())) clean(normal_mixing(S.rows(), random) * S, "pictures");
  bool real = false;
  const Matrix<double> brain = testing::eeg(real);
  for (Index part = 0; part < 3; ++part)
    clean(brain.middleCols(part * (brain.cols() / 3), brain.cols() / 3), "EEG");
  clean(brain, "EEG");
  for (int scenario = 1; scenario <= 4; ++scenario) {
    for (std::uint64_t seed = 0; seed < (full() ? 30U : 5U); ++seed) {
      clean(make_scenario(scenario, seed % 5 == 4 ? 100000 : 10000, seed).mixtures, "scenario");
    }
  }
  std::printf(
      "[  FIGURE  ] echoes or delays told in %ld of %ld (bar 95 %%); falsely in %ld of %ld instantaneous "
      "mixtures (bar "
      "2 %%); other warnings of what is clean there: %ld%s\n",
      static_cast<long>(seen), static_cast<long>(convolved), static_cast<long>(false_alarms),
      static_cast<long>(instantaneous), static_cast<long>(others), which.c_str());
  EXPECT_GE(static_cast<double>(seen), 0.95 * static_cast<double>(convolved));
  EXPECT_LE(static_cast<double>(false_alarms), 0.02 * static_cast<double>(instantaneous));
}

TEST(AutoBar, GlitchesAreSurvivedAndTold) {
  Random random = random_from(99);
  std::vector<double> ratios;
  Index seen = 0;
  Index problems = 0;
  const std::vector<Source> four{Source::square, Source::sine, Source::sawtooth, Source::laplace};
  for (int r = 0; r < (full() ? 20 : 3); ++r) {
    const Matrix<double> A = normal_mixing(4, random);
    const Mixture m = mix(make_sources(four, 8000, Timing::iid, random), A);
    const double clean = amari_index(separate(m.mixtures).model.unmixing * m.mixing);
    for (const Index frames : {1, 3, 10}) {
      for (const double size : {10., 30., 100., 1000.}) {
        Matrix<double> X = m.mixtures;
        for (Index k = 0; k < frames; ++k) {
          const Index c = random.below(4);
          const double deviation = m.mixtures.row(c).norm() / std::sqrt(8000.);
          X(c, random.below(8000)) += size * deviation * (random.below(2) == 0 ? -1 : 1);
        }
        const Model model = separate(X).model;
        ratios.push_back(amari_index(model.unmixing * m.mixing) / clean);
        seen += told(model, Warning::Kind::glitches);
        ++problems;
        if (std::getenv("DEMIX_VERBOSE") != nullptr) {
          std::printf("frames %ld size %g ratio %.2f told %d\n", static_cast<long>(frames), size,
                      ratios.back(), told(model, Warning::Kind::glitches));
        }
      }
    }
  }
  std::printf(
      "[  FIGURE  ] glitches, 1 to 10 frames of 8000, 10 to 1000 deviations: Amari at most %.2fx that of "
      "clean data, "
      "median %.2fx (bar 1.5x), told in %ld of %ld\n",
      testing::largest(ratios), testing::median(ratios), static_cast<long>(seen),
      static_cast<long>(problems));
  EXPECT_LE(testing::largest(ratios), 1.5);
  EXPECT_EQ(seen, problems);
}

}  // namespace
}  // namespace demix
