#include "demix/component_faces.hpp"

#include <Eigen/Dense>
#include <unsupported/Eigen/FFT>

#include <algorithm>
#include <cmath>
#include <complex>
#include <deque>
#include <numbers>
#include <numeric>
#include <stdexcept>

/// Spectra by Welch's method: of segments of about 2 s under Hann's window,
///   S_ab(f) = mean over segments of A(f) conj(B(f)),
/// and from these the correlation of a component with a reference over lags, in a band:
///   r(lag) = Re sum_f S_ab(f) e^(2 pi i f lag) / sqrt(sum_f S_aa sum_f S_bb)
namespace demix::eeg {
namespace {

using Complex = std::complex<double>;
constexpr std::int64_t most_segments = 1200;
constexpr double peak_bin = 0.05;  // seconds
constexpr Index image_rows = 80, image_columns = 120;
constexpr double longest_lag = 0.2;  // seconds

struct Band {
  double from, to;  // Hz
};
Band band_of(Reference::Kind kind) { return kind == Reference::Kind::eog ? Band{1, 10} : Band{5, 20}; }

class Spectra {
 public:
  Spectra(Index signals, Index references, Index length, std::int64_t hop)
      : length_(length), hop_(hop), bins_(length / 2 + 1), references_(references), window_(length) {
    for (Index t = 0; t < length; ++t) {
      const double turn = 2 * std::numbers::pi * static_cast<double>(t) / static_cast<double>(length);
      window_(t) = 0.5 - 0.5 * std::cos(turn);
    }
    power_.setZero(bins_, signals);
    cross_.assign(static_cast<std::size_t>(references), Eigen::MatrixXcd::Zero(bins_, signals));
    fft_.SetFlag(Eigen::FFT<double>::HalfSpectrum);
  }

  void add(const Frames<double>& block, std::int64_t first) {
    const std::int64_t end = first + block.cols();
    for (; next_ < end; next_ += hop_) open_.push_back({next_, Matrix<double>(block.rows(), length_)});
    for (Segment& s : open_) {
      const std::int64_t from = std::max(first, s.first);
      const std::int64_t to = std::min<std::int64_t>(end, s.first + length_);
      if (to > from) s.x.middleCols(from - s.first, to - from) = block.middleCols(from - first, to - from);
    }
    while (!open_.empty() && open_.front().first + length_ <= end) {
      transform(open_.front().x);
      open_.pop_front();
    }
  }

  Index bins() const { return bins_; }
  std::int64_t segments() const { return segments_; }
  const Matrix<double>& power() const { return power_; }
  const Eigen::MatrixXcd& cross(std::size_t reference) const { return cross_[reference]; }
  double window_power() const { return window_.squaredNorm(); }

 private:
  struct Segment {
    std::int64_t first;
    Matrix<double> x;
  };

  void transform(const Matrix<double>& x) {
    if (!x.allFinite()) return;
    Eigen::MatrixXcd all(bins_, x.rows());
    Eigen::VectorXcd one(bins_);
    for (Index i = 0; i < x.rows(); ++i) {
      const Vector<double> windowed =
          (x.row(i).transpose().array() - x.row(i).mean()).matrix().cwiseProduct(window_);
      fft_.fwd(one, windowed);
      all.col(i) = one.head(bins_);
    }
    power_ += all.cwiseAbs2();
    for (Index r = 0; r < references_; ++r) {
      const auto reference = all.col(all.cols() - references_ + r).conjugate();
      cross_[static_cast<std::size_t>(r)] += reference.asDiagonal() * all;
    }
    ++segments_;
  }

  Index length_;
  std::int64_t hop_;
  Index bins_, references_;
  Vector<double> window_;
  Eigen::FFT<double> fft_;
  std::deque<Segment> open_;
  std::int64_t next_ = 0, segments_ = 0;
  Matrix<double> power_;
  std::vector<Eigen::MatrixXcd> cross_;
};

// Sums of powers, and the largest size in every twentieth of a second.
class Activity {
 public:
  Activity(Index components, double rate)
      : bin_(std::max<std::int64_t>(1, std::llround(peak_bin * rate))),
        sums_(components, 4),
        peaks_(static_cast<std::size_t>(components)) {
    sums_.setZero();
  }

  void add(const Frames<double>& y, std::int64_t first) {
    for (Index t = 0; t < y.cols(); ++t) {
      const auto bin = static_cast<std::size_t>((first + t) / bin_);
      const bool is_good = y.col(t).allFinite();
      count_ += is_good ? 1 : 0;
      for (Index k = 0; k < y.rows(); ++k) {
        std::vector<float>& peaks = peaks_[static_cast<std::size_t>(k)];
        if (peaks.size() <= bin) peaks.resize(bin + 1, 0);
        if (!is_good) continue;
        const double v = y(k, t);
        const double v2 = v * v;
        sums_(k, 0) += v;
        sums_(k, 1) += v2;
        sums_(k, 2) += v2 * v;
        sums_(k, 3) += v2 * v2;
        peaks[bin] = std::max(peaks[bin], static_cast<float>(std::abs(v)));
      }
    }
  }

