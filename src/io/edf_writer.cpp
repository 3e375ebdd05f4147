#ifdef DEMIX_HAVE_EDFLIB
#include <edflib.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <utility>

#include "io/edf_fields.hpp"
#include "io/edf_lock.hpp"
#include "io/failure.hpp"
#include "io/format_files.hpp"

namespace demix::io {
namespace {

constexpr std::size_t annotation_bytes = 40;  // of text, in EDFlib
constexpr int most_annotation_signals = 64;
constexpr Index header_part = 256;  // bytes of the header, and of what each signal adds to it

// The physical limits of a channel as they stand in the header, and as they are read from it.
struct Limits {
  std::string least_text, most_text;
  double least = 0, most = 0;
};

Limits limits_of(const ValueRange& range, int levels, const std::string& who) {
  if (!std::isfinite(range.least) || !std::isfinite(range.most)) {
    throw Error(who + " holds values that are not finite, which EDF cannot; write .csv or .npy");
  }
  const bool constant = range.least == range.most;
  const double wider = range.least == 0 ? 1 : std::abs(range.least);
  Limits l;
  l.least_text = edf::limit_below(range.least);
  l.most_text = edf::limit_above(constant ? range.most + wider : range.most);
  const auto least = edf::number(l.least_text), most = edf::number(l.most_text);
  if (!least || !most || !std::isnormal(*most - *least)) {
    throw Error(who +
                " has values too large or too small for the 8 characters of an EDF header; scale them, "
                "or write .csv or .npy");
  }
  l.least = *least;
  l.most = *most;
  constexpr double fewest_levels = 1024;
  if (!constant && (range.most - range.least) / (l.most - l.least) * levels < fewest_levels) {
    throw Error(who +
                " changes too little beside its offset for the 8 characters of an EDF header; subtract "
                "its mean, or write .csv or .npy");
  }
  return l;
}

class EdfWriter final : public SignalWriter {
 public:
  EdfWriter(const Path& path, const SignalInfo& info, const Ranges& ranges, bool bdf)
      : path_(path), channels_(info.channels), width_(bdf ? 3 : 2) {
    if (const auto record = edf::record_with_others(info)) {
      record_ = *record;
      others_ = info.others;
      for (const OtherSignals::Signal& s : others_->signals) other_samples_ += s.samples;
    } else {
      choose_record(info);
    }
    labels_ = edf::labels(info);
    for (std::size_t c = 0; c < labels_.size(); ++c) {
      const ValueRange range = c < ranges.size() ? ranges[c] : ValueRange{};
      if (bdf && type_of_name(labels_[c]) == ChannelType::status && range.least >= least_digital() &&
          range.most <= most_digital()) {  // bits, read as they are
        limits_.push_back({std::to_string(least_digital()), std::to_string(most_digital()),
                           static_cast<double>(least_digital()), static_cast<double>(most_digital())});
        continue;
      }
      limits_.push_back(limits_of(range, most_digital() - least_digital(),
                                  path.string() + ": channel " + std::to_string(c + 1)));
    }
    choose_annotations(info);
    open(info);
    block_.resize(record_.frames, channels_);
    digital_.resize(static_cast<std::size_t>(record_.frames * channels_ + other_samples_));
  }
  ~EdfWriter() override {
    try {
      close();
    } catch (...) {
    }
  }

  void write(const Frames<double>& block) override {
    for (Index done = 0; done < block.cols();) {
      const Index count = std::min(block.cols() - done, record_.frames - filled_);
      block_.middleRows(filled_, count) = block.middleCols(done, count).transpose();
      filled_ += count;
      done += count;
      if (filled_ == record_.frames) put_record();
    }
  }

  void finish() override {
    if (filled_ > 0) {
      block_.bottomRows(record_.frames - filled_).rowwise() = block_.row(filled_ - 1).eval();
      put_record();
    }
    if (records_ == 0) throw Error(path_.string() + ": there are no frames to write");
    if (annotations_ > records_ * annotation_signals_) {
      throw Error(path_.string() + ": " + std::to_string(annotations_) + " annotations do not fit into " +
                  std::to_string(records_) + " records of EDF; write .csv or .npy");
    }
    close();
    put_limits();
    // EDFlib does not say whether the end was written.
    const Index header = header_part * (channels_ + other_count() + annotation_signals_ + 1);
    const auto size = static_cast<Index>(std::filesystem::file_size(path_));
    const Index record = (record_.frames * channels_ + other_samples_) * width_;
    if (size <= header + records_ * record || (size - header) % records_ != 0) {
      throw Error(path_.string() + ": cannot write its end; is the disk full?");
    }
  }

