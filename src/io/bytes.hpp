#pragma once

#include <bit>
#include <cstring>
#include <string>

/// Numbers from and to bytes, least significant first.
namespace demix::io {

static_assert(std::endian::native == std::endian::little, "the readers assume a little-endian machine");

template <typename T>
T load(const char* p) {
  T value;
  std::memcpy(&value, p, sizeof value);
  return value;
}

template <typename T>
double load_real(const char* p) {
  return static_cast<double>(load<T>(p));
}

template <typename T>
void store(std::string& bytes, T value) {
  char raw[sizeof value];
  std::memcpy(raw, &value, sizeof value);
  bytes.append(raw, sizeof value);
}

}  // namespace demix::io
