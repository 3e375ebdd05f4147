#pragma once

// How a kernel is compiled for several generations of x86-64: one body, always inlined into a function per
// scalar type, each compiled for baseline x86-64, AVX2+FMA and AVX-512 (GCC 12 and later; AVX2 alone before);
// the best one the machine has is chosen when the program starts. Sanitizers run before the loader's choice
// is made, so their builds get the baseline alone.
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#if __GNUC__ >= 12
#define DEMIX_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define DEMIX_CLONES __attribute__((target_clones("avx2", "default")))
#endif
#else
#define DEMIX_CLONES
#endif
#define DEMIX_INLINE inline __attribute__((always_inline))
