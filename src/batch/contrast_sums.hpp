#pragma once

#include "core/frame_kernels.hpp"
#include "core/sum_over.hpp"
#include "demix/contrast.hpp"

/// What FastICA and Picard ask of the data in every step.
namespace demix {

/// Sums over the frames, each as often as its weight says, of y = B (x - mean), for a nonlinearity g = G'.
struct ContrastSums {
  Matrix<double> product;  ///< sum g(y) (x - mean)^T
  Vector<double> slope;    ///< sum g'(y)
  Vector<double> value;    ///< sum G(y)
  Vector<double> square;   ///< sum y^2
  double frames = 0;       ///< or the sum of their weights

  void merge(const ContrastSums& other);
  template <typename Archive>
  void fields(Archive& a) {
    a(product, slope, value, square, frames);
  }
};

/// In float it takes half the time, for 7 digits of each output, fewer if the channels are nearly dependent:
/// no worse than data that are floats are anyway. (Frames with weights are done in double.)
class ContrastRequest {
 public:
  using Sums = ContrastSums;
  static constexpr std::string_view kind = "contrast";
  ContrastRequest(const Vector<double>& mean, const Matrix<double>& B, Contrast contrast,
                  bool in_float = false);
  std::tuple<Vector<double>, Matrix<double>, Contrast, bool> arguments() const {
    return {mean_, doubles_.columns.topRows(doubles_.rows), contrast_, in_float_};
  }

  ContrastSums none() const;
  void add(ContrastSums& sums, const Chunk& chunk) const;

 private:
  Vector<double> mean_;
  Contrast contrast_;
  bool in_float_;
  Multiplier<double> doubles_;  // B
  Multiplier<float> floats_;
};

}  // namespace demix
