#include "demix/stream_separator.hpp"

#include <Eigen/LU>
#include <Eigen/QR>
#include <Eigen/SVD>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>

#include "core/archive.hpp"
#include "demix/crosstalk.hpp"
#include "demix/natural_network.hpp"
#include "demix/random.hpp"
#include "demix/version.hpp"
#include "online/change_detector.hpp"
#include "online/kernels.hpp"
#include "online/outlier_gate.hpp"
#include "online/stream_moments.hpp"

namespace demix {
namespace {

constexpr double settled_share = 0.01;  // of an output's power that may be new: crosstalk of 20 dB

// Frames spread evenly over the past (converge) or over the last two memories (track), to judge by.
class Sample {
 public:
  Sample(Index channels, double memory)
      : frames_(Matrix<double>::Zero(channels, 2048)),
        rolling_(memory > 0),
        stride_(std::max<std::int64_t>(1, static_cast<std::int64_t>(2 * memory / 2048))) {}

  void add(const double* x) {
    if (++since_ < stride_) return;
    since_ = 0;
    if (size_ == frames_.cols() && !rolling_) {  // every second one makes room
      for (Index k = 0; k < size_ / 2; ++k) frames_.col(k) = frames_.col(2 * k + 1);
      size_ /= 2;
      stride_ *= 2;
      at_ = size_;
    }
    frames_.col(at_) = Eigen::Map<const Vector<double>>(x, frames_.rows());
    size_ = std::max(size_, at_ + 1);
    at_ = (at_ + 1) % frames_.cols();
  }
  auto frames() const { return frames_.leftCols(size_); }
  void clear() {
    size_ = at_ = 0;
    since_ = 0;
  }
  template <typename Archive>
  void fields(Archive& a) {
    a(frames_, stride_, since_, size_, at_);
  }

 private:
  Matrix<double> frames_;
  bool rolling_;
  std::int64_t stride_;
  std::int64_t since_ = 0;
  Index size_ = 0;
  Index at_ = 0;
};

}  // namespace

void StreamOptions::validate(Index channels) const {
  if (channels < 1)
    throw std::invalid_argument("channels: expected at least 1, got " + std::to_string(channels));
  if (components < 0 || components > channels) {
    throw std::invalid_argument("components: expected 0 to " + std::to_string(channels) + ", got " +
                                std::to_string(components));
  }
  if (!(memory == 0 || (memory >= 1024 && std::isfinite(memory)))) {
    throw std::invalid_argument("memory: expected 0 (for ever) or at least 1024 frames, got " +
                                std::to_string(memory));
  }
  if (!(saturation >= 0))
    throw std::invalid_argument("saturation: expected 0 or more, got " + std::to_string(saturation));
  if (replay < 1)
    throw std::invalid_argument("replay: expected at least 1 frame, got " + std::to_string(replay));
  if (learn != Learn::moments && (memory > 0 || robust)) {
    throw std::invalid_argument("memory, robust: only with learning from moments");
  }
}

// In double whatever the stream is in; the template around it converts.
class StreamEngine {
 public:
  StreamOptions options;
  Index n;  // channels
  Index outputs;
  bool moments_mode;
  StreamMoments moments;
  ChangeDetector detector;
  OutlierGate gate;
  Sample sample;
  std::optional<NaturalNetwork<double>> network;
  Random random;

  std::int64_t frames = 0, refused = 0, outliers = 0, changes = 0, last_change = -1;
  Index pending = 0;     // frames of the next block
  bool solving = false;  // what the moments are busy with
  bool gate_open = false;
  bool settled = false;     // they have come to rest once, and are in their final order
  bool relearning = false;  // after a change, until there is something better than the old U
  double next_solve = 0, since_solve = 0;
  double next_look = 0, since_look = 0, moved = 1;
  Index rank = 0;

  Matrix<double> U, then;  // U: rows padded for the kernels; then: U when last looked at
  Vector<double> mean;
  Matrix<double> X, Y;  // the next block, and what was put out for it
  Matrix<double> past;  // replay: the last frames; robust: the first ones, until the gate opens
  Index past_size = 0, past_at = 0;

  Vector<double> x, y;           // the frame at hand, from the mean, and its output
  Matrix<double> overlap, rows;  // where U is put in order
  std::vector<Index> slot_of;    // of each row
  std::vector<char> taken;

