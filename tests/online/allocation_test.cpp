#include <atomic>
#include <cstdlib>
#include <new>

#include "demix/linear_algebra.hpp"
#include "demix/random.hpp"
#include "demix/sm_ica_network.hpp"
#include "demix/stream_separator.hpp"
#include "support.hpp"

// Every way to the heap in this program is counted while `counting` is on. Sanitizers have an allocator of
// their own, so their builds leave this to the plain ones.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)  // GCC
#define DEMIX_COUNTS_ALLOCATIONS 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)  // clang
#define DEMIX_COUNTS_ALLOCATIONS 0
#endif
#endif
#ifndef DEMIX_COUNTS_ALLOCATIONS
#define DEMIX_COUNTS_ALLOCATIONS 1
#endif

namespace {
std::atomic<bool> counting{false};
std::atomic<int> allocations{0};
}  // namespace

#if DEMIX_COUNTS_ALLOCATIONS
extern "C" {
void* __libc_malloc(std::size_t);                 // NOLINT
void* __libc_memalign(std::size_t, std::size_t);  // NOLINT
void* malloc(std::size_t size) {
  if (counting) ++allocations;
  return __libc_malloc(size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  if (counting) ++allocations;
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** out, std::size_t alignment, std::size_t size) {
  if (counting) ++allocations;
  *out = __libc_memalign(alignment, size);
  return *out == nullptr;
}
}
#endif

namespace demix {
namespace {

template <typename F>
int allocations_in(F&& f) {
  allocations = 0;
  counting = true;
  f();
  counting = false;
  return allocations;
}

#if DEMIX_COUNTS_ALLOCATIONS
TEST(Allocation, TheCounterCounts) {
  EXPECT_GE(allocations_in([] { Vector<double> v = Vector<double>::Random(1000); }), 1);
  int* volatile kept = nullptr;  // so that the compiler cannot leave the pair out
  EXPECT_GE(allocations_in([&] { kept = new int(3); }), 1);
  delete kept;
}
#endif

TEST(Allocation, SmallDecompositionsAllocateNothing) {
  for (const Index n : {1, 4, 17, 32}) {
    const Matrix<double> A = Random(3).normal(n, n);
    const Matrix<double> C = A * A.transpose();
    Eigenpairs eigen{Vector<double>(n), Matrix<double>(n, n)};
    RightSingular singular{Vector<double>(n), Matrix<double>(n, n)};
    Vector<double> x(n);
    Matrix<double> out(n, n);
    Cholesky<double> cholesky(n);
    EXPECT_EQ(allocations_in([&] {
                symmetric_eigen(C, eigen);
                symmetric_eigenvalues(C, eigen.values);
                right_singular(A, singular);
                inverse(A, out);
                solve(A, singular.values, x);
                cholesky.compute(C);
                cholesky.solve_in_place(x);
              }),
              0)
        << n;
  }
}

template <typename T>
void expect_silent_steps(Index d, SmIcaNetworkOptions::Dynamics dynamics) {
  SmIcaNetworkOptions options;
  options.eta = 1e-6;
  options.dynamics = dynamics;
  SmIcaNetwork<T> network(d, d, options);
  const Matrix<T> X = Random(1).normal(d, 50).cast<T>();
  Matrix<T> Y(d, 50);
  EXPECT_EQ(allocations_in([&] {
              for (Index t = 0; t < 50; ++t) network.step(X.col(t), Y.col(t));
              network.process(X, Y);
            }),
            0)
      << d;
}

TEST(Allocation, StepAllocatesNothing) {
  for (const auto dynamics : {SmIcaNetworkOptions::Dynamics::solve, SmIcaNetworkOptions::Dynamics::iterate}) {
    for (const Index d : {1, 3, 4, 8, 32, 128}) {
      expect_silent_steps<float>(d, dynamics);
      expect_silent_steps<double>(d, dynamics);
    }
  }
}

template <typename T>
void expect_silent_stream(Index d, const StreamOptions& options) {
  StreamSeparator<T> stream(d, options);
  Random random(2);
  Matrix<T> X = (random.normal(d, d) * random.normal(d, 6000)).template cast<T>();
  X.row(0).head(1000).setZero();                                     // wakes up: the coordinates move
  X.rightCols(3000) = X.rightCols(3000).colwise().reverse().eval();  // and here the mixing changes
  Matrix<T> Y(stream.outputs(), X.cols());
  EXPECT_EQ(allocations_in([&] {
              for (Index t = 0; t < 3000; ++t) stream.step(X.col(t), Y.col(t));
              stream.process(X.rightCols(3000), Y.rightCols(3000));
            }),
            0)
      << d;
}

TEST(Allocation, StreamAllocatesNothing) {
  for (const Index d : {1, 3, 4, 16, 24, 32, 72}) {
    StreamOptions options;
    expect_silent_stream<float>(d, options);
    expect_silent_stream<double>(d, options);
    options.memory = 2000;
    options.components = (d + 1) / 2;
    expect_silent_stream<double>(d, options);
  }
}

}  // namespace
}  // namespace demix