  double variance(Index k) const { return moment(k, 1) - moment(k, 0) * moment(k, 0); }
  double kurtosis(Index k) const {
    const double m = moment(k, 0);
    const double fourth = moment(k, 3) - 4 * m * moment(k, 2) + 6 * m * m * moment(k, 1) - 3 * m * m * m * m;
    return variance(k) > 0 ? fourth / (variance(k) * variance(k)) : 3;
  }
  const std::vector<float>& peaks(Index k) const { return peaks_[static_cast<std::size_t>(k)]; }
  double bin_seconds(double rate) const { return static_cast<double>(bin_) / rate; }

 private:
  double moment(Index k, Index order) const {
    return sums_(k, order) / static_cast<double>(std::max<std::int64_t>(1, count_));
  }
  std::int64_t bin_, count_ = 0;
  Matrix<double> sums_;
  std::vector<std::vector<float>> peaks_;
};

class EventSums {
 public:
  EventSums(Index components, const std::vector<std::int64_t>& events, double rate)
      : events_(events),
        before_(std::llround(-EventImage::from * rate)),
        length_(std::llround((EventImage::to - EventImage::from) * rate)),
        rows_(std::min<Index>(image_rows, std::ssize(events))),
        columns_(std::min<Index>(image_columns, length_)) {
    if (events.empty()) return;
    sums_.assign(static_cast<std::size_t>(components), Matrix<double>::Zero(rows_, columns_));
    counts_.setZero(rows_, columns_);
  }

  void add(const Frames<double>& y, std::int64_t first) {
    const std::int64_t end = first + y.cols();
    while (begin_ < events_.size() && events_[begin_] - before_ + length_ <= first) ++begin_;
    for (std::size_t e = begin_; e < events_.size() && events_[e] - before_ < end; ++e) {
      const std::int64_t start = events_[e] - before_;
      const Index row = static_cast<Index>(e) * rows_ / std::ssize(events_);
      for (std::int64_t t = std::max(first, start); t < std::min(end, start + length_); ++t) {
        const auto frame = y.col(t - first);
        if (!frame.allFinite()) continue;
        const Index column = (t - start) * columns_ / length_;
        counts_(row, column) += 1;
        for (Index k = 0; k < y.rows(); ++k) sums_[static_cast<std::size_t>(k)](row, column) += frame(k);
      }
    }
  }

  EventImage image(Index k) const {
    EventImage out;
    if (sums_.empty()) return out;
    const Matrix<double>& sums = sums_[static_cast<std::size_t>(k)];
    out.values = (sums.array() / counts_.array()).cast<float>();
    const Vector<double> average =
        (sums.colwise().sum().array() / counts_.colwise().sum().array()).transpose();
    out.average.assign(average.begin(), average.end());
    out.trials = std::ssize(events_);
    return out;
  }

