#include "online/stream_engine.hpp"

#include <algorithm>
#include <cmath>

#include "online/kernels.hpp"

namespace demix {
namespace {

constexpr Index network_sample = 2048;   // frames to judge the network by
constexpr double too_large = 1e150;      // the square of a frame: NaN, Inf, or its fourth power would be
constexpr double beyond_reason = 1e300;  // the square of an output, of a frame far beyond all before it

}  // namespace

StreamEngine::StreamEngine(Index channels, const StreamOptions& o, double resolution)
    : options_((o.validate(channels), o)),
      n_(channels),
      outputs_(o.components > 0 ? o.components : channels),
      detector_(outputs_, WhiteCoordinates::block_for(channels)),
      sample_(channels, o.learn == StreamOptions::Learn::one_pass ? 0 : network_sample, 0, o.seed + 2),
      random_(o.seed + 1) {
  if (!o.filter.empty()) filter_.emplace(o.filter, n_);
  if (o.learn == StreamOptions::Learn::one_pass) {
    learner_.emplace(n_, o.components, resolution, o.memory, o.seed);
  } else {
    NaturalNetworkOptions of_network;
    of_network.components = o.components;
    of_network.seed = o.seed;
    of_network.weight = o.weight;
    network_.emplace(n_, of_network);
  }
  const Index start = std::max<Index>(256, 4 * n_);
  const Index kept = o.learn == StreamOptions::Learn::replay ? o.replay : o.robust ? start : 0;
  gate_open_ = !o.robust;
  past_ = Matrix<double>::Zero(n_, kept);
  const Index ld = kernels::leading<double>(outputs_);
  U_ = Matrix<double>::Zero(ld, n_);
  then_ = rows_ = U_;
  mean_ = Vector<double>::Zero(n_);
  mixing_ = Matrix<double>::Zero(n_, outputs_);
  X_ = Matrix<double>::Zero(n_, WhiteCoordinates::block_for(n_));
  Y_ = Matrix<double>::Zero(ld, X_.cols());
  x = Vector<double>::Zero(kernels::leading<double>(n_));
  centred_ = x;
  y = Vector<double>::Zero(ld);
  filtered_ = x;
  filtered_output_ = y;
  filtered_mean_ = running_mean_ = mean_;
  overlap_ = Matrix<double>::Zero(outputs_, outputs_);
  slot_of_.assign(static_cast<std::size_t>(outputs_), 0);
  taken_.assign(static_cast<std::size_t>(outputs_), 0);
  order_ = slot_of_;
  columns_ = mixing_;
}

double StreamEngine::least_bytes(Index channels, const StreamOptions& o) {
  const auto n = static_cast<double>(channels);
  const auto replayed = o.learn == StreamOptions::Learn::replay ? static_cast<double>(o.replay) : 0;
  const double squares = o.learn == StreamOptions::Learn::one_pass ? 20 : 1;  // V, scatter, ...; n x n each
  return 8 * n * (replayed + squares * n);
}

void StreamEngine::loaded() const {
  const auto up_to = [](auto value, auto most) { return value >= 0 && value <= most; };
  require_state(up_to(frames_, std::int64_t{1} << 62), "a number of frames out of range");
  require_state(up_to(refused_, frames_) && up_to(outliers_, frames_) && up_to(changes_, frames_) &&
                    last_change_ >= -1 && last_change_ <= frames_,
                "more frames of a kind than frames");
  require_state(up_to(pending_, block() - 1), "more frames than a block");
  require_state(up_to(past_size_, past_.cols()) && up_to(past_at_, std::max<Index>(0, past_.cols() - 1)),
                "a place in the past out of range");
  require_state(gate_open_ || (options_.robust && past_size_ < past_.cols()), "a gate that cannot open");
  require_state(up_to(rank_, outputs_), "more components than outputs");
  require_state(next_look_ >= 0 && since_look_ >= 0 && moved_ >= 0 && hold_ >= 0, "a negative count");
  for (const Index slot : slot_of_)
    require_state(slot >= -1 && slot < outputs_, "a place of an output out of range");
  const auto taken = [](const auto& frames) {
    return (frames.colwise().squaredNorm().array() < too_large).all();
  };
  require_state(taken(filtered_) && taken(running_mean_) && running_count_ >= 0, "a frame that cannot be");
  require_state(taken(past_) && taken(X_) && taken(sample().frames()), "a frame that would be refused");
}

bool StreamEngine::refuse() {
  y.setZero();
  ++refused_;
  return false;
}

// x holds the frame as it came; leaves the output in y.
bool StreamEngine::step() {
  ++frames_;
  const auto frame = x.head(n_);
  if (!(frame.squaredNorm() < too_large)) return refuse();
  const bool usable = options_.saturation == 0 || frame.cwiseAbs().maxCoeff() < options_.saturation;
  if (!usable) ++refused_;
  if (network_) return network_step(usable);

  double activity = project(frame, mean_, y);
  if (!(activity < beyond_reason)) return refuse();
  bool teaches = usable;
  if (filter_) {
    filter_->step(frame, filtered_.head(n_));
    activity = project(filtered_.head(n_), filtered_mean_, filtered_output_);
    teaches = usable && filtered_.squaredNorm() < too_large && activity < beyond_reason;
    if (options_.filter_output) {
      if (!(activity < beyond_reason)) return refuse();
      y = filtered_output_;
    }
  }
  if (frozen_) return usable;
  if (teaches) {
    if (filter_) follow_mean(frame);
    if (!gate_open_) {
      collect();
    } else if (!options_.robust || rank_ == 0 || gate_.passes(activity)) {
      learn(learned_frame(), learned_output());
    } else {
      ++outliers_;
    }
  }
  work();
  return usable;
}

// out <- U (frame - mean); its squared length
double StreamEngine::project(const Eigen::Ref<const Vector<double>>& frame, const Vector<double>& mean,
                             Vector<double>& out) {
  if (rank_ == 0) return 0;
  centred_.head(n_) = frame - mean;
  kernels::project(U_.data(), U_.rows(), outputs_, n_, centred_.data(), out.data());
  return out.head(outputs_).squaredNorm();
}

// What is learned from has lost its mean in the filter.
void StreamEngine::follow_mean(const Eigen::Ref<const Vector<double>>& frame) {
  ++running_count_;
  if (options_.memory > 0) running_count_ = std::min(running_count_, options_.memory);
  running_mean_ += (frame - running_mean_) / running_count_;
}

bool StreamEngine::network_step(bool usable) {
  auto out = y.head(outputs_);
  if (!usable || frozen_) {
    network_->respond(x.head(n_), out);
    if (!(out.squaredNorm() < beyond_reason)) out.setZero();
    return usable;
  }
  sample_.add(x.head(n_));
  if (options_.learn == StreamOptions::Learn::frame) {
    network_->step(x.head(n_), out);
  } else {
    past_.col(past_at_) = x.head(n_);
    past_size_ = std::max(past_size_, past_at_ + 1);
    past_at_ = (past_at_ + 1) % past_.cols();
    network_->step(x.head(n_), out, past_.col(random_.below(past_size_)));
  }
  if (!(out.squaredNorm() < beyond_reason)) out.setZero();
  return true;
}

void StreamEngine::note(NetworkTrace& trace) const {
  if (network_) network_->note(trace);
}

// Robust: the first frames wait until it can be told which are outliers.
void StreamEngine::collect() {
  past_.col(past_size_++) = learned_frame();
  if (past_size_ == past_.cols()) open_gate();
}
void StreamEngine::open_gate() {
  const Matrix<double> first = past_.leftCols(past_size_);
  past_size_ = 0;
  const std::vector<bool> keep = gate_.open(first);
  gate_open_ = !keep.empty();  // silence tells nothing: wait for more
  for (Index t = 0; t < static_cast<Index>(keep.size()); ++t) {
    if (!keep[static_cast<std::size_t>(t)]) {
      ++outliers_;
      continue;
    }
    learn(first.col(t), learned_output());
    while (learner_->adding()) work();
  }
}

// The frame goes into the next block; a full one to the learner.
void StreamEngine::learn(const Eigen::Ref<const Vector<double>>& frame, const Vector<double>& output) {
  learner_->remember(frame);
  X_.col(pending_) = frame;
  Y_.col(pending_) = output;
  if (++pending_ < X_.cols()) return;
  pending_ = 0;
  while (learner_->adding()) work();  // never: a block takes fewer pieces than it has frames
  if (learner_->count() > 1024 && detector_.add(Y_)) {
    ++changes_;
    last_change_ = frames_;
    detector_.clear();
    if (options_.memory > 0) return begin_anew();
  }
  learner_->begin_add(X_);
  since_look_ += static_cast<double>(X_.cols());
}

// What was learned is put out until enough frames are there to replace it.
void StreamEngine::begin_anew() {
  learner_->clear();
  running_count_ = 0;
  next_look_ = 0;
  ordered_ = false;
  relearning_ = true;
  hold_ = 0;
  moved_ = 1;
}

// One piece of what there is to do.
void StreamEngine::work() {
  if (learner_->work()) adopt();
}

// What another separator has found is put out for as many frames as it was learned from, unless its outputs
// turn out to be correlated.
void StreamEngine::start(const Model& model, bool freeze) {
  if (network_ || frames_ > 0)
    throw std::invalid_argument("start: expected a new stream with learn = one-pass");
  if (model.channels() != n_ || model.components() > outputs_) {
    throw std::invalid_argument("start: expected a model of " + std::to_string(n_) +
                                " channels and at most " + std::to_string(outputs_) + " components, got " +
                                std::to_string(model.channels()) + " and " +
                                std::to_string(model.components()));
  }
  rank_ = model.components();
  U_.topRows(rank_) = model.unmixing;
  mixing_.leftCols(rank_) = model.mixing;
  mean_ = model.mean;
  ordered_ = relearning_ = true;
  frozen_ = freeze;
  hold_ = static_cast<double>(model.samples);
  if (options_.memory > 0) hold_ = std::min(hold_, options_.memory / 2);
}

// Is what was there before still to be put out?
bool StreamEngine::holds() {
  if (!relearning_) return false;
  if (learner_->count() < relearn()) return true;
  if (learner_->count() >= hold_) return false;
  learner_->correlate(U_, outputs_, overlap_);  // E[v y^T] of the old outputs v; y is white
  for (Index j = 0; j < outputs_; ++j) {
    for (Index i = 0; i < j; ++i) {
      const double lengths = overlap_.row(i).norm() * overlap_.row(j).norm();
      if (std::abs(overlap_.row(i).dot(overlap_.row(j))) > 0.3 * lengths) return false;
    }
  }
  return true;
}

// The outputs found, each in the place and with the sign of the one it continues.
void StreamEngine::adopt() {
  if (!learner_->finite()) return begin_anew();
  const Index r = learner_->rank();
  if (r == 0 || holds()) return;
  relearning_ = false;
  learner_->correlate(U_, outputs_, overlap_);
  assign(r);
  U_.setZero();
  mixing_.setZero();
  for (Index k = 0; k < r; ++k) {
    const Index slot = slot_of_[static_cast<std::size_t>(k)];
    const double sign = overlap_(slot, k) < 0 ? -1 : 1;
    U_.row(slot) = sign * learner_->unmixing().row(k);
    mixing_.col(slot) = sign * learner_->mixing().col(k);
  }
  filtered_mean_ = learner_->mean();
  mean_ = filter_ ? running_mean_ : filtered_mean_;
  rank_ = r;
  look(r);
}

// slot_of_[row], greedily by the largest correlation left, unless all of them are where they were
void StreamEngine::assign(Index r) {
  const auto stays = [&](Index k) {
    const Index slot = slot_of_[static_cast<std::size_t>(k)];
    return slot >= 0 && std::abs(overlap_(slot, k)) > 0.9;
  };
  bool all = rank_ == r;
  for (Index k = 0; k < r && all; ++k) all = stays(k);
  if (all) return;
  std::fill(taken_.begin(), taken_.end(), 0);
  std::fill(slot_of_.begin(), slot_of_.end(), -1);
  for (Index round = 0; round < r; ++round) {
    double best = -1;
    Index row = 0;
    Index slot = 0;
    for (Index k = 0; k < r; ++k) {
      if (slot_of_[static_cast<std::size_t>(k)] >= 0) continue;
      for (Index s = 0; s < outputs_; ++s) {
        if (taken_[static_cast<std::size_t>(s)] != 0 || std::abs(overlap_(s, k)) <= best) continue;
        best = std::abs(overlap_(s, k));
        row = k;
        slot = s;
      }
    }
    slot_of_[static_cast<std::size_t>(row)] = slot;
    taken_[static_cast<std::size_t>(slot)] = 1;
  }
}

// Every time the frames have doubled (or one memory has passed): how far have the outputs turned since?
// Once they have come to rest, and only then, they are put in order of kurtosis, which stays.
void StreamEngine::look(Index r) {
  const bool due_look = options_.memory > 0 && next_look_ > options_.memory ? since_look_ >= options_.memory
                                                                            : learner_->count() >= next_look_;
  if (!due_look) return;
  since_look_ = 0;
  const bool first = next_look_ == 0;
  next_look_ = std::max(2 * learner_->count(), 10 * static_cast<double>(n_ * n_));
  if (!first) {
    learner_->correlate(then_, outputs_, overlap_);
    moved_ = 0;
    for (Index k = 0; k < r; ++k) {
      const double all = overlap_.col(k).squaredNorm();
      const double most = overlap_.col(k).cwiseAbs2().maxCoeff();
      moved_ = std::max(moved_, all > 0 ? 1 - most / all : 1);
    }
    if (!ordered_ && moved_ <= settled_share) {
      ordered_ = true;
      sort_by_kurtosis(r);
    }
  }
  then_ = U_;
}

// Outputs of unit variance: by their fourth powers.
void StreamEngine::sort_by_kurtosis(Index r) {
  for (Index k = 0; k < r; ++k) order_[static_cast<std::size_t>(k)] = k;
  std::sort(order_.begin(), order_.begin() + r, [&](Index a, Index b) {
    const double difference = learner_->fourth_power(a) - learner_->fourth_power(b);
    return difference != 0 ? difference > 0 : a < b;
  });
  rows_ = U_;
  U_.setZero();
  columns_ = mixing_;
  mixing_.setZero();
  for (Index slot = 0; slot < r; ++slot) {
    Index& was = slot_of_[static_cast<std::size_t>(order_[static_cast<std::size_t>(slot)])];
    U_.row(slot) = rows_.row(was);
    mixing_.col(slot) = columns_.col(was);
    was = slot;
  }
}

void StreamEngine::finish() {
  if (network_) return network_->refresh();
  if (frozen_) return;
  if (!gate_open_ && past_size_ > 0) open_gate();  // fewer frames than it wanted
  while (learner_->busy()) work();
  if (pending_ > 0) {
    learner_->begin_add(X_.leftCols(pending_));
    pending_ = 0;
  }
  learner_->finish();
  if (learner_->count() > 0) adopt();
}

void StreamEngine::copy_unmixing(Matrix<double>& U) const {
  if (network_) {
    U = unmixing();
  } else {
    U = U_.topRows(outputs_);
  }
}

Matrix<double> StreamEngine::unmixing() const {
  if (!network_) return U_.topRows(outputs_);
  Matrix<double> out = Matrix<double>::Zero(outputs_, n_);
  const Matrix<double> U = network_->unmixing();
  if (U.allFinite()) out.topRows(network_->rank()) = U;  // else none is in use
  return out;
}

}  // namespace demix
