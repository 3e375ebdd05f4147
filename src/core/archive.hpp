#pragma once

#include <cmath>
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
/// and its shape must agree. Numbers must be finite. Anything else that must hold, of indices and counts
/// above all, a class says in loaded(), which the Loader calls once its fields are in:
///
///   void loaded() { require_state(0 <= at_ && at_ < size(), "..."); }
///
/// So a forged state is refused before it can do harm, whatever its bytes are.
namespace demix {

inline void require_state(bool holds, const char* otherwise) {
  if (!holds) throw std::invalid_argument(std::string("state: ") + otherwise);
}

class Saver {
 public:
  template <typename... V>
  void operator()(V&... values) {
    (put(values), ...);
  }
  void expect(std::size_t /*numbers*/) {}
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
  /// So many doubles are still to come: asked before memory is taken for them.
  void expect(std::size_t numbers) const {
    require_state(numbers <= bytes_.size() / sizeof(double), "it ends too early");
  }
  bool done() const { return bytes_.empty(); }

 private:
  void raw(void* p, std::size_t size) {
    require_state(size <= bytes_.size(), "it ends too early");
    if (size > 0) std::memcpy(p, bytes_.data(), size);
    bytes_.remove_prefix(size);
  }
  template <typename V>
  void get(V& value) {
    if constexpr (std::is_arithmetic_v<V> || std::is_enum_v<V>) {
      raw(&value, sizeof value);
      if constexpr (std::is_floating_point_v<V>)
        require_state(std::isfinite(value), "a number is not finite");
    } else {
      value.fields(*this);
      if constexpr (requires { value.loaded(); }) value.loaded();
    }
  }
  void get(bool& value) {  // any other byte in a bool is undefined behaviour
    unsigned char byte = 0;
    raw(&byte, sizeof byte);
    require_state(byte <= 1, "a flag is neither 0 nor 1");
    value = byte == 1;
  }
  template <typename S, int R, int C, int O, int MR, int MC>
  void get(Eigen::Matrix<S, R, C, O, MR, MC>& m) {
    Index shape[2];
    raw(shape, sizeof shape);
    require_state(shape[0] == m.rows() && shape[1] == m.cols(), "a matrix of another shape");
    raw(m.data(), static_cast<std::size_t>(m.size()) * sizeof(S));
    require_state(m.allFinite(), "a number is not finite");
  }
  template <typename V>
  void get(std::vector<V>& v) {
    std::size_t size = 0;
    raw(&size, sizeof size);
    require_state(size == v.size(), "a list of another length");
    for (V& value : v) get(value);
  }

  std::string_view bytes_;
};

}  // namespace demix
