// The stream beside the other online methods, one pass each over the same frames: the table of
// docs/streams.md. recursive-fobi is FOBI of all frames so far.
#include <cstdio>

#include "bars/recordings.hpp"
#include "bars/stream_runs.hpp"
#include "demix/linear_algebra.hpp"
#include "demix/methods.hpp"
#include "support.hpp"

namespace demix {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)

struct Rival {
  const char* method;
  const char* form;
};
constexpr Rival rivals[] = {{"stream", ""},          {"recursive-fobi", ""}, {"orica", ""},
                            {"infomax", "extended"}, {"sm-ica", ""},         {"fastica", ""}};

// Amari index; 1 where the method diverges.
double amari(const Rival& rival, const Matrix<double>& X, const Matrix<double>& A, Index sub_gaussian) {
  const Method& method = method_named(rival.method);
  MethodOptions options;
  options.form = rival.form;
  if (method.takes_sub_gaussian) options.sub_gaussian = sub_gaussian;
  if (method.input == Input::white) options.whiten = true;
  try {
    return amari_index(method.run(X, options).model.unmixing * A);
  } catch (const Diverged&) {
    return 1;
  }
}

// Batch FastICA is there to compare with; no online rival may be better than the stream.
void compare(const char* what, const Matrix<double>& X, const Matrix<double>& A, Index sub_gaussian) {
  std::printf("[  FIGURE  ] Amari index, one pass, %s:", what);
  double stream = 0;
  bool best = true;
  for (const Rival& rival : rivals) {
    const double index = amari(rival, X, A, sub_gaussian);
    std::printf(" %s%s%s %.4f", rival.method, *rival.form != 0 ? ":" : "", rival.form, index);
    if (&rival == &rivals[0]) stream = index;
    best = best && index >= 0.95 * stream;
    EXPECT_GE(index, 0.95 * stream) << what << ": " << rival.method;
  }
  std::printf(" (bar: none below .95 of the stream's): %s\n", verdict(best));
}

TEST(StreamRivalsBar, Table) {
  Random random(77);
  const auto drawn = [&](const char* what, const std::vector<Source>& which, Index sub_gaussian) {
    const auto d = static_cast<Index>(which.size());
    const Matrix<double> A = random.normal(d, d);
    compare(what, A * make_sources(which, 100000, Timing::iid, random), A, sub_gaussian);
  };
  drawn("four sources, T = 1e5", four, 3);
  drawn("four Laplace, T = 1e5", std::vector<Source>(4, Source::laplace), 0);
  std::vector<Source> many(16, Source::laplace);
  many.resize(32, Source::uniform);
  drawn("16 Laplace + 16 uniform, T = 1e5", many, 16);
  bool real = false;
  const Matrix<double> S = speech(real);
  const Matrix<double> A = random.normal(3, 3);
  compare(real ? "TSP speech + noise in time order" : "stand-in for speech in time order", A * S, A, 1);
}

}  // namespace
}  // namespace demix