  StreamEngine(Index channels, const StreamOptions& o, double resolution)
      : options((o.validate(channels), o)),
        n(channels),
        outputs(o.components > 0 ? o.components : channels),
        moments_mode(o.learn == StreamOptions::Learn::moments),
        moments(moments_mode ? channels : 1, o.components, resolution, o.memory),
        detector(outputs, moments.block()),
        sample(channels, o.memory),
        random(o.seed + 1) {
    if (!moments_mode) {
      NaturalNetworkOptions of_network;
      of_network.components = o.components;
      of_network.seed = o.seed;
      network.emplace(n, of_network);
    }
    const Index start = std::max<Index>(256, 4 * n);
    const Index kept = o.learn == StreamOptions::Learn::replay ? o.replay : o.robust ? start : 0;
    gate_open = !o.robust;
    past = Matrix<double>::Zero(n, kept);
    const Index ld = kernels::leading<double>(outputs);
    U = Matrix<double>::Zero(ld, n);
    then = rows = Matrix<double>::Zero(outputs, n);
    mean = Vector<double>::Zero(n);
    X = Matrix<double>::Zero(n, moments.block());
    Y = Matrix<double>::Zero(outputs, moments.block());
    x = Vector<double>::Zero(kernels::leading<double>(n));
    y = Vector<double>::Zero(ld);
    overlap = Matrix<double>::Zero(outputs, outputs);
    slot_of.assign(static_cast<std::size_t>(outputs), 0);
    taken.assign(static_cast<std::size_t>(outputs), 0);
  }

  // x holds the frame as it came; leaves the output in y.
  bool step() {
    ++frames;
    auto frame = x.head(n);
    const double size = frame.cwiseAbs().maxCoeff();
    if (!(frame.squaredNorm() < 1e150)) {  // NaN, Inf, or its fourth power would be
      y.setZero();
      ++refused;
      return false;
    }
    const bool usable = options.saturation == 0 || size < options.saturation;
    if (!usable) ++refused;
    if (!moments_mode) return network_step(usable);

    if (rank > 0) {
      frame -= mean;
      kernels::project(U.data(), U.rows(), outputs, n, x.data(), y.data());
      frame += mean;
    }
    if (usable) {
      if (!gate_open) {
        collect();
      } else if (!options.robust || rank == 0 || gate.passes(y.head(outputs).squaredNorm())) {
        learn();
      } else {
        ++outliers;
      }
    }
    work();
    return usable;
  }

  bool network_step(bool usable) {
    auto out = y.head(outputs);
    if (!usable) {
      network->respond(x.head(n), out);
      return false;
    }
    sample.add(x.data());
    if (options.learn == StreamOptions::Learn::frame) {
      network->step(x.head(n), out);
    } else {
      past.col(past_at) = x.head(n);
      past_size = std::max(past_size, past_at + 1);
      past_at = (past_at + 1) % past.cols();
      network->step(x.head(n), out, past.col(random.below(past_size)));
    }
    if (!out.allFinite()) out.setZero();
    return true;
  }

  // Robust: the first frames wait until it can be told which are outliers.
  void collect() {
    past.col(past_size++) = x.head(n);
    if (past_size == past.cols()) open_gate();
  }
  void open_gate() {
    const Matrix<double> first = past.leftCols(past_size);
    past_size = 0;
    const std::vector<bool> keep = gate.open(first);
    gate_open = !keep.empty();  // silence tells nothing: wait for more
    for (Index t = 0; t < static_cast<Index>(keep.size()); ++t) {
      if (!keep[static_cast<std::size_t>(t)]) {
        ++outliers;
        continue;
      }
      x.head(n) = first.col(t);
      learn();
      while (moments.busy()) work();
    }
  }

  // x goes into the next block; a full one into the sums.
  void learn() {
    sample.add(x.data());
    X.col(pending) = x.head(n);
    Y.col(pending) = y.head(outputs);
    if (++pending < X.cols()) return;
    pending = 0;
    while (moments.busy()) work();  // never: a block takes fewer pieces than it has frames
    if (moments.count() > 1024 && detector.add(Y)) {
      ++changes;
      last_change = frames;
      detector.clear();
      if (options.memory > 0) {  // learn anew; what was learned is put out until that can replace it
        moments.clear();
        sample.clear();
        next_solve = relearn();
        next_look = 0;
        settled = false;
        relearning = true;
        moved = 1;
        return;
      }
    }
    moments.begin_add(X);
    since_solve += static_cast<double>(X.cols());
    since_look += static_cast<double>(X.cols());
  }

