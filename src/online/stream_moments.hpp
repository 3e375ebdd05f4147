#pragma once

#include <variant>

#include "core/archive.hpp"
#include "demix/fourth_moments.hpp"
#include "demix/linear_algebra.hpp"
#include "online/weighted_scatter.hpp"

/// What a stream has been so far, and FOBI of it, without keeping a frame:
///
///   add     n, mean, scatter and fourth moments of x' = V (x - origin) - v0
///   solve   h = P (x' - mean),  Z = E[||h||^2 h h^T] = E D E^T,  y = E^T h
///
/// The coordinates x' are those in which the frames were white when last looked at. A block that does not fit
/// them (a source or a channel wakes up, the level or the offset moves away) first moves the coordinates and
/// all the sums with them, so that no direction is ever small beside another and digits last however
/// ill-conditioned the mixing is. It is decided from the frames themselves, by QR and SVD, never from their
/// squares.
///
/// All of it goes in pieces: begin_*(), then work() until it is no longer busy(). Nothing is allocated after
/// construction.
namespace demix {

class StreamMoments {
 public:
  /// `resolution`: rounding unit of the data. `memory`: frames after which one counts 1/e; 0 = for ever.
  /// `components`: at most this many, principal ones; 0 = all there are.
  StreamMoments(Index channels, Index components, double resolution, double memory);

  /// Up to this many channels the fourth moments are exact.
  static constexpr Index exact_channels = 32;

  Index channels() const { return origin_.size(); }
  Index block() const { return X_.cols(); }
  double count() const { return count_; }  ///< frames in the sums, by what they still count

  void begin_add(const Frames<double>& X);  ///< at most block() frames; not while busy
  void begin_solve();                       ///< not while busy, nor before the first add
  bool busy() const { return stage_ != Stage::idle; }
  bool solving() const { return stage_ >= Stage::whiten; }
  void work();
  void finish() {
    while (busy()) work();
  }
  void clear();  ///< forgets everything

  /// False: sums or solution have overflowed, and will not recover but by clear().
  bool finite() const;

  // Of the last solve:
  Index rank() const { return rank_; }  ///< components found; 0 = nothing varies
  const Vector<double>& mean() const { return solved_mean_; }
  auto unmixing() const { return unmixing_.topRows(rank_); }  ///< rank x channels, by descending D

  /// E[u y^T] for outputs u = U x and the y of the last solve.
  void correlate(const Matrix<double>& U, Matrix<double>& out);
  Matrix<double> mixing(const Matrix<double>& U) const;  ///< E[x u^T]: what each output adds to the channels
  Matrix<double> channel_root() const;  ///< R with R R^T = covariance of the channels, no digits lost
  Vector<double> kurtosis(const Matrix<double>& U) const;  ///< of outputs u = U (x - mean); slow

  template <typename Archive>
  void fields(Archive& a) {
    a(stage_, piece_, frames_, based_, count_, new_count_, keep_, next_ratio_, live_, rank_, origin_, v0_, V_,
      V_inverse_, mean_, new_mean_, offset_, new_offset_, largest_, scatter_, new_scatter_, X_, base_,
      centred_, block_mean_, delta_, rows_, scale_, noise_, W_, W_inverse_, A_, P_, H_, G_, Z_, rotated_,
      unmixing_, solved_mean_);
    std::visit([&](auto& fourth) { fourth_fields(a, fourth); }, fourth_);
  }
  void loaded();

 private:
  enum class Stage { idle, merge, check, triangle, move, transform, add, whiten, contract, rotate };

  void next(Stage stage) {
    stage_ = stage;
    piece_ = 0;
  }
  Index pieces() const;  // of the stage it is in
  void place_block();
  void merge();
  bool fits();
  void measure_noise();
  void triangle();
  void move();
  void transform();
  void add();
  void whiten();
  void contract();
  void rotate();

  // The products of the tensor are not saved: the block they came from is.
  template <typename Archive, typename T>
  void fourth_fields(Archive& a, FourthMoments<T>& fourth) {
    a(fourth.sums());
    if (stage_ == Stage::transform) a(fourth.half_moved());
  }
  template <typename Archive>
  void fourth_fields(Archive& a, WeightedScatter& fourth) {
    a(fourth);
  }

  Index components_;
  double level_;  // rounding of the data, with a margin
  double memory_;
  std::variant<FourthMoments<double>, FourthMoments<float>, WeightedScatter> fourth_;

  Stage stage_ = Stage::idle;
  Index piece_ = 0;
  Index frames_ = 0;  // in the block at hand
  bool based_ = false;

  // The sums, and what they will be with the block at hand.
  double count_ = 0;
  double new_count_ = 0;
  double keep_ = 1;
  double next_ratio_ = 0;
  Vector<double> origin_, v0_;
  Matrix<double> V_, V_inverse_;
  Index live_ = 0;  // the first coordinates: those above rounding; the others wait, as they are
  Vector<double> mean_, new_mean_;      // of x'
  Vector<double> offset_, new_offset_;  // of x, from the origin
  Vector<double> largest_;              // |x| of each channel
  Matrix<double> scatter_, new_scatter_;

  Matrix<double> X_, base_, centred_;  // the block: as it came, x', x' minus its mean
  Vector<double> block_mean_, delta_;
  Matrix<double> rows_;  // whose R^T R is the scatter
  Matrix<double> W_, W_inverse_, A_;

  // The last solve.
  Index rank_ = 0;
  Matrix<double> P_, H_, G_, Z_, rotated_;  // rotated = E^T P
  Matrix<double> unmixing_;
  Vector<double> solved_mean_;

  Eigenpairs eig_;
  RightSingular svd_;
  Vector<double> scale_, singular_, work_;
  Vector<double> noise_;  // what rounding of the data leaves in each coordinate
  Matrix<double> square_, product_;
};

}  // namespace demix
