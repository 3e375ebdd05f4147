#pragma once

#include <cstdlib>
#include <new>

/// Counts every way to the heap that a thread takes, for tests that forbid it. Included once in a program, as
/// it replaces malloc. Sanitizers have an allocator of their own, so their builds leave this to the plain
/// ones.
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
thread_local bool counting = false;
thread_local int allocations = 0;
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

/// Of this thread, while f runs.
template <typename F>
int allocations_in(F&& f) {
  allocations = 0;
  counting = true;
  f();
  counting = false;
  return allocations;
}

}  // namespace demix
