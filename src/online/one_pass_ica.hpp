#pragma once

#include "online/newton_step.hpp"
#include "online/reservoir.hpp"
#include "online/tanh_sums.hpp"
#include "online/white_coordinates.hpp"

/// ICA of a stream in one pass, as accurate as symmetric FastICA (tanh) of all its frames, at O(d^2) a frame:
///
///   coordinates  u = V (x - origin) - v0, nearly white, the first ones the outputs; exact running covariance
///   sums         T = sum t u^T, D = sum s (u^2)^T at the coordinates of the time
///   newton       now and then E from the sums; u <- (I + E) u, and the sums move along:
///                scatter <- A scatter A^T,  T <- T A^T + E o D,  A = I + E
///   reservoir    a uniform sample of the past. FastICA on it is the start. Later its gradient over its
///                standard error tells whether the sums still describe the past (in time order they may not);
///                if not, FastICA on it anew, and the sums become those of the sample
///
/// The error of moving the sums along is of second order in E, and E shrinks as 1/sqrt(n): the whole past
/// counts. While the reservoir holds all frames there are, FastICA on it is that of the batch.
///
/// Work goes in pieces: begin_add(), then work(). Nothing is allocated after construction.
namespace demix {

class OnePassIca {
 public:
  /// `resolution`: rounding unit of the data. `memory`: frames after which one counts 1/e; 0 = for ever.
  /// `components`: at most this many, principal ones; 0 = all there are.
  OnePassIca(Index channels, Index components, double resolution, double memory, std::uint64_t seed);

  Index channels() const { return white_.channels(); }
  Index block() const { return white_.block(); }
  double count() const { return white_.count(); }

  void begin_add(const Frames<double>& X);  ///< at most block() frames; not while adding
  bool adding() const { return add_ != Add::none; }
  bool busy() const { return adding() || publishing_ || stage_ != Stage::idle; }
  bool work();    ///< one piece, if there is something to do. True: there is a new unmixing matrix
  void finish();  ///< brings the unmixing matrix up to date with all frames added
  void clear();   ///< forgets everything
  bool finite() const { return white_.finite() && unmixing_.allFinite() && mixing_.allFinite(); }

  Index rank() const { return rank_; }                        ///< outputs found; 0 = nothing varies
  const Vector<double>& mean() const { return mean_; }        ///< of the channels
  auto unmixing() const { return unmixing_.topRows(rank_); }  ///< rank x channels
  auto mixing() const { return mixing_.topLeftCorner(channels(), rank_); }  ///< E[x y^T], channels x rank
  /// E[v y^T] for v = U x, U padded: rows x channels; y: the outputs found
  void correlate(const Matrix<double>& U, Index rows, Matrix<double>& out) const {
    product(U, mixing_, rows, rank_, channels(), out);
  }
  Matrix<double> mixing_of(const Matrix<double>& U) const;  ///< E[x v^T] for outputs v = U x
  Matrix<double> channel_root() const;  ///< R with R R^T = covariance of the channels, no digits lost
  const Reservoir& reservoir() const { return reservoir_; }
  double fourth_power(Index output) const { return sums_.fourth(output); }  ///< to put outputs in order by

  template <typename Archive>
  void fields(Archive& a) {
    a(white_, reservoir_, sums_, apart_, apart_mean_, add_, add_at_, stage_, checking_, fresh_, rank_,
      outputs_, since_check_, next_check_, since_newton_, next_newton_, B_, P_, c_, centre_, sample_, S_, u_,
      square_, crossed_, sampled_, at_, end_, adopting_, iterations_, left_, root_, output_root_, publishing_,
      svd_, M_, unmixing_, mixing_, mean_);
  }
  void loaded() const;

 private:
  enum class Add { none, place, sum };
  enum class Stage { idle, principal, pass, judge, whiten, turn, adopt, newton };

  void add_piece();
  void added();
  bool due_newton() const;
  void begin_check();
  void reset_start();
  void restart();
  void principal();
  void begin_pass();
  void pass();
  void catch_up();
  void judge();
  void turn();
  void adopt();
  void newton();
  void begin_publish();
  void publish();
  bool stale();
  double piece(bool& news);

  Index components_;
  double memory_;
  WhiteCoordinates white_;
  Reservoir reservoir_;

  // Sums over all frames, of the first outputs_ coordinates. After a start from the reservoir they stand for
  // sum u u^T = scatter + count mean mean^T + apart, sum u = count mean + apart_mean.
  TanhSums sums_;
  Matrix<double> apart_;
  Vector<double> apart_mean_;

  Add add_ = Add::none;
  Index add_at_ = 0;
  Stage stage_ = Stage::idle;
  bool checking_ = false;  // the pass is a check of the sums
  bool fresh_ = false;     // there are sums
  Index outputs_ = 0;      // coordinates that are outputs
  double since_check_ = 0;
  double next_check_ = 0;
  double since_newton_ = 0;
  double next_newton_ = 0;

  // On the reservoir: v = B (u - centre) = P (x - origin) - c
  Matrix<double> B_, P_;
  Vector<double> c_, centre_;
  TanhSums sample_;
  Matrix<double> S_;        // sum v v^T
  Vector<double> u_;        // sum v
  Matrix<double> square_;   // sum t^2 (v^2)^T
  Matrix<double> crossed_;  // sum (t v)(t v)^T
  double sampled_ = 0;      // frames
  Index at_ = 0;            // the frame it has come to
  Index end_ = 0;
  bool adopting_ = false;  // content with it; it only goes on to the end
  bool precise_ = false;   // to the last digits, in finish()
  int iterations_ = 0;
  double left_ = 0;  // longest row of E after the last pass
  InverseRoot root_;
  JacobiSvd svd_;
  Matrix<double> M_;
  NewtonStep step_;

  // What was found.
  Index rank_ = 0;
  bool publishing_ = false;
  InverseRoot output_root_;
  Matrix<double> unmixing_, mixing_;
  Vector<double> mean_;

  // Where work is done.
  Matrix<double> frames_, v_, tv_, A_, A_inverse_, work_;
  Vector<double> zero_;
};

}  // namespace demix
