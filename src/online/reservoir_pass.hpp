#pragma once

#include "online/newton_step.hpp"
#include "online/reservoir.hpp"
#include "online/tanh_sums.hpp"
#include "online/white_coordinates.hpp"

/// Sums over the frames of a reservoir at the outputs of now, v = u - centre, some frames at a time:
///
///   S = sum v v^T,  sum v,  those of tanh_sums.hpp at v;  to check with, the squares of what T sums
///
/// The coordinates must not move between begin() and the last piece.
namespace demix {

class ReservoirPass {
 public:
  enum class Kind {
    gradient,  ///< without D
    newton,    ///< with it
    check      ///< and with what the gradient's standard error needs
  };

  /// Fewer are too few to tell D from that of independent outputs.
  static double few_frames(Index outputs) { return 20 * static_cast<double>(outputs * outputs); }

  explicit ReservoirPass(Index n);

  /// Over the first `end` frames; v: the first `outputs` coordinates about their mean.
  void begin(Kind kind, const WhiteCoordinates& white, Index outputs, Index end);
  bool work(const Reservoir& reservoir, const WhiteCoordinates& white);  ///< true: done
  void extend(Index end) { end_ = std::max(end_, end); }                 ///< goes on to this frame
  bool done() const { return at_ >= end_; }
  Index end() const { return end_; }
  Index outputs() const { return outputs_; }
  double cost() const;

  Kind kind() const { return kind_; }
  double frames() const { return static_cast<double>(at_); }
  const Vector<double>& centre() const { return centre_; }
  const TanhSums& sums() const { return sums_; }
  const Matrix<double>& scatter() const { return S_; }  ///< sum v v^T
  const Vector<double>& sum() const { return v_sum_; }

  /// Without D, and of few frames, it is that of independent outputs.
  void expectations(Expectations& e) const;
  /// Is the gradient k_i T_ij - k_j T_ji more than chance? By its standard error (check).
  bool has_gradient(const Vector<double>& k) const;

  template <typename Archive>
  void fields(Archive& a) {
    a(kind_, outputs_, at_, end_, centre_, sums_, S_, v_sum_, square_, crossed_);
  }
  void loaded() const;
  void clear() { at_ = end_ = 0; }

 private:
  Kind kind_ = Kind::gradient;
  Index outputs_ = 0;
  Index at_ = 0;  // the frame it has come to
  Index end_ = 0;
  Vector<double> centre_;
  TanhSums sums_;
  Matrix<double> S_;
  Vector<double> v_sum_;
  Matrix<double> square_;   // sum t^2 (v^2)^T
  Matrix<double> crossed_;  // sum (t v)(t v)^T

  Matrix<double> frames_, v_, tv_;  // where work is done
};

}  // namespace demix