  // One piece of what there is to do.
  void work() {
    if (!moments.busy()) return;
    moments.work();
    if (moments.busy()) return;
    if (solving) {
      solving = false;
      adopt();
    } else if (due()) {
      solving = true;
      since_solve = 0;
      next_solve = moments.count() * (n <= StreamMoments::exact_channels ? 1.05 : 1.2);
      moments.begin_solve();
    }
  }

  // At counts that grow by a twentieth; when the past fades, at least 64 times within one memory.
  bool due() const {
    if (moments.count() >= next_solve) return true;
    const double interval =
        std::max(options.memory / 64, n <= StreamMoments::exact_channels ? 0 : 16. * static_cast<double>(n));
    return options.memory > 0 && moments.count() >= relearn() && since_solve >= interval;
  }
  double relearn() const {
    return std::max<double>(512, 4 * static_cast<double>(n));
  }  // frames, after a change

  // The outputs found, each in the place and with the sign of the one it continues.
  void adopt() {
    const Index r = moments.rank();
    if (r == 0) return;
    relearning = false;
    rows = U.topRows(outputs);
    moments.correlate(rows, overlap);
    assign(r);
    U.setZero();
    for (Index k = 0; k < r; ++k) {
      const Index slot = slot_of[static_cast<std::size_t>(k)];
      U.row(slot).setZero();
      U.row(slot) = (overlap(slot, k) < 0 ? -1 : 1) * moments.unmixing().row(k);
    }
    mean = moments.mean();
    rank = r;
    look(r);
  }

  // slot_of[row], greedily by the largest correlation left
  void assign(Index r) {
    std::fill(taken.begin(), taken.end(), 0);
    std::fill(slot_of.begin(), slot_of.end(), -1);
    for (Index round = 0; round < r; ++round) {
      double best = -1;
      Index row = 0;
      Index slot = 0;
      for (Index k = 0; k < r; ++k) {
        if (slot_of[static_cast<std::size_t>(k)] >= 0) continue;
        for (Index s = 0; s < outputs; ++s) {
          if (taken[static_cast<std::size_t>(s)] != 0 || std::abs(overlap(s, k)) <= best) continue;
          best = std::abs(overlap(s, k));
          row = k;
          slot = s;
        }
      }
      slot_of[static_cast<std::size_t>(row)] = slot;
      taken[static_cast<std::size_t>(slot)] = 1;
    }
  }

  // Every time the frames have doubled (or one memory has passed): how far have the outputs turned since?
  // Once they have come to rest, and only then, they are put in order of kurtosis, which stays.
  void look(Index r) {
    const bool due_look = options.memory > 0 && next_look > options.memory ? since_look >= options.memory
                                                                           : moments.count() >= next_look;
    if (!due_look) return;
    since_look = 0;
    const bool first = next_look == 0;
    next_look = std::max(2 * moments.count(), 10 * static_cast<double>(n * n));
    if (!first) {
      moments.correlate(then, overlap);
      moved = 0;
      for (Index k = 0; k < r; ++k) {
        const double all = overlap.col(k).squaredNorm();
        const double most = overlap.col(k).cwiseAbs2().maxCoeff();
        moved = std::max(moved, all > 0 ? 1 - most / all : 1);
      }
      if (!settled && moved <= settled_share) {
        settled = true;
        rows = U.topRows(outputs);
        U.setZero();
        for (Index k = 0; k < r; ++k) U.row(k) = rows.row(slot_of[static_cast<std::size_t>(k)]);
      }
    }
    then = U.topRows(outputs);
  }

  void finish() {
    if (!moments_mode) {
      network->refresh();
      return;
    }
    if (!gate_open && past_size > 0) open_gate();  // fewer frames than it wanted
    while (moments.busy()) work();
    if (pending > 0) {
      moments.begin_add(X.leftCols(pending));
      pending = 0;
      moments.finish();
    }
    if (moments.count() == 0 || (relearning && moments.count() < relearn())) return;
    moments.begin_solve();
    moments.finish();
    adopt();
  }

  Matrix<double> unmixing() const {
    if (moments_mode) return U.topRows(outputs);
    Matrix<double> out = Matrix<double>::Zero(outputs, n);
    out.topRows(network->rank()) = network->unmixing();
    return out;
  }
  const Vector<double>& mean_of_channels() const { return moments_mode ? mean : network->mean(); }

  StreamStatus status() const;
  Matrix<double> mixing(const Matrix<double>& used);

