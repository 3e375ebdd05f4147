#include "files/before_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "files/bad_stretches.hpp"
#include "files/chosen_channels.hpp"

namespace demix {
namespace {

constexpr Index kept_values = Index{1} << 24;  // 128 MiB

// Throws where a filter would spread what is no number over all that follows.
Vector<double> mean_of(const Recording& recording, const io::SignalInfo& info, const std::string& file) {
  Vector<double> sum = Vector<double>::Zero(recording.channels());
  Index frames = 0;
  recording.pass([&](const Frames<double>& block) {
    if (!block.allFinite()) {
      for (Index t = 0; t < block.cols(); ++t) {
        for (Index i = 0; i < block.rows(); ++i) {
          if (std::isfinite(block(i, t))) continue;
          throw io::Error(fmt::format("{}: {} is no number at frame {}; it cannot be filtered: repair it",
                                      file, channel_name(info, i), frames + t + 1));
        }
      }
    }
    sum += block.rowwise().sum();
    frames += block.cols();
  });
  return sum / static_cast<double>(std::max<Index>(frames, 1));
}

}  // namespace

std::vector<Index> boundaries_of(const io::SignalInfo& info) {
  std::vector<Index> boundaries;
  for (const io::Annotation& a : info.annotations) {
    std::string text = a.text;
    for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    const bool is_boundary = text.find("boundary") != std::string::npos || text.starts_with("new segment");
    const double frame = a.onset * info.rate;
    if (is_boundary && frame >= 1 && frame < 1e15) boundaries.push_back(std::lround(frame));
  }
  return boundaries;
}

BeforeFit::BeforeFit(const io::FileRecording& mixtures, const FitOptions& options)
    : mixtures_(mixtures), options_(options), last_(&mixtures) {
  const io::SignalInfo& info = mixtures.info();
  picks_ = chosen_channels(info, io::format_of(mixtures.paths()[0]).kind, options.pick, options.exclude);
  if (const std::string text = left_out(info, picks_); !text.empty() && options.note) {
    options.note(fmt::format("{}: {}", mixtures.name(), text));
  }
  if (static_cast<Index>(picks_.size()) < info.channels) leave_out(picks_);
  filter();
  if (options.find_bad || options.find_bad_channels) look_for_bad();
  if (options.average_reference) {
    const auto less_mean = [](const Frames<double>& X) -> Matrix<double> {
      return X.rowwise() - X.colwise().mean();
    };
    stages_.push_back(std::make_unique<MappedRecording>(*last_, last_->channels(), less_mean));
    last_ = stages_.back().get();
    is_changed_ = true;
    keep_if_small();
  }
}

void BeforeFit::filter() {
  const io::SignalInfo& info = mixtures_.info();
  const FilterOptions& filters = options_.filters;
  Filter filter = design(filters, info.rate);
  if (filter.empty()) return;
  is_changed_ = true;
  mean_ = mean_of(*last_, info_of(info, picks_), mixtures_.name());
  stages_.push_back(std::make_unique<FilteredRecording>(*last_, std::move(filter), boundaries_of(info)));
  last_ = stages_.back().get();
  if (filters.decimate > 1) {
    stages_.push_back(std::make_unique<DecimatedRecording>(*last_, filters.decimate));
    last_ = stages_.back().get();
  }
  keep_if_small();
}

// What is small is filtered once and kept.
void BeforeFit::keep_if_small() {
  if (last_->frames() == 0 || last_->frames() > kept_values / last_->channels()) return;
  kept_.push_back(gather(*last_));
  stages_.push_back(std::make_unique<MatrixRecording<double>>(kept_.back()));
  last_ = stages_.back().get();
}

void BeforeFit::leave_out(const std::vector<Index>& kept) {
  stages_.push_back(std::make_unique<PickedRecording>(*last_, kept));
  last_ = stages_.back().get();
}

void BeforeFit::look_for_bad() {
  const io::SignalInfo& info = mixtures_.info();
  const Index n = options_.filters.decimate;
  const double rate = info.rate > 0 ? info.rate / static_cast<double>(n) : 256;
  const WindowStatistics windows = window_statistics(*last_, static_cast<Index>(std::lround(rate)));
  const auto note = [&](const std::string& text) {
    if (options_.note) options_.note(fmt::format("{}: {}", mixtures_.name(), text));
  };
  if (options_.find_bad) {
    double frames = 0;
    for (const Segment& s : bad_stretches(windows)) {
      bad_.push_back({s.first * n, s.end * n});
      frames += static_cast<double>((s.end - s.first) * n);
    }
    if (!bad_.empty()) {
      note(fmt::format("{} segment{} with extreme values, {:.1f} s in all, not learned from", bad_.size(),
                       bad_.size() == 1 ? "" : "s", frames / (info.rate > 0 ? info.rate : 1)));
    }
  }
  if (!options_.find_bad_channels) return;
  std::vector<Index> kept, picks;
  std::vector<BadChannel> bad = bad_channels(windows);
  for (Index i = 0; i < last_->channels(); ++i) {
    const auto found = std::ranges::find(bad, i, &BadChannel::channel);
    if (found == bad.end()) {
      kept.push_back(i);
      picks.push_back(picks_[static_cast<std::size_t>(i)]);
    } else {
      note(fmt::format("{} is not learned from: it is {}",
                       channel_name(info, picks_[static_cast<std::size_t>(i)]), found->why));
    }
  }
  if (bad.empty()) return;
  if (kept.empty()) throw std::invalid_argument("bad channels: none is left to learn from");
  leave_out(kept);
  picks_ = picks;
  if (mean_.size() > 0) mean_ = Vector<double>(mean_(kept));
}

void BeforeFit::describe(Model& model) const {
  const io::SignalInfo& info = mixtures_.info();
  const bool picked = static_cast<Index>(picks_.size()) < info.channels;
  if (picked || !info.names.empty()) {
    model.names.clear();
    for (const Index i : picks_)
      model.names.push_back(picked ? channel_name(info, i) : info.names[static_cast<std::size_t>(i)]);
  }
  if (mean_.size() > 0) {
    model.mean = mean_;
  } else if (is_changed_) {
    model.mean = mean_of(PickedRecording(mixtures_, picks_), info_of(info, picks_), mixtures_.name());
  }
  if (options_.average_reference) {
    // U R x for U x of what was referenced, R = I - 1 1'/n: mixing needs no change, as its columns have mean
    // zero.
    model.unmixing = (model.unmixing.colwise() - model.unmixing.rowwise().mean()).eval();
    model.mixing = (model.mixing.rowwise() - model.mixing.colwise().mean()).eval();
    model.options["reference"] = "average";
  }
  const FilterOptions& f = options_.filters;
  if (f.highpass > 0) model.options["highpass"] = fmt::format("{}", f.highpass);
  if (f.lowpass > 0) model.options["lowpass"] = fmt::format("{}", f.lowpass);
  if (!f.notches.empty()) model.options["notch"] = fmt::format("{}", fmt::join(f.notches, ","));
  if (f.decimate > 1) model.options["decimate"] = fmt::format("{}", f.decimate);
  if (!options_.pick.empty()) model.options["pick"] = fmt::format("{}", fmt::join(options_.pick, ","));
  if (!options_.exclude.empty())
    model.options["exclude"] = fmt::format("{}", fmt::join(options_.exclude, ","));
}

}  // namespace demix
