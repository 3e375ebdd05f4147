// batch_time METHOD FILE THREADS REPEATS [float]: what a batch method takes for a matrix in memory, as JSON:
// seconds of every run and of its processor time, bytes of memory on top of the matrix, iterations, and the
// unmixing. FILE: anything demix reads. DEMIX_SIMD=avx2 keeps to AVX2. FILE may be noise:CHANNELS:FRAMES, of
// half Laplace and half uniform sources, mixed.
#include <sys/mman.h>

#include <ctime>

#include <chrono>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "core/simd.hpp"
#include "demix/fastica.hpp"
#include "demix/fobi.hpp"
#include "demix/jade.hpp"
#include "demix/methods.hpp"
#include "demix/picard.hpp"
#include "demix/random.hpp"
#include "demix/signal_files.hpp"
#include "demix/threads.hpp"

namespace {

using namespace demix;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Of this process, on all its threads: less disturbed by what else the machine does.
double cpu_now() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// The most memory it has had since the last call of forget_peak.
double peak_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    double kilobytes = 0;
    if (word == "VmHWM:" && status >> kilobytes) return 1024 * kilobytes;
  }
  return 0;
}
void forget_peak() { std::ofstream("/proc/self/clear_refs") << 5; }

// Without values yet, in large pages if there are any: NumPy asks for them, too.
template <typename T>
Matrix<T> room(Index channels, Index frames) {
  Matrix<T> X(channels, frames);
  constexpr std::uintptr_t page = 4096;
  const auto start = (reinterpret_cast<std::uintptr_t>(X.data()) + page - 1) / page * page;
  const auto end = reinterpret_cast<std::uintptr_t>(X.data() + X.size()) / page * page;
  if (end > start) madvise(reinterpret_cast<void*>(start), end - start, MADV_HUGEPAGE);
  return X;
}

Matrix<double> noise(const std::string& text) {
  const auto colon = text.find(':', 6);
  const Index channels = std::stol(text.substr(6, colon - 6));
  const Index frames = std::stol(text.substr(colon + 1));
  Random random(1);
  const Matrix<double> A = random.normal(channels, channels);
  Matrix<double> X = room<double>(channels, frames);
  Vector<double> s(channels);
  for (Index t = 0; t < frames; ++t) {
    for (Index i = 0; i < channels; ++i) s(i) = i % 2 == 0 ? random.laplace() : random.uniform(-1.732, 1.732);
    X.col(t).noalias() = A * s;
  }
  return X;
}

template <typename T>
Model run(const std::string& method, const Frames<T>& X) {
  if (method == "fobi") return fobi(X);
  if (method == "fastica") return fastica(X);
  if (method == "jade" || method == "k-jade") {
    JadeOptions options;
    options.neighbours = method == "jade" ? 0 : 2;
    return jade(X, options);
  }
  if (method == "picard" || method == "picard-free") {
    PicardOptions options;
    options.orthogonal = method == "picard";
    return picard(X, options);
  }
  return method_named(method).run(MatrixRecording<T>(X), {}).model;
}

template <typename T>
nlohmann::json measure(const std::string& method, const Matrix<T>& data, int repeats) {
  const Frames<T> X(data);
  nlohmann::json out;
  Model model;
  for (int k = 0; k < repeats; ++k) {
    forget_peak();
    const double before = peak_bytes();
    const double start = now();
    const double cpu_start = cpu_now();
    model = run<T>(method, X);
    out["seconds"].push_back(now() - start);
    out["cpu_seconds"].push_back(cpu_now() - cpu_start);
    if (k == 0) out["memory"] = peak_bytes() - before;
  }
  out["method"] = model.method;
  out["input_bytes"] = static_cast<double>(data.size()) * sizeof(T);
  out["iterations"] = model.convergence.iterations;
  out["converged"] = model.convergence.converged;
  for (Index i = 0; i < model.components(); ++i) {
    out["unmixing"].push_back(
        std::vector<double>(model.unmixing.row(i).begin(), model.unmixing.row(i).end()));
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) {
    std::cerr << "usage: batch_time METHOD FILE THREADS REPEATS [float]\n";
    return 2;
  }
  const std::string file = argv[2];
  const Matrix<double> read = file.rfind("noise:", 0) == 0 ? noise(file) : io::read_signals(file).data;
  Matrix<double> X = room<double>(read.rows(), read.cols());
  X = read;
  Matrix<float> F = room<float>(read.rows(), read.cols());
  F = read.cast<float>();
  limit_threads(std::stol(argv[3]));
  if (const char* generation = std::getenv("DEMIX_SIMD")) simd::use(generation);
  const int repeats = std::stoi(argv[4]);
  std::cout << (argc > 5 ? measure<float>(argv[1], F, repeats) : measure<double>(argv[1], X, repeats))
            << "\n";
}
