#pragma once

#include <algorithm>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "demix/types.hpp"

namespace demix {

/// A matrix that begins where a cache line does, so that no lane lies in two of them. Its memory grows only.
template <typename T>
class LineMatrix : public Eigen::Map<Matrix<T>> {
  using Map = Eigen::Map<Matrix<T>>;
  static constexpr std::align_val_t line{64};

 public:
  LineMatrix() : Map(nullptr, 0, 0) {}
  LineMatrix(Index rows, Index cols) : LineMatrix() { resize(rows, cols); }
  LineMatrix(LineMatrix&& other) noexcept
      : Map(other.data(), other.rows(), other.cols()), memory_(std::move(other.memory_)), size_(other.size_) {
    other.size_ = 0;
    other.look_at(nullptr, 0, 0);
  }
  LineMatrix& operator=(LineMatrix&& other) noexcept {
    look_at(other.data(), other.rows(), other.cols());
    memory_ = std::move(other.memory_);
    size_ = std::exchange(other.size_, 0);
    other.look_at(nullptr, 0, 0);
    return *this;
  }
  LineMatrix(const LineMatrix&) = delete;
  LineMatrix& operator=(const LineMatrix&) = delete;
  ~LineMatrix() = default;

  /// What was in it is lost.
  void resize(Index rows, Index cols) {
    if (rows * cols > size_) {
      memory_.reset(static_cast<T*>(::operator new(static_cast<std::size_t>(rows * cols) * sizeof(T), line)));
      size_ = rows * cols;
    }
    look_at(memory_.get(), rows, cols);
  }

 private:
  struct Free {
    void operator()(T* memory) const { ::operator delete(memory, line); }
  };
  void look_at(T* data, Index rows, Index cols) { new (static_cast<Map*>(this)) Map(data, rows, cols); }

  std::unique_ptr<T, Free> memory_;
  Index size_ = 0;
};

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

  LineMatrix<T>& operator*() { return matrix_; }
  LineMatrix<T>* operator->() { return &matrix_; }

 private:
  static std::vector<LineMatrix<T>>& spare() {
    thread_local std::vector<LineMatrix<T>> matrices;
    return matrices;
  }
  LineMatrix<T> matrix_;
};

}  // namespace demix
