#pragma once

#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "demix/types.hpp"

/// Saving and loading a running separator, bit for bit. A class lists what it holds once,
///
///   template <typename Archive> void fields(Archive& a) { a(count_, mean_, moments_); }
///
/// and both directions follow. What has a shape is loaded into an object already made with the same options,
/// and its shape must agree: a damaged file is refused before it can do harm.
namespace demix {

class Saver {
 public:
  template <typename... V>
  void operator()(V&... values) {
    (put(values), ...);
  }
  std::string bytes;

 private:
  void raw(const void* p, std::size_t size) { bytes.append(static_cast<const char*>(p), size); }
  template <typename V>
  void put(V& value) {
    if constexpr (std::is_arithmetic_v<V> || std::is_enum_v<V>) {
      raw(&value, sizeof value);
    } else {
      value.fields(*this);
    }
  }
  template <typename S, int R, int C, int O, int MR, int MC>
  void put(Eigen::Matrix<S, R, C, O, MR, MC>& m) {
    Index shape[] = {m.rows(), m.cols()};
    raw(shape, sizeof shape);
    raw(m.data(), static_cast<std::size_t>(m.size()) * sizeof(S));
  }
  template <typename V>
  void put(std::vector<V>& v) {
    std::size_t size = v.size();
    raw(&size, sizeof size);
    for (V& value : v) put(value);
  }
};

class Loader {
 public:
  explicit Loader(std::string_view bytes) : bytes_(bytes) {}
  template <typename... V>
  void operator()(V&... values) {
    (get(values), ...);
  }
  bool done() const { return bytes_.empty(); }

 private:
  void raw(void* p, std::size_t size) {
    if (size > bytes_.size()) throw std::invalid_argument("state: it ends too early");
    if (size > 0) std::memcpy(p, bytes_.data(), size);
    bytes_.remove_prefix(size);
  }
  template <typename V>
  void get(V& value) {
    if constexpr (std::is_arithmetic_v<V> || std::is_enum_v<V>) {
      raw(&value, sizeof value);
    } else {
      value.fields(*this);
    }
  }
  template <typename S, int R, int C, int O, int MR, int MC>
  void get(Eigen::Matrix<S, R, C, O, MR, MC>& m) {
    Index shape[2];
    raw(shape, sizeof shape);
    if (shape[0] != m.rows() || shape[1] != m.cols())
      throw std::invalid_argument("state: a matrix of another shape");
    raw(m.data(), static_cast<std::size_t>(m.size()) * sizeof(S));
  }
  template <typename V>
  void get(std::vector<V>& v) {
    std::size_t size = 0;
    raw(&size, sizeof size);
    if (size != v.size()) throw std::invalid_argument("state: a list of another length");
    for (V& value : v) get(value);
  }

  std::string_view bytes_;
};

}  // namespace demix
