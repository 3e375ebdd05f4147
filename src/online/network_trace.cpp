#include "demix/network_trace.hpp"

#include <algorithm>

namespace demix {
namespace {

constexpr std::size_t fewest_rows = 4;
constexpr std::size_t most_rows = 2048;  // as many as a picture can show

std::size_t bytes_of(const NetworkMoment& m) {
  return sizeof(double) * static_cast<std::size_t>(m.W.size() + m.M.size() + m.c.size() + m.y.size() + 3);
}

}  // namespace

double share_of_ltp(const Vector<double>& lambda2, const Vector<double>& y, const Vector<double>& c,
                    double modulator) {
  const auto change = lambda2.array() * y.array() - modulator * c.array();
  return static_cast<double>((change * y.array() > 0).count()) / static_cast<double>(y.size());
}

void NetworkTrace::add(std::optional<double> ltp, const std::function<NetworkMoment()>& moment) {
  const std::int64_t frame = next_++;
  if (!ltp) return;
  if (noted_.empty()) start_ = frame;
  if ((frame - start_) % stride_ == 0) {
    NetworkMoment now = moment();
    if (!noted_.empty() && noted_[0].row.moment.y.size() != now.y.size()) {
      noted_.clear();
      stride_ = 1;
      start_ = frame;
    }
    most_rows_ = std::clamp(most_bytes_ / bytes_of(now), fewest_rows, most_rows) / 2 * 2;
    if (noted_.size() == most_rows_) thin_out();
    if ((frame - start_) % stride_ == 0) noted_.push_back({{frame, std::move(now), 0}, 0, 0});
  }
  noted_.back().sum += *ltp;
  ++noted_.back().frames;
}

void NetworkTrace::thin_out() {
  for (std::size_t k = 0; k < noted_.size() / 2; ++k) {
    Noted kept = std::move(noted_[2 * k]);
    kept.sum += noted_[2 * k + 1].sum;
    kept.frames += noted_[2 * k + 1].frames;
    noted_[k] = std::move(kept);
  }
  noted_.resize(noted_.size() / 2);
  stride_ *= 2;
}

std::vector<NetworkTrace::Row> NetworkTrace::rows() const {
  std::vector<Row> out;
  for (const Noted& n : noted_) {
    out.push_back(n.row);
    out.back().ltp = n.sum / static_cast<double>(n.frames);
  }
  return out;
}

}  // namespace demix