 private:
  int most_digital() const { return width_ == 2 ? 32767 : 8388607; }
  int least_digital() const { return -most_digital() - 1; }
  Index other_count() const { return others_ ? std::ssize(others_->signals) : 0; }
  // Where samples of 24 bits go into 16, they are scaled.
  bool is_wider(const OtherSignals::Signal& s) const {
    return s.least_digital < least_digital() || s.most_digital > most_digital();
  }

  void choose_record(const SignalInfo& info) {
    if (!(info.rate > 0)) {
      throw Error(path_.string() + ": EDF needs the number of frames per second; give `rate`");
    }
    if (channels_ >= EDFLIB_MAXSIGNALS) {
      throw Error(path_.string() + ": EDF holds at most " + std::to_string(EDFLIB_MAXSIGNALS - 1) +
                  " channels, not " + std::to_string(channels_) + "; write .csv or .npy");
    }
    constexpr Index record_bytes = 8 << 20;  // EDFlib: 10 MB, with the annotations
    const auto record = edf::choose_record(info.rate, info.frames, record_bytes / (channels_ * width_));
    if (!record) {
      throw Error(path_.string() + ": EDF cannot hold " + std::to_string(info.rate) +
                  " frames per second exactly; resample, or write .csv or .npy");
    }
    record_ = *record;
  }

  // Every record has room for one annotation in each signal of annotations.
  void choose_annotations(const SignalInfo& info) {
    double last = 0;
    for (const Annotation& a : info.annotations) {
      if (a.onset < 0) continue;
      ++annotations_;
      last = std::max(last, a.onset);
    }
    const Index records = info.frames > 0 ? info.frames / record_.frames
                                          : static_cast<Index>(std::min(1e8, last / record_.seconds()));
    const Index wanted = annotations_ / std::max<Index>(records, 1) + 1;
    annotation_signals_ =
        std::min({wanted, Index{most_annotation_signals}, EDFLIB_MAXSIGNALS - channels_ - other_count()});
  }

  void open(const SignalInfo& info) {
    const std::lock_guard hold(edflib_lock());
    const int type = width_ == 2 ? EDFLIB_FILETYPE_EDFPLUS : EDFLIB_FILETYPE_BDFPLUS;
    handle_ = edfopen_file_writeonly(path_.c_str(), type, static_cast<int>(channels_ + other_count()));
    if (handle_ == EDFLIB_MAXFILES_REACHED)
      throw Error(path_.string() + ": too many EDF files are open at once");
    if (handle_ < 0) throw failure(path_, "cannot write");
    for (int c = 0; c < static_cast<int>(channels_); ++c) {
      const auto i = static_cast<std::size_t>(c);
      edf_set_label(handle_, c, labels_[i].c_str());
      if (!info.units.empty()) {
        edf_set_physical_dimension(handle_, c, edf::ascii(info.units[i], 8).c_str());
      }
      edf_set_samplefrequency(handle_, c, static_cast<int>(record_.frames));
      edf_set_digital_minimum(handle_, c, least_digital());
      edf_set_digital_maximum(handle_, c, most_digital());
      edf_set_physical_minimum(handle_, c, -1);  // put_limits() puts in the real ones
      edf_set_physical_maximum(handle_, c, 1);
    }
    for (int c = 0; c < static_cast<int>(other_count()); ++c) {
      const OtherSignals::Signal& s = others_->signals[static_cast<std::size_t>(c)];
      const int signal = static_cast<int>(channels_) + c;
      edf_set_label(handle_, signal, edf::ascii(s.label, 16).c_str());
      edf_set_physical_dimension(handle_, signal, edf::ascii(s.unit, 8).c_str());
      edf_set_samplefrequency(handle_, signal, static_cast<int>(s.samples));
      edf_set_digital_minimum(handle_, signal, is_wider(s) ? least_digital() : s.least_digital);
      edf_set_digital_maximum(handle_, signal, is_wider(s) ? most_digital() : s.most_digital);
      edf_set_physical_minimum(handle_, signal, -1);
      edf_set_physical_maximum(handle_, signal, 1);
    }
    edf_set_datarecord_duration(handle_, record_.duration);
    edf_set_number_of_annotation_signals(handle_, static_cast<int>(annotation_signals_));
    edf_set_equipment(handle_, "demix");
    set_start(info.start);
    put_annotations(info.annotations);
  }

  // Without a start, the one that is usual for "unknown"; never the clock: the same input, the same bytes.
  void set_start(const std::string& start) {
    int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
    const int got =
        std::sscanf(start.c_str(), "%d-%d-%dT%d:%d:%d", &year, &month, &day, &hour, &minute, &second);
    if (got != 6 || edf_set_startdatetime(handle_, year, month, day, hour, minute, second) != 0) {
      edf_set_startdatetime(handle_, 1985, 1, 1, 0, 0, 0);
    }
  }

