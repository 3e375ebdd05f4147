#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>

#include "demix/network_trace.hpp"
#include "demix/types.hpp"
#include "demix/weight.hpp"

/// SM-ICA with natural steps: the network of sm_ica_network.hpp made stable, independent of the mixing and
/// free of tuning. One layer, the same two matrices, every synapse still learning from what is at hand plus
/// two numbers for the whole network, the total activities of outputs and of whitened inputs. The whitening
/// and the averaged read-out are not local.
///
///   h = P (x - mean)                                      inputs whitened by a running stage in front
///   c = W h,  y = M^-1 c,  a = ||y||^2
///   f = w(a) (d + 2)/g,  g = E[w(a) a]/d of Gaussian sources     f = a for the paper's modulator w(a) = a
///   W_i  <- W_i + eta s (lambda_i^2 y_i - f c_i) / (1 + eta s f ||h||^2) h^T,         s = 1/(d + 2)
///   M_ij <- M_ij + mu (sqrt(M_ii M_jj) y_i y_j - M_ij) / (1 + mu a),                 mu = .6 eta
///   eta  = min(.1, 8 / (50 + t)^.6)
///   for w = 1/(1 + a), which falls with activity: a fifth of that eta, mu = 1.5 eta
///
/// Dividing each step by its curvature makes all outputs and all d settle at one pace; the denominators are
/// those of an implicit step, so no frame can overshoot; M decays and grows by squares, so it stays positive
/// definite. What is put out is the average of M^-1 W over the part of the past in which it has been at rest.
/// docs/natural-steps.md has the why.
///
/// It learns from single frames, so it needs them in a random order: see docs/natural-steps.md for what time
/// order does.
namespace demix {

struct NaturalNetworkOptions {
  Index components = 0;            ///< outputs; 0 = one per input
  Vector<double> lambda2;          ///< lambda_i^2, one per output; empty = geometric_lambda2
  Weight weight = Weight::square;  ///< w, the modulator as a function of total activity
  std::uint64_t seed = 0;          ///< of the initial rotation

  void validate(Index inputs) const;
};

template <typename T>
class NaturalNetwork {
 public:
  explicit NaturalNetwork(Index inputs, const NaturalNetworkOptions& options = {});

  /// One frame: y by what has been learned before it, then learning. A frame with NaN or Inf (or whose square
  /// overflows) is refused: y = 0, nothing learned, false. During the first warm_up() frames y = 0. Outputs
  /// beyond the rank of the data are 0. Allocates only when the whitener is refreshed or a block of the
  /// average is closed, at frame counts that grow by a tenth and by a fifth.
  bool step(const Eigen::Ref<const Vector<T>>& x, Eigen::Ref<Vector<T>> y);
  void process(const Frames<T>& X, Eigen::Ref<Matrix<T>> Y);
  /// The same, but the network learns from another frame: one of the past, drawn at random, if they come in
  /// time order. Mean and whitening follow x.
  bool step(const Eigen::Ref<const Vector<T>>& x, Eigen::Ref<Vector<T>> y,
            const Eigen::Ref<const Vector<T>>& replayed);
  /// The output alone.
  bool respond(const Eigen::Ref<const Vector<T>>& x, Eigen::Ref<Vector<T>> y);

  Index inputs() const { return mean_.size(); }
  Index outputs() const { return outputs_; }
  Index rank() const { return d_; }                ///< outputs in use; 0 before the first whitening
  Index warm_up() const { return warm_up_; }       ///< frames before learning starts
  std::int64_t frames() const { return frames_; }  ///< learned from or measured
  std::int64_t refused() const { return refused_; }
  const Vector<double>& mean() const { return mean_; }
  Matrix<double> unmixing() const;  ///< of everything seen so far, rank x inputs: y = unmixing (x - mean)
  Matrix<double> whitener() const { return P_.topRows(d_); }               ///< P
  Matrix<double> feedforward() const { return W_.topLeftCorner(d_, d_); }  ///< W, on whitened inputs
  Matrix<double> lateral() const;                                          ///< M

  /// The frame last learned from (the replayed one, where there is one) into the trace.
  void note(NetworkTrace& trace) const;

  /// Brings the whitener and the number of directions up to date with every frame seen. step() does it now
  /// and then; call it when a stream ends.
  void refresh();

  /// Everything a running network holds, for saving and loading.
  template <typename Archive>
  void fields(Archive& a) {
    Index d = d_;
    std::size_t notes = noted_.size();
    a(d, notes, frames_, refused_, next_refresh_, learned_, eta_, mean_, scatter_, late_scatter_);
    if (d < 0 || d > outputs_ || notes > 256)  // they are taken at counts that grow by a fifth
      throw std::invalid_argument("state: not of a network of this size");
    a.expect(2 * notes * static_cast<std::size_t>(d * d));
    if (d != d_) resize(d);
    noted_.resize(notes);
    sums_.resize(notes, Matrix<double>::Zero(d_, d_));
    rotations_.resize(notes > 0 ? notes - 1 : 0, Matrix<double>::Zero(d_, d_));
    a(P_, W_, M_, K_, B_, late_M_, M_diagonal_, lambda2_, sum_, noted_, sums_, rotations_);
  }
  void loaded() const;  ///< throws std::invalid_argument if this cannot be what a network has held

 private:
  void resize(Index d);
  bool refuse() {
    ++refused_;
    return false;
  }
  void observe();
  void start(const Matrix<double>& whitener);
  void learn();
  void polish_inverse();
  std::int64_t sampling() const { return std::max<Index>(16, d_ * d_ / 16); }  // between terms of the average
  Matrix<double> covariance() const;
  Matrix<double> averaged() const;

  Index outputs_;
  Index d_ = 0;
  Index warm_up_;
  NaturalNetworkOptions options_;
  std::int64_t frames_ = 0;
  std::int64_t refused_ = 0;
  std::int64_t next_refresh_;
  std::int64_t learned_ = 0;  // frames since the network started
  double eta_ = 0;
  double modulator_ = 0;  // f
  double unit_ = 1;       // (d + 2) over what w(a) h h^T averages to for Gaussian sources

  Vector<double> mean_;
  Matrix<double> scatter_;  // sum (x - mean)(x - mean)^T, padded rows
  // Rows padded for the kernels.
  Matrix<double> P_, W_, M_, K_, B_, fresh_;  // K = M^-1, B = what is put out
  Vector<double> lambda2_, x_, h_, c_, y_, u_, v_, kv_;

  // A <- decay A + weight v v^T, made a few at a time: nobody looks at the whole of M, or of the covariance,
  // with every frame.
  struct Late {
    Matrix<double> v;       // padded rows
    Vector<double> weight;  // 0 where not in use
    double decay = 1;
    Index size = 0;

    void resize(Index rows);
    void add(Matrix<double>& A, Index d, double keep, double w, const Vector<double>& new_v);
    Matrix<double> with(const Matrix<double>& A, Index d) const;  // A as if all had been made
    template <typename Archive>
    void fields(Archive& a) {
      a(v, weight, decay, size);
    }
    void loaded() const;
  };
  Late late_scatter_, late_M_;
  Vector<double> M_diagonal_;  // up to date with every frame

  // The average: sums of M^-1 W, noted at counts that grow by a fifth.
  Matrix<double> sum_;
  std::vector<std::int64_t> noted_;
  std::vector<Matrix<double>> sums_;
  std::vector<Matrix<double>> rotations_;  // of each block between two notes
};

extern template class NaturalNetwork<float>;
extern template class NaturalNetwork<double>;

}  // namespace demix
