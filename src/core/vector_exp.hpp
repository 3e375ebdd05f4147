#pragma once

#include <cstdint>
#include <limits>

#include "core/tile.hpp"

/// e^x of a lane, and what tanh takes besides: for kernels compiled for several generations of x86-64.
namespace demix {

// The integers that have the bits of a lane.
typedef std::int64_t Bits64 __attribute__((vector_size(32), may_alias));
typedef std::int32_t Bits32 __attribute__((vector_size(32), may_alias));
DEMIX_INLINE Bits64& bits(Lane<double>& v) { return reinterpret_cast<Bits64&>(v); }
DEMIX_INLINE Bits32& bits(Lane<float>& v) { return reinterpret_cast<Bits32&>(v); }

// e^x for x <= 0, to 2e-15 of it; below -700 that of -700.
//   x = n ln 2 + r,  e^x = 2^n e^r,  |r| <= ln(2) / 2
DEMIX_INLINE Lane<double> exp_of_negative(Lane<double> x) {
  constexpr double shift = 0x1.8p52;  // adding it rounds to a whole number, which is in the low bits
  x = x < -700.0 ? Lane<double>{} - 700.0 : x;
  Lane<double> shifted = x * 0x1.71547652b82fep0 + shift;
  const Lane<double> n = shifted - shift;
  const Lane<double> r = (x - n * 0x1.62e42fefa38p-1) - n * 0x1.ef35793c7673p-45;
  // (e^r - 1 - r) / r^2 by its Chebyshev interpolant of degree 8
  Lane<double> p = Lane<double>{} + 0x1.287e02a4f292ap-22;
  p = p * r + 0x1.72c7500bfec37p-19;
  p = p * r + 0x1.a019cc6ac2accp-16;
  p = p * r + 0x1.a019ad8d202eep-13;
  p = p * r + 0x1.6c16c172a4884p-10;
  p = p * r + 0x1.1111111c4aaddp-7;
  p = p * r + 0x1.5555555554f1dp-5;
  p = p * r + 0x1.5555555553b79p-3;
  p = p * r + 0x1.0000000000003p-1;
  p = p * r + 1.0;
  p = p * r + 1.0;
  bits(p) += bits(shifted) << 52;
  return p;
}

// The same to 2e-7; below -80 that of -80.
DEMIX_INLINE Lane<float> exp_of_negative(Lane<float> x) {
  constexpr float shift = 0x1.8p23F;
  x = x < -80.0F ? Lane<float>{} - 80.0F : x;
  Lane<float> shifted = x * 0x1.715476p0F + shift;
  const Lane<float> n = shifted - shift;
  const Lane<float> r = (x - n * 0x1.62e4p-1F) - n * 0x1.7f7d1cp-20F;
  Lane<float> p = Lane<float>{} + 1.0F / 720;
  p = p * r + 1.0F / 120;
  p = p * r + 1.0F / 24;
  p = p * r + 1.0F / 6;
  p = p * r + 0.5F;
  p = p * r + 1.0F;
  p = p * r + 1.0F;
  bits(p) += bits(shifted) << 23;
  return p;
}

DEMIX_INLINE Bits64 sign_bit(Lane<double>) { return Bits64{} + std::numeric_limits<std::int64_t>::min(); }
DEMIX_INLINE Bits32 sign_bit(Lane<float>) { return Bits32{} + std::numeric_limits<std::int32_t>::min(); }
template <typename V>
DEMIX_INLINE V magnitude(V x) {
  bits(x) &= ~sign_bit(x);
  return x;
}
// Of x that is not negative.
template <typename V>
DEMIX_INLINE V with_sign_of(V x, V sign) {
  bits(x) |= bits(sign) & sign_bit(x);
  return x;
}

}  // namespace demix
