#pragma once

#include "online/moving_sums.hpp"
#include "online/newton_step.hpp"
#include "online/reservoir.hpp"
#include "online/reservoir_pass.hpp"
#include "online/white_coordinates.hpp"
#include "online/white_outputs.hpp"

/// ICA of a stream in one pass, as accurate as symmetric FastICA (tanh) of all its frames, at O(d^2) a frame:
///
///   coordinates  u = V (x - origin) - v0, nearly white, the first ones the outputs; exact running covariance
///   reservoir    a uniform sample of the past
///   search       passes over the reservoir, a Newton step u <- (I + E) u after each
///   sums         once they are small, T = sum t u^T, D = sum s (u^2)^T over all frames, those of the
///                reservoir to begin with; now and then E from them, and they move along with u
///   check        the gradient over the reservoir by its standard error tells whether the sums still describe
///                the past (in time order they may not). If not, back to the search
///
/// While the reservoir holds every frame, what the search comes to is FastICA of the batch; with few frames
/// for every parameter it never ends. Later the error of moving the sums along is of second order in E,
/// and E shrinks as 1/sqrt(n): the whole past counts.
///
/// Work goes in pieces: remember() every frame, begin_add() every block, then work(). Nothing is allocated
/// after construction.
namespace demix {

class OnePassIca {
 public:
  /// `resolution`: rounding unit of the data. `memory`: frames after which one counts 1/e; 0 = for ever.
  /// `components`: at most this many, principal ones; 0 = all there are.
  OnePassIca(Index channels, Index components, double resolution, double memory, std::uint64_t seed);

  Index channels() const { return white_.channels(); }
  Index block() const { return white_.block(); }
  double count() const { return white_.count(); }

  void remember(const Eigen::Ref<const Vector<double>>& x);  ///< every frame, before its block is added
  void begin_add(const Frames<double>& X);                   ///< at most block() frames; not while adding
  bool adding() const { return add_ != Add::none; }
  bool busy() const { return adding() || found_.busy() || stage_ != Stage::idle; }
  bool work();    ///< one piece, if there is something to do. True: there is a new unmixing matrix
  void finish();  ///< brings the unmixing matrix up to date with all frames added
  void clear();   ///< forgets everything
  bool finite() const { return white_.finite() && found_.finite(); }

  Index rank() const { return found_.rank(); }                         ///< outputs found; 0 = nothing varies
  const Vector<double>& mean() const { return found_.mean(); }         ///< of the channels
  auto unmixing() const { return found_.unmixing().topRows(rank()); }  ///< rank x channels
  auto mixing() const { return found_.mixing().topLeftCorner(channels(), rank()); }  ///< E[x y^T]
  /// E[v y^T] for v = U x, U padded: rows x channels; y: the outputs found
  void correlate(const Matrix<double>& U, Index rows, Matrix<double>& out) const {
    product(U, found_.mixing(), rows, rank(), channels(), out);
  }
  Matrix<double> mixing_of(const Matrix<double>& U) const;  ///< E[x v^T] for outputs v = U x
  Matrix<double> channel_root() const;  ///< R with R R^T = covariance of the channels, no digits lost
  const Reservoir& reservoir() const { return reservoir_; }
  double fourth_power(Index output) const { return fourth_(output); }  ///< to put outputs in order by

  template <typename Archive>
  void fields(Archive& a) {
    a(white_, reservoir_, pass_, sums_, found_, add_, add_at_, remembered_, stage_, summing_, outputs_,
      check_, newton_, next_pass_, iterations_, left_, fourth_, A_, A_inverse_, zero_, expected_.S, svd_,
      root_);
  }
  void loaded() const;

 private:
  enum class Add { none, place, sum };
  enum class Stage { idle, principal, pass, judge, turn, newton, move };

  /// Something that is due whenever the count has grown by a factor, or so many frames have come.
  struct Due {
    double next = 0;
    double since = 0;
    bool reached(double count, double frames) const { return count >= next || since >= frames; }
    void again(double count, double growth) { *this = {growth * count, 0}; }
    template <typename Archive>
    void fields(Archive& a) {
      a(next, since);
      require_state(next >= 0 && next < 0x1p62 && since >= 0 && since < 0x1p62, "a count out of range");
    }
  };

  bool few() const;
  void add_piece();
  void added();
  bool newton_due() const;
  bool check_due() const;
  void begin_check();
  void begin_search();
  void principal();
  void begin_pass();
  void judge();
  void begin_turn(bool is_near);
  void turn();
  void begin_sums();
  void newton();
  void move();
  void publish();
  double piece(bool& news);

  Index components_;
  double memory_;
  WhiteCoordinates white_;
  Reservoir reservoir_;
  ReservoirPass pass_;
  MovingSums sums_;
  WhiteOutputs found_;

  Add add_ = Add::none;
  Index add_at_ = 0;
  Index remembered_ = 0;  // frames of the reservoir that are in the covariance
  Stage stage_ = Stage::idle;
  bool summing_ = false;  // there are sums; if not it searches
  bool precise_ = false;  // to the last digits, in finish()
  Index outputs_ = 0;     // coordinates that are outputs
  Due check_, newton_;

  // The search
  std::int64_t next_pass_ = 0;  // at this frame
  int iterations_ = 0;
  double left_ = 0;  // longest row of E after the last pass
  Vector<double> fourth_;

  // The next step: u <- A (u - zero)
  Expectations expected_;
  NewtonStep step_;
  InverseRoot root_;
  JacobiSvd svd_;
  Matrix<double> A_, A_inverse_, work_;
  Vector<double> zero_;
};

}  // namespace demix