 private:
  const std::vector<std::int64_t>& events_;
  std::int64_t before_, length_;
  Index rows_, columns_;
  std::size_t begin_ = 0;
  std::vector<Matrix<double>> sums_;
  Matrix<double> counts_;
};

Correlation strongest(const Eigen::VectorXcd& cross, const Vector<double>& a, const Vector<double>& b,
                      const Band& band, double step, double rate) {
  const auto from = static_cast<Index>(std::ceil(band.from / step));
  const Index to = std::min<Index>(a.size() - 1, static_cast<Index>(band.to / step));
  if (to < from) return {};
  const Index bins = to - from + 1;
  const double scale = std::sqrt(a.segment(from, bins).sum() * b.segment(from, bins).sum());
  Correlation best;
  if (!(scale > 0)) return best;
  const auto most = static_cast<Index>(longest_lag * rate);
  for (Index lag = -most; lag <= most; ++lag) {
    const double seconds = static_cast<double>(lag) / rate;
    double sum = 0;
    for (Index f = from; f <= to; ++f) {
      const double angle = -2 * std::numbers::pi * static_cast<double>(f) * step * seconds;
      sum += cross(f).real() * std::cos(angle) - cross(f).imag() * std::sin(angle);
    }
    if (std::abs(sum / scale) > std::abs(best.r)) best = {sum / scale, seconds};
  }
  return best;
}

// Peaks are the largest in their neighbourhood of 0.35 s and above half of what the largest reach.
struct Peaks {
  double per_minute = 0, beats = 0;
};
Peaks peaks_of(const std::vector<float>& bins, double seconds, double deviation) {
  Peaks out;
  if (bins.size() < 100 || !(deviation > 0)) return out;
  std::vector<float> sorted = bins;
  const auto high = sorted.begin() + static_cast<std::ptrdiff_t>(0.97 * static_cast<double>(bins.size()));
  std::nth_element(sorted.begin(), high, sorted.end());
  const double least = std::max(2.5 * deviation, 0.6 * static_cast<double>(*high));
  const auto reach = static_cast<std::ptrdiff_t>(0.35 / seconds);
  std::vector<double> at;
  for (std::ptrdiff_t i = 0; i < std::ssize(bins); ++i) {
    const float v = bins[static_cast<std::size_t>(i)];
    if (v < least) continue;
    const auto from = bins.begin() + std::max<std::ptrdiff_t>(0, i - reach);
    const auto to = bins.begin() + std::min<std::ptrdiff_t>(std::ssize(bins), i + reach + 1);
    if (std::max_element(from, to) - bins.begin() == i) at.push_back(static_cast<double>(i) * seconds);
  }
  const double minutes = static_cast<double>(bins.size()) * seconds / 60;
  out.per_minute = static_cast<double>(at.size()) / minutes;
  if (out.per_minute < 35 || out.per_minute > 150) return out;
  std::vector<double> gaps;
  for (std::size_t i = 1; i < at.size(); ++i) gaps.push_back(at[i] - at[i - 1]);
  const auto middle = gaps.begin() + std::ssize(gaps) / 2;
  std::nth_element(gaps.begin(), middle, gaps.end());
  const double median = *middle;
  const auto even =
      std::ranges::count_if(gaps, [&](double g) { return std::abs(g - median) < 0.2 * median; });
  if (static_cast<double>(even) >= 0.7 * static_cast<double>(gaps.size())) out.beats = 60 / median;
  return out;
}

Matrix<double> rows_of(const Frames<double>& X, const std::vector<Index>& rows) {
  Matrix<double> out(std::ssize(rows), X.cols());
  for (Index i = 0; i < out.rows(); ++i) out.row(i) = X.row(rows[static_cast<std::size_t>(i)]);
  return out;
}

std::vector<Index> model_channels(const Model& model, const Recording& recording,
                                  const RecordingFacts& facts) {
  std::vector<Index> channels = facts.channels;
  if (channels.empty()) {
    channels.resize(static_cast<std::size_t>(recording.channels()));
    std::iota(channels.begin(), channels.end(), Index{0});
  }
  if (std::ssize(channels) != model.channels()) {
    throw std::invalid_argument("channels: expected the " + std::to_string(model.channels()) +
                                " of the model, got " + std::to_string(channels.size()));
  }
  return channels;
}

}  // namespace

Faces faces_of(const Model& model, const Recording& recording, const RecordingFacts& facts) {
  if (!(facts.rate > 0)) throw std::invalid_argument("rate: expected more than 0");
  const std::vector<Index> channels = model_channels(model, recording, facts);
  std::vector<Index> beside;
  for (const Reference& r : facts.references) beside.push_back(r.channel);
  const Index k = model.components();
  const Index references = std::ssize(beside);
  const MappedRecording both(recording, k + references, [&](const Frames<double>& X) {
    Matrix<double> out(k + references, X.cols());
    out.topRows(k) = model.apply(Frames<double>(rows_of(X, channels)));
    out.bottomRows(references) = rows_of(X, beside);
    return out;
  });

  Index length = 4;
  while (static_cast<double>(length) < 2 * facts.rate) length *= 2;
  while (recording.frames() > 0 && length > 4 && length > recording.frames()) length /= 2;
  const std::int64_t hop = std::max<std::int64_t>(length / 2, recording.frames() / most_segments);
  Spectra spectra(k + references, references, length, hop);
  Activity activity(k, facts.rate);
  EventSums events(k, facts.events, facts.rate);
  std::int64_t first = 0;
  both.pass([&](const Frames<double>& block) {
    spectra.add(block, first);
    activity.add(block.topRows(k), first);
    events.add(block.topRows(k), first);
    first += block.cols();
  });

  Faces out;
  out.references = facts.references;
  const double step = facts.rate / static_cast<double>(length);
  for (Index f = 0; f < spectra.bins(); ++f) out.frequencies.push_back(static_cast<double>(f) * step);
  out.maps = model.mixing;
  const double density = 2 / (facts.rate * spectra.window_power() *
                              static_cast<double>(std::max<std::int64_t>(1, spectra.segments())));
  for (Index i = 0; i < k; ++i) {
    Face face;
    face.deviation = std::sqrt(std::max(0., activity.variance(i)));
    face.kurtosis = activity.kurtosis(i);
    out.maps.col(i) *= face.deviation;
    for (Index f = 0; f < spectra.bins(); ++f) face.spectrum.push_back(density * spectra.power()(f, i));
    for (Index r = 0; r < references; ++r) {
      const auto at = static_cast<std::size_t>(r);
      face.correlations.push_back(strongest(spectra.cross(at).col(i), spectra.power().col(i),
                                            spectra.power().col(k + r), band_of(facts.references[at].kind),
                                            step, facts.rate));
    }
    const Peaks peaks = peaks_of(activity.peaks(i), activity.bin_seconds(facts.rate), face.deviation);
    face.peaks = peaks.per_minute;
    face.beats = peaks.beats;
    face.events = events.image(i);
    out.faces.push_back(std::move(face));
  }
  const Vector<double> power = out.maps.colwise().squaredNorm().transpose();
  for (Index i = 0; i < k; ++i) {
    out.faces[static_cast<std::size_t>(i)].power = power.sum() > 0 ? power(i) / power.sum() : 0;
  }
  return out;
}

}  // namespace demix::eeg
