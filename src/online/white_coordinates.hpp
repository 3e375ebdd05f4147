#pragma once

#include "core/archive.hpp"
#include "demix/types.hpp"
#include "online/inverse_root.hpp"
#include "online/jacobi_svd.hpp"

/// Coordinates in which the frames of a stream are nearly white, and the running mean and covariance in them:
///
///   u = V (x - origin) - v0,    n,  mean = E[u],  scatter = sum (u - mean)(u - mean)^T
///
/// A block that does not fit (a source or a channel wakes up, the level or the offset moves away) first moves
/// the coordinates, so that no direction is ever small beside another and digits last however ill-conditioned
/// the mixing is. It is decided from the frames themselves, by QR and SVD, never from their squares. Of all
/// white coordinates the new ones are those closest to the old. Directions without power above the rounding
/// of the data come last and are not lifted.
///
/// A block is added in pieces: begin_add(), then work() until it is no longer busy(). Nothing is allocated
/// after construction.
namespace demix {

class WhiteCoordinates {
 public:
  /// `resolution`: rounding unit of the data. `memory`: frames after which one counts 1/e; 0 = for ever.
  WhiteCoordinates(Index channels, double resolution, double memory);

  static Index block_for(Index channels);  ///< frames added at once

  Index channels() const { return origin_.size(); }
  Index block() const { return X_.cols(); }
  double count() const { return count_; }  ///< frames in the sums, by what they still count
  Index live() const { return live_; }     ///< the first coordinates, those with power
  double keep() const { return keep_; }    ///< what the sums before this block still count
  bool moved() const { return moved_; }    ///< the last block has moved the coordinates

  void begin_add(const Frames<double>& X);  ///< at most block() frames; not while busy
  bool busy() const { return stage_ != Stage::idle; }
  double work();  ///< one piece; returns its cost in multiplications
  void clear();   ///< forgets everything
  bool finite() const;

  /// The last block: as it came, and u.
  auto frames() const { return X_.leftCols(frames_); }
  auto coordinates() const { return u_.leftCols(frames_); }

  const Matrix<double>& V() const { return V_; }
  const Matrix<double>& V_inverse() const { return V_inverse_; }
  const Vector<double>& origin() const { return origin_; }
  const Vector<double>& v0() const { return v0_; }
  const Vector<double>& mean() const { return mean_; }  ///< of u
  const Matrix<double>& scatter() const { return scatter_; }
  Vector<double> channel_mean() const { return origin_ + offset_; }
  void channel_mean(Vector<double>& out) const { out = origin_ + offset_; }
  /// Covariance of the first n coordinates.
  void covariance(Index n, Matrix<double>& out) const;

  /// How the last move went: u <- W (u - zero).
  const Matrix<double>& last_move() const { return W_; }
  const Vector<double>& last_zero() const { return zero_; }

  void recentre(const Vector<double>& zero) {  ///< u <- u - zero
    mean_ -= zero;
    v0_ += zero;
  }
  /// u <- A (u - zero), with A and its inverse of full size.
  void transform(const Matrix<double>& A, const Matrix<double>& A_inverse, const Vector<double>& zero);

  template <typename Archive>
  void fields(Archive& a) {
    a(stage_, at_, frames_, based_, moved_, count_, new_count_, keep_, next_ratio_, live_, origin_, v0_, V_,
      V_inverse_, mean_, new_mean_, offset_, new_offset_, largest_, scatter_, new_scatter_, X_, u_, rows_,
      scale_, noise_, W_, W_inverse_, zero_, square_, svd_, root_);
  }
  void loaded() const;

 private:
  enum class Stage { idle, place, check, rows, triangle, svd, move, turn };

  void next(Stage stage) {
    stage_ = stage;
    at_ = 0;
  }
  void begin_place();
  double place();
  bool fits();
  void measure_noise();
  void fill_rows();
  double triangle();
  void move();
  void turn();

  double level_;  // rounding of the data, with a margin
  double memory_;

  Stage stage_ = Stage::idle;
  Index at_ = 0;      // frame or column the stage has come to
  Index frames_ = 0;  // in the block at hand
  bool based_ = false;
  bool moved_ = false;

  // The sums, and what they will be with the block at hand.
  double count_ = 0;
  double new_count_ = 0;
  double keep_ = 1;
  double next_ratio_ = 0;
  Index live_ = 0;
  Vector<double> origin_, v0_;
  Matrix<double> V_, V_inverse_;
  Vector<double> mean_, new_mean_;
  Vector<double> offset_, new_offset_;  // mean of x, from the origin
  Vector<double> largest_;              // |x| of each channel
  Matrix<double> scatter_, new_scatter_;

  Matrix<double> X_, u_;  // the block
  Matrix<double> rows_;   // whose R^T R is the scatter
  Vector<double> scale_;
  Vector<double> noise_;  // what rounding of the data leaves in each coordinate
  Matrix<double> W_, W_inverse_;
  Vector<double> zero_;
  JacobiSvd svd_;
  InverseRoot root_;

  Matrix<double> square_;             // what the new coordinates are turned by
  Matrix<double> product_, centred_;  // where work is done
  Vector<double> work_;
};

}  // namespace demix
