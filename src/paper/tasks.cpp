#include <cmath>

#include "demix/metrics.hpp"
#include "demix/signal_files.hpp"
#include "paper/runs.hpp"

/// Sources of figure 2: the paper's where they are found, else generated ones with kurtoses like theirs.
namespace demix::paper {
namespace {

namespace fs = std::filesystem;

constexpr Index speech_frames = 32851;
constexpr Index picture_width = 512, picture_height = 256;
constexpr double pi = 3.14159265358979323846;

bool all_exist(const std::vector<fs::path>& files) {
  for (const fs::path& file : files) {
    if (!fs::is_regular_file(file)) return false;
  }
  return true;
}

// Syllables of coloured noise: kurtosis 3 E[e^4] / E[e^2]^2 for the envelope e = |sin|^power.
Vector<double> voice(double power, double syllable, Random& random) {
  Vector<double> out(speech_frames);
  double noise = 0;
  for (Index t = 0; t < speech_frames; ++t) {
    noise = 0.7 * noise + random.normal();
    out(t) = noise * std::pow(std::abs(std::sin(pi * static_cast<double>(t) / syllable)), power);
  }
  return out;
}

// Blurred noise, its values bent to the kurtosis of |g|^power sign(g), g Gaussian.
Vector<double> blurred(double power, Random& random) {
  constexpr Index w = picture_width, h = picture_height, reach = 2;
  const Matrix<double> noise = random.normal(w, h);  // a column is a row of pixels
  Vector<double> out(w * h);
  for (Index y = 0; y < h; ++y) {
    for (Index x = 0; x < w; ++x) {
      double sum = 0;
      for (Index dy = -reach; dy <= reach; ++dy) {
        for (Index dx = -reach; dx <= reach; ++dx) sum += noise((x + dx + w) % w, (y + dy + h) % h);
      }
      const double g = sum / (2 * reach + 1);
      out(y * w + x) = std::copysign(std::pow(std::abs(g), power), g);
    }
  }
  return out;
}

Vector<double> peaks(const Matrix<double>& S) { return S.cwiseAbs().rowwise().maxCoeff(); }

}  // namespace

Task synthetic_task() {
  Task task;
  task.name = "synthetic";
  for (const Source s : four_sources) task.names.emplace_back(source_name(s));
  Random random(21);
  task.sources = standardized(make_sources(four_sources, 10000, Timing::waveform, random));
  task.peak = Vector<double>::Ones(4);
  task.offline_eta = 5e-3;
  task.offline_tau = 0.75;
  task.lambda = {1.0, 1.5, 1.8, 6.07};
  task.epochs = 100;
  task.long_epochs = 10000;
  task.steps = 1000000;
  Matrix<double> A(4, 4);
  A << -.06924189, .19755585, -.32851731, -.38901329,  //
      .11631072, -.24041219, .35005334, -.32262853,    //
      .07647249, .28418159, .28245917, .01963074,      //
      -.18124383, .47767933, -.25468349, .03241256;
  // There the sources have the variances 1, 1/2, 1/3 and 2.
  task.authors = A * Vector<double>{{1, std::sqrt(0.5), std::sqrt(1. / 3), std::sqrt(2.)}}.asDiagonal();
  return task;
}

Task speech_task(const Setting& setting) {
  Task task;
  task.name = "speech";
  task.names = {"male voice", "female voice", "uniform noise"};
  const fs::path folder = setting.data / "speech_tsp";
  const std::vector<fs::path> files{folder / "MA02_04.wav", folder / "FA01_03.wav"};
  Random random(16);
  Matrix<double> S(3, speech_frames);
  S.setZero();
  if (!setting.data.empty() && all_exist(files)) {
    for (std::size_t k = 0; k < files.size(); ++k) {  // as long as the shorter, or filled up with silence
      const Matrix<double> voice = gather(io::FileRecording({files[k]}));
      const Index n = std::min(voice.cols(), speech_frames);
      S.row(static_cast<Index>(k)).head(n) = voice.row(0).head(n);
    }
    task.data = "TSP speech, MA02_04 and FA01_03";
  } else {
    S.row(0) = voice(27.5, 4000, random);
    S.row(1) = voice(2.25, 2700, random);
    task.stand_in = true;
    task.data = "generated stand-ins for the speech";
  }
  for (Index t = 0; t < speech_frames; ++t) S(2, t) = random.uniform(-1, 1);
  task.sources = standardized(S);
  task.peak = peaks(task.sources);
  task.mixing = 1;
  task.offline_eta = 5e-4;
  task.offline_tau = 0.85;
  task.lambda = {1.8, 6.15, 19.7};
  task.epochs = 90;
  task.long_epochs = 900;
  task.steps = 100000;
  Matrix<double> A(3, 3);                 // of the woman, the man, the noise
  A << .27939356, -.48343103, .72166802,  //
      .57471899, -.28550788, -.65075429,  //
      -.82719844, -.53990265, .44020457;
  A.col(0).swap(A.col(1));
  task.authors = A * task.peak.cwiseInverse().asDiagonal();
  return task;
}

Task photographs_task(const Setting& setting) {
  Task task;
  task.name = "photographs";
  task.names = {"astronaut", "coffee", "rocket"};
  task.width = picture_width;
  task.height = picture_height;
  std::vector<fs::path> files;
  for (const std::string& name : task.names) {
    files.push_back(setting.data / "images_free" / (name + "_256x512.pgm"));
  }
  if (!setting.data.empty() && all_exist(files)) {
    task.sources = standardized(gather(io::FileRecording(files)));
    task.data = "three free photographs (astronaut, coffee, rocket), not the paper's";
  } else {
    Random random(17);
    Matrix<double> S(3, picture_width * picture_height);
    S.row(0) = blurred(0.84, random);
    S.row(1) = blurred(1.02, random);
    S.row(2) = blurred(1.55, random);
    task.sources = standardized(S);
    task.names = {"texture 1", "texture 2", "texture 3"};
    task.stand_in = true;
    task.data = "generated stand-ins for the photographs";
  }
  task.peak = Vector<double>::Ones(3);
  task.offline_eta = 5e-3;
  task.offline_tau = 0.75;
  task.lambda = {2.48, 3.06, 6.64};
  task.epochs = 20;
  task.long_epochs = 200;
  task.steps = 1000000;  // not known; eta and tau are those of the synthetic sources
  return task;
}

}  // namespace demix::paper
