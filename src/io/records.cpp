#include "io/records.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>

#include "io/failure.hpp"

namespace demix::io {
namespace {

// The samples per record that most signals have; the most of them, if several are as frequent.
Index usual_samples(const std::vector<RecordSignal>& signals) {
  std::map<Index, int> count;
  for (const RecordSignal& s : signals) ++count[s.samples];
  Index usual = 0;
  for (const auto& [samples, times] : count) {
    if (usual == 0 || times >= count[usual]) usual = samples;
  }
  return usual;
}

std::string rate_text(double rate) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", rate);
  return text;
}

// Those of other rates, from the file itself.
class Others final : public OtherSignals {
 public:
  Others(Path path, const Records& layout, std::vector<RecordSignal> signals_of, Index frames_in_record)
      : path_(std::move(path)), layout_(layout), signals_(std::move(signals_of)) {
    for (const RecordSignal& s : signals_)
      signals.push_back({s.label, s.unit, s.least_text, s.most_text, s.low, s.high, s.samples});
    records = static_cast<Index>(layout_.count);
    frames = frames_in_record;
    seconds = layout_.seconds;
  }

  void read(Index record, std::vector<int>& digital) const override {
    std::ifstream in(path_, std::ios::binary);
    digital.clear();
    std::string bytes;
    Vector<double> values;
    for (const RecordSignal& s : signals_) {
      bytes.resize(static_cast<std::size_t>(s.samples) * s.type.bytes);
      in.seekg(static_cast<std::streamoff>(layout_.first +
                                           static_cast<std::uint64_t>(record) * layout_.bytes + s.offset));
      if (!in.read(bytes.data(), static_cast<std::streamsize>(bytes.size())))
        throw failure(path_, "cannot read, or it was changed meanwhile");
      values.resize(s.samples);
      s.type.decode(bytes.data(), s.samples, values.data());
      for (const double v : values) digital.push_back(static_cast<int>(v));
    }
  }

 private:
  Path path_;
  Records layout_;
  std::vector<RecordSignal> signals_;
};

class RecordsReader final : public SignalReader {
 public:
  RecordsReader(const Path& path, const Records& records, SignalInfo info)
      : path_(path), bytes_(path), records_(records), info_(std::move(info)) {
    choose_channels();
  }

  const SignalInfo& info() const override { return info_; }
  void rewind() override { frame_ = 0; }
  double resolution() const override { return resolution_; }

  Index read(Eigen::Ref<Matrix<double>> out) override {
    const Index count = std::min<Index>(out.cols(), info_.frames - frame_);
    for_each_record(frame_, count, [&](std::uint64_t record, Index within, Index at, Index some) {
      const char* bytes = held(record);
      for (Index c = 0; c < info_.channels; ++c) {
        decode(c, bytes + of(c).offset + static_cast<std::size_t>(within) * of(c).type.bytes,
               out.row(c).segment(at, some));
      }
    });
    frame_ += count;
    return count;
  }

  bool random_access() const override { return true; }
  void read_at(Index first, Eigen::Ref<Matrix<double>> out) const override {
    std::string bytes;
    for_each_record(first, out.cols(), [&](std::uint64_t record, Index within, Index at, Index some) {
      const std::uint64_t begin = records_.first + record * records_.bytes;
      const auto channels = static_cast<std::uint64_t>(info_.channels);
      constexpr std::uint64_t far = 4096;  // bytes read in the time that one more read takes
      const bool whole =
          records_.bytes <= channels * (static_cast<std::uint64_t>(some) * of(0).type.bytes + far);
      if (whole) fetch(begin, records_.bytes, bytes);
      for (Index c = 0; c < info_.channels; ++c) {
        const std::size_t before = static_cast<std::size_t>(within) * of(c).type.bytes;
        if (!whole)
          fetch(begin + of(c).offset + before, static_cast<std::size_t>(some) * of(c).type.bytes, bytes);
        decode(c, bytes.data() + (whole ? of(c).offset + before : 0), out.row(c).segment(at, some));
      }
    });
  }

