#pragma once

#include <array>
#include <cmath>

#include "core/archive.hpp"
#include "online/square_matrix.hpp"

/// Has the mixing changed? As long as it has not, the outputs of a separator that has learned are white:
/// C = E[y y^T] = I. In windows of the outputs, short and long, two distances from that are watched,
///
///   J_c = -log det(correlation of y)        outputs that were independent are correlated
///   J_f = tr C - log det C - d              or of another size
///
/// each against its own past, since real signals are never quite white within a window: an alarm is a
/// distance four deviations above the mean of its logarithm, in two short windows running or in one long one.
namespace demix {

class ChangeDetector {
 public:
  ChangeDetector(Index outputs, Index block)
      : outputs_(outputs), short_(std::max<Index>(512, 8 * outputs) / block * block) {
    for (Matrix<double>& S : scatter_) S = Matrix<double>::Zero(outputs, outputs);
    C_ = scatter_[0];
  }

  /// A block of outputs, one column each, its rows padded (block_kernels.hpp). True: alarm; whoever acts on
  /// it clears.
  bool add(const Frames<double>& Y) {
    bool alarm = false;
    for (std::size_t w = 0; w < 2; ++w) {
      kernels::multiply_add(Y.data(), Y.outerStride(), Y.data(), 1, Y.outerStride(), outputs_, outputs_,
                            Y.cols(), scatter_[w].data(), outputs_);
      frames_[w] += Y.cols();
      if (frames_[w] < window(w)) continue;
      measure(scatter_[w] / static_cast<double>(frames_[w]));
      scatter_[w].setZero();
      frames_[w] = 0;
      alarm |= past_[2 * w].unusual(correlated_, 0.02, needed(w));
      alarm |= past_[2 * w + 1].unusual(far_, 0.05, needed(w));
    }
    return alarm;
  }

  void clear() {
    for (Matrix<double>& S : scatter_) S.setZero();
    frames_ = {};
    past_ = {};
  }

  template <typename Archive>
  void fields(Archive& a) {
    for (std::size_t w = 0; w < 2; ++w) a(scatter_[w], frames_[w], past_[2 * w], past_[2 * w + 1]);
  }
  void loaded() const {
    for (std::size_t w = 0; w < 2; ++w) {
      require_state(frames_[w] >= 0 && frames_[w] < window(w), "more frames than a window of the detector");
      const int most = std::max(past_[2 * w].hot, past_[2 * w + 1].hot);
      require_state(most < needed(w), "an alarm that was not acted on");
    }
  }

 private:
  Index window(std::size_t w) const { return w == 0 ? short_ : 8 * short_; }  // frames
  static constexpr int needed(std::size_t w) { return w == 0 ? 2 : 1; }       // unusual windows running

  // Mean and variance of log J over the windows so far; they rest while J is unusual.
  struct Past {
    static constexpr int most_windows = 64;
    double mean = 0;
    double variance = 0;
    int windows = 0;
    int hot = 0;

    bool unusual(double J, double least, int needed) {
      const double l = std::log(J + 1e-12);
      windows = std::min(windows + 1, most_windows);
      if (windows > 8 && J > least && l > mean + 4 * std::max(0.5, std::sqrt(variance)))
        return ++hot >= needed;
      hot = 0;
      const double gain = 1.0 / windows;
      const double off = l - mean;
      mean += gain * off;
      variance = (1 - gain) * (variance + gain * off * off);
      return false;
    }
    template <typename Archive>
    void fields(Archive& a) {
      a(mean, variance, windows, hot);
    }
    void loaded() const {
      require_state(variance >= 0, "a negative variance");
      require_state(windows >= 0 && windows <= most_windows && hot >= 0, "counts of windows out of range");
    }
  };

  template <typename Derived>
  void measure(const Eigen::MatrixBase<Derived>& C) {
    C_ = C;
    double trace = 0;
    double log_diagonal = 0;
    double live = 0;
    for (Index i = 0; i < C_.rows(); ++i) {
      if (!(C_(i, i) > 1e-30)) {  // an output not in use
        C_(i, i) = 1;
        continue;
      }
      trace += C_(i, i);
      log_diagonal += std::log(C_(i, i));
      ++live;
    }
    cholesky(C_, outputs_, 1e-300);
    const double log_det = 2 * C_.diagonal().array().max(1e-150).log().sum();
    correlated_ = std::max(0.0, log_diagonal - log_det);
    far_ = std::max(0.0, trace - log_det - live);
  }

  Index outputs_;
  Index short_;
  std::array<Matrix<double>, 2> scatter_;
  std::array<Index, 2> frames_{};
  std::array<Past, 4> past_{};
  double correlated_ = 0;
  double far_ = 0;
  Matrix<double> C_;
};

}  // namespace demix
