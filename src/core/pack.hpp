#pragma once

#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "demix/types.hpp"

/// Sums as bytes, from one process to another of the same program and back, bit for bit. A class lists what
/// it holds once, as for core/archive.hpp:
///
///   template <typename Archive> void fields(Archive& a) { a(count, mean); }
///
/// Unlike a saved state, sums may hold any number, and matrices take the shape they had.
namespace demix {

class Packer {
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
  void put(std::string& text) {
    const std::size_t size = text.size();
    raw(&size, sizeof size);
    raw(text.data(), size);
  }
  template <typename S, int R, int C, int O, int MR, int MC>
  void put(Eigen::Matrix<S, R, C, O, MR, MC>& m) {
    const Index shape[] = {m.rows(), m.cols()};
    raw(shape, sizeof shape);
    raw(m.data(), static_cast<std::size_t>(m.size()) * sizeof(S));
  }
  template <typename V>
  void put(std::vector<V>& v) {
    const std::size_t size = v.size();
    raw(&size, sizeof size);
    for (V& value : v) put(value);
  }
  template <typename K, typename V>
  void put(std::map<K, V>& map) {
    const std::size_t size = map.size();
    raw(&size, sizeof size);
    for (auto& [key, value] : map) {
      raw(&key, sizeof key);
      put(value);
    }
  }
};

class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) : bytes_(bytes) {}
  template <typename... V>
  void operator()(V&... values) {
    (get(values), ...);
  }
  bool done() const { return bytes_.empty(); }

 private:
  void raw(void* p, std::size_t size) {
    if (size > bytes_.size()) throw std::invalid_argument("sums: they end too early");
    if (size > 0) std::memcpy(p, bytes_.data(), size);
    bytes_.remove_prefix(size);
  }
  std::size_t size_of(std::size_t least_each) {
    std::size_t size = 0;
    raw(&size, sizeof size);
    if (size > bytes_.size() / least_each) throw std::invalid_argument("sums: they end too early");
    return size;
  }
  template <typename V>
  void get(V& value) {
    if constexpr (std::is_arithmetic_v<V> || std::is_enum_v<V>) {
      raw(&value, sizeof value);
    } else {
      value.fields(*this);
    }
  }
  void get(std::string& text) {
    text.resize(size_of(1));
    raw(text.data(), text.size());
  }
  template <typename S, int R, int C, int O, int MR, int MC>
  void get(Eigen::Matrix<S, R, C, O, MR, MC>& m) {
    Index shape[2];
    raw(shape, sizeof shape);
    const auto most = static_cast<Index>(bytes_.size() / sizeof(S));
    const bool fits = shape[0] >= 0 && shape[1] >= 0 && (shape[1] == 0 || shape[0] <= most / shape[1]);
    if (!fits) throw std::invalid_argument("sums: they end too early");
    const bool has_shape = (R == Eigen::Dynamic || shape[0] == R) && (C == Eigen::Dynamic || shape[1] == C);
    if (!has_shape) throw std::invalid_argument("sums: a matrix of another shape");
    m.resize(shape[0], shape[1]);
    raw(m.data(), static_cast<std::size_t>(m.size()) * sizeof(S));
  }
  template <typename V>
  void get(std::vector<V>& v) {
    v.resize(size_of(1));
    for (V& value : v) get(value);
  }
  template <typename K, typename V>
  void get(std::map<K, V>& map) {
    map.clear();
    for (std::size_t k = size_of(sizeof(K)); k > 0; --k) {
      K key{};
      raw(&key, sizeof key);
      get(map[key]);
    }
  }
  std::string_view bytes_;
};

}  // namespace demix
