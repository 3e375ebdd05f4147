#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "demix/html_report.hpp"

namespace demix::report {
namespace {

using Channel = Summary::Channel;
using Bin = Summary::Bin;

// Frames are sampled at random: every k-th one would show a periodic signal wrongly. The number of a frame is
// its seed (splitmix64), so that the choice does not depend on the blocks.
std::uint64_t ticket_of(std::int64_t frame) {
  std::uint64_t z = (static_cast<std::uint64_t>(frame) + 1) * 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31U);
}

// Central moments with one more value (Pebay 2008).
void add_to_moments(Channel& c, double x) {
  const auto n = static_cast<double>(++c.count);
  const double step = x - c.mean;
  const double part = step / n;
  const double square = step * part * (n - 1);
  c.mean += part;
  c.sum4 += square * part * part * (n * n - 3 * n + 3) + 6 * part * part * c.sum2 - 4 * part * c.sum3;
  c.sum3 += square * part * (n - 2) - 3 * part * c.sum2;
  c.sum2 += square;
}

Bin joined(const Bin& a, const Bin& b) { return {std::min(a.least, b.least), std::max(a.most, b.most)}; }

}  // namespace

double Channel::deviation() const { return std::sqrt(sum2 / static_cast<double>(count)); }
double Channel::kurtosis() const { return static_cast<double>(count) * sum4 / (sum2 * sum2); }

void Summary::add(const Frames<double>& block) {
  if (block.rows() != channels()) {
    throw std::invalid_argument("block: expected " + std::to_string(channels()) + " rows, got " +
                                std::to_string(block.rows()));
  }
  for (Index t = 0; t < block.cols(); ++t, ++frames_) {
    const bool sampled = make_room();
    const auto bin = static_cast<std::size_t>(frames_ / bin_frames_);
    for (std::size_t i = 0; i < channels_.size(); ++i) {
      Channel& c = channels_[i];
      const double x = block(static_cast<Index>(i), t);
      c.envelope.resize(bin + 1);
      if (frames_ < excerpt_frames) c.excerpt.push_back(x);
      if (!next_excerpt_.empty() && frames_ < next_start_ + excerpt_frames) next_excerpt_[i].push_back(x);
      if (sampled) c.sample.push_back(x);
      if (!std::isfinite(x)) continue;
      c.envelope[bin] = joined(c.envelope[bin], {x, x});
      add_to_moments(c, x);
    }
  }
}

// For frame number frames_; says whether it is sampled.
bool Summary::make_room() {
  if (frames_ == static_cast<std::int64_t>(most_bins) * bin_frames_) widen_bins();
  if (frames_ == (next_excerpt_.empty() ? next_start_ : 2 * next_start_)) move_excerpt();
  if (tickets_.size() == most_samples) thin_sample();
  const std::uint64_t ticket = ticket_of(frames_);
  if (ticket >= limit_) return false;
  tickets_.push_back(ticket);
  return true;
}

void Summary::widen_bins() {
  bin_frames_ *= 2;
  for (Channel& c : channels_) {
    for (std::size_t b = 0; b < most_bins / 2; ++b) {
      c.envelope[b] = joined(c.envelope[2 * b], c.envelope[2 * b + 1]);
    }
    c.envelope.resize(most_bins / 2);
  }
}

// The next excerpt is recorded from each power of two on, and shown from the one after.
void Summary::move_excerpt() {
  if (!next_excerpt_.empty()) {
    for (std::size_t i = 0; i < channels_.size(); ++i) channels_[i].excerpt.swap(next_excerpt_[i]);
    excerpt_start_ = next_start_;
    next_start_ *= 2;
  }
  next_excerpt_.assign(channels_.size(), {});
}

void Summary::thin_sample() {
  limit_ /= 2;
  std::size_t kept = 0;
  for (std::size_t s = 0; s < tickets_.size(); ++s) {
    if (tickets_[s] >= limit_) continue;
    for (Channel& c : channels_) c.sample[kept] = c.sample[s];
    tickets_[kept++] = tickets_[s];
  }
  tickets_.resize(kept);
  for (Channel& c : channels_) c.sample.resize(kept);
}

}  // namespace demix::report
