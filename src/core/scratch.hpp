#pragma once

#include <utility>
#include <vector>

#include "demix/types.hpp"

namespace demix {

/// A matrix to work in, whose memory the thread keeps for the next one: what is taken and given back for
/// every block would else cost more than the work on it.
template <typename T = double>
class Scratch {
 public:
  Scratch() {
    if (spare().empty()) return;
    matrix_ = std::move(spare().back());
    spare().pop_back();
  }
  ~Scratch() {
    if (spare().size() < 8) spare().push_back(std::move(matrix_));
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  Matrix<T>& operator*() { return matrix_; }
  Matrix<T>* operator->() { return &matrix_; }

 private:
  static std::vector<Matrix<T>>& spare() {
    thread_local std::vector<Matrix<T>> matrices;
    return matrices;
  }
  Matrix<T> matrix_;
};

}  // namespace demix