  void put_annotations(const std::vector<Annotation>& annotations) {
    const auto units = [](double seconds) { return std::llround(std::min(seconds, 1e9) * 1e4); };
    for (const Annotation& a : annotations) {
      if (a.onset < 0) continue;
      edfwrite_annotation_utf8(handle_, units(a.onset), a.duration < 0 ? -1 : units(a.duration),
                               edf::cut_utf8(a.text, annotation_bytes).c_str());
    }
  }

  // EDFlib would cut values off where they are to be rounded, so they are made whole here.
  void put_record() {
    for (Index c = 0; c < channels_; ++c) {
      const Limits& l = limits_[static_cast<std::size_t>(c)];
      const double levels = most_digital() - least_digital();
      for (Index k = 0; k < record_.frames; ++k) {
        const double level = std::round((block_(k, c) - l.least) / (l.most - l.least) * levels);
        if (!std::isfinite(level)) {
          throw Error(path_.string() + ": channel " + std::to_string(c + 1) +
                      " holds values that are not finite, which EDF cannot; write .csv or .npy");
        }
        digital_[static_cast<std::size_t>(c * record_.frames + k)] =
            least_digital() + static_cast<int>(std::clamp(level, 0.0, levels));
      }
    }
    put_others();
    constexpr Index most_records = 99999999;  // 8 characters
    if (records_ == most_records) throw Error(path_.string() + ": is too long for EDF; write .npy");
    if (edf_blockwrite_digital_samples(handle_, digital_.data()) != 0) throw failure(path_, "cannot write");
    ++records_;
    filled_ = 0;
  }

  void put_others() {
    if (!others_) return;
    others_->read(std::min(records_, others_->records - 1), other_values_);
    auto to = digital_.begin() + record_.frames * channels_;
    auto from = other_values_.begin();
    for (const OtherSignals::Signal& s : others_->signals) {
      const double step = (static_cast<double>(most_digital()) - least_digital()) /
                          (static_cast<double>(s.most_digital) - s.least_digital);
      for (Index k = 0; k < s.samples; ++k, ++from, ++to) {
        *to = !is_wider(s)
                  ? *from
                  : least_digital() + static_cast<int>(std::lround((*from - s.least_digital) * step));
      }
    }
  }

  void close() {
    if (handle_ < 0) return;
    const std::lock_guard hold(edflib_lock());
    if (edfclose_file(std::exchange(handle_, -1)) != 0) throw failure(path_, "cannot write");
  }

  // EDFlib writes limits with few digits and no exponent.
  void put_limits() {
    std::string least, most;
    for (const Limits& l : limits_) {
      least += l.least_text + std::string(8 - l.least_text.size(), ' ');
      most += l.most_text + std::string(8 - l.most_text.size(), ' ');
    }
    for (Index c = 0; c < other_count(); ++c) {
      const OtherSignals::Signal& s = others_->signals[static_cast<std::size_t>(c)];
      least += s.least + std::string(8 - s.least.size(), ' ');
      most += s.most + std::string(8 - s.most.size(), ' ');
    }
    const Index signals = channels_ + other_count() + annotation_signals_;
    std::fstream file(path_, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(header_part + 104 * signals);
    file << least;
    file.seekp(header_part + 112 * signals);
    file << most;
    file.close();
    if (!file) throw failure(path_, "cannot write");
  }

  Path path_;
  Index channels_, width_;  // width_: bytes of a sample
  int handle_ = -1;
  edf::Record record_;
  std::vector<std::string> labels_;
  std::vector<Limits> limits_;
  Index annotations_ = 0, annotation_signals_ = 1;
  Matrix<double> block_;  // frames x channels of the record being filled
  Index filled_ = 0, records_ = 0;
  std::vector<int> digital_;
  std::shared_ptr<const OtherSignals> others_;  // or empty
  Index other_samples_ = 0;                     // of all of them, in a record
  std::vector<int> other_values_;
};

}  // namespace

Writer create_edf(const Path& file, const SignalInfo& info, const Ranges& ranges) {
  return std::make_unique<EdfWriter>(file, info, ranges, false);
}
Writer create_bdf(const Path& file, const SignalInfo& info, const Ranges& ranges) {
  return std::make_unique<EdfWriter>(file, info, ranges, true);
}

}  // namespace demix::io
#else
#include "io/failure.hpp"
#include "io/format_files.hpp"

namespace demix::io {
namespace {

Error without(const Path& path) {
  return built_without("EDFlib", path.string(), "writing EDF and BDF files", ".csv or .npy");
}

}  // namespace

Writer create_edf(const Path& file, const SignalInfo&, const Ranges&) { throw without(file); }
Writer create_bdf(const Path& file, const SignalInfo&, const Ranges&) { throw without(file); }

}  // namespace demix::io
#endif