  template <typename Archive>
  void fields(Archive& a) {
    a(frames, refused, outliers, changes, last_change, pending, solving, gate_open, settled, relearning,
      next_solve, since_solve, next_look, since_look, moved, rank, U, then, mean, X, Y, y, past, past_size,
      past_at, detector, gate, sample, random);
    if (moments_mode) {
      a(moments);
    } else {
      a(*network);
    }
  }
};

StreamStatus StreamEngine::status() const {
  StreamStatus s;
  s.frames = frames;
  s.refused = refused;
  s.outliers = outliers;
  s.changes = changes;
  s.last_change = last_change;
  s.rank = moments_mode ? rank : network->rank();
  s.settled = settled && moved <= settled_share;
  s.moved = moved;
  const Matrix<double> B = unmixing();
  std::vector<Index> which;  // outputs in use
  for (Index i = 0; i < outputs; ++i) {
    if (B.row(i).squaredNorm() > 0) which.push_back(i);
  }
  s.rank = static_cast<Index>(which.size());
  s.kurtosis = s.kurtosis_error = Vector<double>::Zero(s.rank);
  if (s.rank == 0) return s;
  Matrix<double> used(s.rank, n);
  for (Index i = 0; i < s.rank; ++i) used.row(i) = B.row(which[static_cast<std::size_t>(i)]);

  const bool exact = moments_mode && !relearning && moments.rank() > 0;  // else the sample has to do
  const Matrix<double> y_sample = used * (sample.frames().colwise() - mean_of_channels());
  const auto size = static_cast<double>(y_sample.cols());
  if (size < 2) return s;
  const double learned = moments_mode ? moments.count() : static_cast<double>(network->frames());
  if (exact) s.kurtosis = moments.kurtosis(used);
  for (Index i = 0; i < s.rank; ++i) {
    const Eigen::ArrayXd v = y_sample.row(i).transpose().array().square();
    const double m2 = v.mean();
    if (!(m2 > 0)) continue;
    const double m4 = v.square().mean() / (m2 * m2);
    if (!exact) s.kurtosis(i) = m4;
    const Eigen::ArrayXd influence = (v / m2).square() - 2 * m4 * (v / m2) + m4;  // of one frame on m4/m2^2
    s.kurtosis_error(i) = std::sqrt(influence.square().mean() / std::max(learned, 1.0));
  }
  const Matrix<double> crosstalk =
      fobi_crosstalk(y_sample, Weight::square, static_cast<std::int64_t>(std::max(learned, 1.0)));
  s.expected_mse = crosstalk.squaredNorm() / static_cast<double>(s.rank);
  for (Index i = 0; i < s.rank; ++i) {
    for (Index j = i + 1; j < s.rank; ++j) {
      // Alike by the crosstalk to expect, or because the difference may be chance (the sample's own may not
      // tell).
      const double chance = 3 * std::hypot(s.kurtosis_error(i), s.kurtosis_error(j));
      if (std::max(crosstalk(i, j), crosstalk(j, i)) > trusted_crosstalk ||
          std::abs(s.kurtosis(i) - s.kurtosis(j)) < chance) {
        s.unresolved.emplace_back(which[static_cast<std::size_t>(i)], which[static_cast<std::size_t>(j)]);
      }
    }
  }
  if (exact) {
    Matrix<double> root = moments.channel_root();
    for (Index i = 0; i < n; ++i) {
      const double deviation = root.row(i).norm();
      if (deviation > 0) root.row(i) /= deviation;
    }
    const Vector<double> singular = Eigen::JacobiSVD<Matrix<double>>(root).singularValues();
    s.condition = singular(0) / singular(std::max(s.rank, moments.rank()) - 1);
  }
  return s;
}

// E[x y^T]: what one unit of each output in use adds to the channels
Matrix<double> StreamEngine::mixing(const Matrix<double>& used) {
  if (!moments_mode || relearning) return used.completeOrthogonalDecomposition().pseudoInverse();
  Matrix<double> solved = Matrix<double>::Zero(n, std::max(outputs, rank));
  moments.correlate(Matrix<double>::Identity(n, n), solved);
  Matrix<double> out(n, used.rows());
  for (Index i = 0; i < used.rows(); ++i) {  // U is made of the solved rows, turned round or not
    Index row = 0;
    (moments.unmixing().rowwise() - used.row(i))
        .rowwise()
        .squaredNorm()
        .cwiseMin((moments.unmixing().rowwise() + used.row(i)).rowwise().squaredNorm())
        .minCoeff(&row);
    out.col(i) = (moments.unmixing().row(row).dot(used.row(i)) < 0 ? -1 : 1) * solved.col(row);
  }
  const Matrix<double> product = used * out;
  if (!((product - Matrix<double>::Identity(used.rows(), used.rows())).norm() < 1e-3)) {
    return used.completeOrthogonalDecomposition().pseudoInverse();
  }
  return out * product.inverse();  // what rounding left
}

template <typename T>
Model StreamSeparator<T>::model() const {
  StreamSeparator done(*this);
  done.finish();
  const StreamStatus s = done.status();
  if (s.rank == 0) throw std::invalid_argument("no channel has varied so far; there is nothing to separate");
  const Matrix<double> B = done.unmixing();
  Model model;
  model.method = "stream";
  model.version = version;
  model.options = {{"learn", std::string(learn_name(options().learn))}};
  if (options().memory > 0)
    model.options["memory"] = std::to_string(static_cast<std::int64_t>(options().memory));
  if (options().robust) model.options["robust"] = "yes";
  if (options().components > 0) model.options["components"] = std::to_string(options().components);
  model.samples = s.frames - s.refused - s.outliers;
  model.mean = done.mean();
  model.unmixing.resize(s.rank, channels());
  std::vector<Index> component(static_cast<std::size_t>(outputs()));  // of each output
  for (Index i = 0, k = 0; i < outputs() && k < s.rank; ++i) {
    if (B.row(i).squaredNorm() == 0) continue;
    component[static_cast<std::size_t>(i)] = k;
    model.unmixing.row(k++) = B.row(i);
  }
  model.mixing = done.engine_->mixing(model.unmixing);
  model.kurtosis = s.kurtosis;

  const auto warn = [&](Warning::Kind kind, const std::string& text, std::vector<Index> which = {}) {
    model.warnings.push_back({kind, text, std::move(which)});
  };
  if (s.rank < outputs()) {
    warn(Warning::Kind::reduced_rank, std::to_string(channels()) + " channels hold only " +
                                          std::to_string(s.rank) + " independent signals");
  }
  const auto advised = 10 * s.rank * s.rank;
  if (model.samples < advised) {
    warn(Warning::Kind::few_samples, std::to_string(model.samples) + " frames are few for " +
                                         std::to_string(s.rank) + " components; at least " +
                                         std::to_string(advised) + " are advised");
  }
  if (options().learn == StreamOptions::Learn::moments && !s.settled) {
    warn(Warning::Kind::not_converged,
         "the outputs have not settled yet: they were still turning as frames came in");
  }
  for (const auto& [a, b] : s.unresolved) {
    const Index i = component[static_cast<std::size_t>(a)];
    const Index j = component[static_cast<std::size_t>(b)];
    warn(Warning::Kind::close_kurtosis,
         "components " + std::to_string(i + 1) + " and " + std::to_string(j + 1) +
             ": kurtoses too close to tell apart with " + std::to_string(model.samples) +
             " frames; they may still be mixed with each other",
         {i, j});
  }
  return model;
}

std::string_view learn_name(StreamOptions::Learn learn) {
  switch (learn) {
    case StreamOptions::Learn::moments:
      return "moments";
    case StreamOptions::Learn::replay:
      return "replay";
    case StreamOptions::Learn::frame:
      return "frame";
  }
  return "";
}

StreamOptions::Learn learn_named(std::string_view name) {
  for (const auto learn :
       {StreamOptions::Learn::moments, StreamOptions::Learn::replay, StreamOptions::Learn::frame}) {
    if (learn_name(learn) == name) return learn;
  }
  throw std::invalid_argument("learn: expected moments, replay or frame, got '" + std::string(name) + "'");
}

template <typename T>
StreamSeparator<T>::StreamSeparator(Index channels, const StreamOptions& options)
    : engine_(std::make_unique<StreamEngine>(channels, options,
                                             static_cast<double>(std::numeric_limits<T>::epsilon()))) {}
template <typename T>
StreamSeparator<T>::~StreamSeparator() = default;
template <typename T>
StreamSeparator<T>::StreamSeparator(const StreamSeparator& other)
    : engine_(std::make_unique<StreamEngine>(*other.engine_)) {}
template <typename T>
StreamSeparator<T>& StreamSeparator<T>::operator=(const StreamSeparator& other) {
  if (this != &other) *engine_ = *other.engine_;
  return *this;
}
template <typename T>
StreamSeparator<T>::StreamSeparator(StreamSeparator&&) noexcept = default;
template <typename T>
StreamSeparator<T>& StreamSeparator<T>::operator=(StreamSeparator&&) noexcept = default;

template <typename T>
bool StreamSeparator<T>::step(const Eigen::Ref<const Vector<T>>& x, Eigen::Ref<Vector<T>> y) {
  StreamEngine& s = *engine_;
  if (x.size() != s.n || y.size() != s.outputs) {
    throw std::invalid_argument("step: expected " + std::to_string(s.n) + " inputs and " +
                                std::to_string(s.outputs) + " outputs, got " + std::to_string(x.size()) +
                                " and " + std::to_string(y.size()));
  }
  s.x.head(s.n) = x.template cast<double>();
  const bool usable = s.step();
  if constexpr (std::is_same_v<T, float>) {  // beyond the range of float is its end, not Inf
    constexpr double end = std::numeric_limits<float>::max();
    y = s.y.head(s.outputs).cwiseMax(-end).cwiseMin(end).template cast<float>();
  } else {
    y = s.y.head(s.outputs);
  }
  return usable;
}

template <typename T>
Index StreamSeparator<T>::process(const Frames<T>& X, Eigen::Ref<Matrix<T>> Y) {
  if (X.rows() != channels() || Y.rows() != outputs() || Y.cols() != X.cols()) {
    throw std::invalid_argument("process: X must have " + std::to_string(channels()) + " rows, Y " +
                                std::to_string(outputs()) + ", and as many columns as each other");
  }
  Index refused = 0;
  for (Index t = 0; t < X.cols(); ++t) refused += !step(X.col(t), Y.col(t));
  return refused;
}

template <typename T>
Index StreamSeparator<T>::channels() const {
  return engine_->n;
}
template <typename T>
Index StreamSeparator<T>::outputs() const {
  return engine_->outputs;
}
template <typename T>
Index StreamSeparator<T>::block() const {
  return engine_->X.cols();
}
template <typename T>
std::int64_t StreamSeparator<T>::frames() const {
  return engine_->frames;
}
template <typename T>
const StreamOptions& StreamSeparator<T>::options() const {
  return engine_->options;
}
template <typename T>
Matrix<double> StreamSeparator<T>::unmixing() const {
  return engine_->unmixing();
}
template <typename T>
const Vector<double>& StreamSeparator<T>::mean() const {
  return engine_->mean_of_channels();
}
template <typename T>
StreamStatus StreamSeparator<T>::status() const {
  return engine_->status();
}
template <typename T>
void StreamSeparator<T>::finish() {
  engine_->finish();
}

namespace {

constexpr std::string_view magic = "demix stream state 1\n";

// FNV-1a
std::uint64_t checksum(std::string_view bytes) {
  std::uint64_t h = 14695981039346656037u;
  for (const char c : bytes) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return h;
}

// What is needed to make the object before its fields are loaded.
struct Header {
  Index channels = 0;
  int scalar = 0;
  StreamOptions options;
  template <typename Archive>
  void fields(Archive& a) {
    a(channels, scalar, options.learn, options.components, options.memory, options.robust, options.saturation,
      options.replay, options.seed);
  }
};

}  // namespace

template <typename T>
std::string StreamSeparator<T>::state() const {
  Saver saver;
  Header header{engine_->n, sizeof(T), engine_->options};
  saver(header, *engine_);
  std::uint64_t sum = checksum(saver.bytes);
  std::string out(magic);
  out.append(reinterpret_cast<const char*>(&sum), sizeof sum);
  return out + saver.bytes;
}

template <typename T>
StreamSeparator<T> StreamSeparator<T>::restore(std::string_view state) {
  std::uint64_t sum = 0;
  if (state.substr(0, magic.size()) != magic || state.size() < magic.size() + sizeof sum) {
    throw std::invalid_argument("state: not a stream state of this version of demix");
  }
  std::memcpy(&sum, state.data() + magic.size(), sizeof sum);
  state.remove_prefix(magic.size() + sizeof sum);
  if (sum != checksum(state)) throw std::invalid_argument("state: damaged (its checksum does not fit)");
  Loader loader(state);
  Header header;
  loader(header);
  if (header.scalar != sizeof(T)) throw std::invalid_argument("state: of another scalar type");
  StreamSeparator out(header.channels, header.options);
  loader(*out.engine_);
  if (!loader.done()) throw std::invalid_argument("state: longer than it should be");
  return out;
}

template class StreamSeparator<float>;
template class StreamSeparator<double>;

}  // namespace demix