 private:
  void choose_channels() {
    std::vector<RecordSignal> all = records_.signals;
    std::erase_if(all, [](const RecordSignal& s) { return s.annotations; });
    if (all.empty()) throw Error(path_.string() + ": holds annotations only, no signals");
    if (!(records_.seconds > 0)) {
      throw Error(path_.string() + ": its records last " + rate_text(records_.seconds) +
                  " seconds by its header, so that it has no rate; it is damaged");
    }
    samples_ = usual_samples(all);
    std::string others;
    std::vector<RecordSignal> beside;
    for (const RecordSignal& s : all) {
      if (s.samples == samples_) {
        channels_.push_back(s);
        info_.names.push_back(s.label);
        info_.units.push_back(s.unit);
        resolution_ = std::max(resolution_, s.type.resolution);
      } else {
        beside.push_back(s);
        others += (others.empty() ? "" : ", ") + s.label + " at " + rate_text(rate_of(s.samples));
      }
    }
    info_.channels = static_cast<Index>(channels_.size());
    info_.rate = rate_of(samples_);
    info_.frames = static_cast<Index>(records_.count) * samples_;
    if (!others.empty()) {
      // GDF says its limits otherwise.
      if (!beside[0].least_text.empty())
        info_.others = std::make_shared<const Others>(path_, records_, beside, samples_);
      info_.notes.push_back(path_.string() + ": left out what has another rate than " +
                            rate_text(info_.rate) + " per second, the rate of most channels: " + others +
                            "; resample it to use it");
    }
  }

  double rate_of(Index samples) const { return static_cast<double>(samples) / records_.seconds; }

  const RecordSignal& of(Index channel) const { return channels_[static_cast<std::size_t>(channel)]; }

  // use(record, frames of it before, frames before it, frames) for each record that holds some of them.
  template <typename Use>
  void for_each_record(Index first, Index count, const Use& use) const {
    for (Index done = 0; done < count;) {
      const Index within = (first + done) % samples_;
      const Index some = std::min(samples_ - within, count - done);
      use(static_cast<std::uint64_t>((first + done) / samples_), within, done, some);
      done += some;
    }
  }

  template <typename Row>
  void decode(Index channel, const char* from, Row&& out) const {
    const RecordSignal& s = of(channel);
    Eigen::RowVectorXd values(out.size());
    s.type.decode(from, values.size(), values.data());
    out.array() = s.least + (values.array() - s.least_digital) * s.scale;
  }

  void fetch(std::uint64_t at, std::size_t count, std::string& bytes) const {
    bytes.resize(count);
    bytes_.fetch(at, count, bytes.data());
  }

  const char* held(std::uint64_t record) {
    if (record < first_held_ || record >= first_held_ + held_) {
      constexpr std::uint64_t at_once = 1 << 20;
      const std::uint64_t count =
          std::min(std::max<std::uint64_t>(at_once / records_.bytes, 1), records_.count - record);
      held_ = 0;  // unless it goes well
      fetch(records_.first + record * records_.bytes, count * records_.bytes, buffer_);
      first_held_ = record;
      held_ = count;
    }
    return buffer_.data() + (record - first_held_) * records_.bytes;
  }

  Path path_;
  FileBytes bytes_;
  Records records_;
  SignalInfo info_;
  std::vector<RecordSignal> channels_;
  double resolution_ = 0;
  Index samples_ = 0;  // of a channel in a record
  Index frame_ = 0;
  std::uint64_t first_held_ = 0, held_ = 0;  // records in the buffer
  std::string buffer_;
};

void decode_int24(const char* from, Index count, double* to) {
  for (Index i = 0; i < count; ++i, from += 3) {
    const auto byte = [&](int k) { return static_cast<std::int32_t>(static_cast<unsigned char>(from[k])); };
    to[i] = byte(0) + byte(1) * 256 + static_cast<signed char>(from[2]) * 65536;
  }
}

}  // namespace

NumberType int24_type() { return {3, decode_int24, 0x1p-23, false}; }

Reader open_records(const Path& file, const Records& records, SignalInfo info) {
  return std::make_unique<RecordsReader>(file, records, std::move(info));
}

}  // namespace demix::io
