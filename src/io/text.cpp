#include <algorithm>
#include <cmath>
#include <limits>

#include "demix/signal_stream.hpp"
#include "io/channel_lines.hpp"
#include "io/format_files.hpp"
#include "io/text_table.hpp"

/// Text files: frames or channels in their lines, and perhaps the time in a column.
namespace demix::io {
namespace {

// Text whose columns may include the time.
class TextSignals final : public SignalReader {
 public:
  TextSignals(const Path& file, const ReadOptions& options)
      : text_(options.orientation == Orientation::channels ? nullptr
                                                           : open_text_table(file, options.delimiter)) {
    const bool is_table = text_ != nullptr;
    if (!is_table) text_ = open_channel_lines(file, options.delimiter, options.orientation);
    const bool is_channel_lines = !is_table && text_ != nullptr;
    if (text_ == nullptr) {
      ReadOptions asked;
      asked.delimiter = options.delimiter;
      text_ = std::make_unique<StreamReader>(file.string(), Encoding::csv, asked);
    }
    info_ = text_->info();
    info_.rate = options.rate;
    const std::string side = is_channel_lines ? "row" : "column";  // of one channel
    const Index columns = info_.channels;
    if (options.time_column.value_or(0) > columns) {
      throw Error(file.string() + ": has " + std::to_string(columns) + " " + side + "s, so " + side + " " +
                  std::to_string(*options.time_column) + " cannot be the time");
    }
    if (options.time_column.value_or(0) > 0 && columns == 1) {
      throw Error(file.string() + ": has one " + side + "; if it is the time, there are no signals in it");
    }
    const Index column = options.time_column.value_or(1) - 1;  // -1: there is none
    const double step = columns > 1 && column >= 0 ? time_step(column) : 0;
    if (options.time_column) {
      time_ = column;
    } else if (step > 0) {
      time_ = 0;
      info_.notes.push_back(
          file.string() + ": the first " + side +
          " counts up evenly and is taken as the time; give `time_column = 0` if it is a signal");
    }
    if (time_ < 0) return;
    // Whole numbers count frames, others seconds.
    if (step > 0 && step != 1 && info_.rate == 0 && std::isfinite(1 / step)) info_.rate = rounded(1 / step);
    info_.channels = columns - 1;
    if (!info_.names.empty()) info_.names.erase(info_.names.begin() + time_);
  }

  const SignalInfo& info() const override { return info_; }
  void rewind() override { text_->rewind(); }

  Index read(Eigen::Ref<Matrix<double>> out) override {
    if (time_ < 0) return text_->read(out);
    columns_.resize(info_.channels + 1, out.cols());
    const Index got = text_->read(columns_);
    out.topRows(time_) = columns_.topRows(time_);
    out.bottomRows(info_.channels - time_) = columns_.bottomRows(info_.channels - time_);
    return got;
  }

 private:
  // Of a column that counts up by even steps, within the digits it is written with; else 0.
  double time_step(Index column) {
    const Index enough = std::clamp<Index>((1 << 20) / info_.channels, 3, 4096);
    Matrix<double> start(info_.channels, enough);
    const Index frames = text_->read(start);
    text_->rewind();
    if (frames < 16) return 0;  // few rows may count up by chance, as a matrix's
    const Eigen::RowVectorXd t = start.row(column).head(frames);
    const double step = (t(frames - 1) - t(0)) / static_cast<double>(frames - 1);
    if (!(step > 0)) return 0;
    for (Index k = 1; k < frames; ++k) {
      if (!(std::abs(t(k) - t(0) - step * static_cast<double>(k)) < 0.5 * step && t(k) > t(k - 1))) return 0;
    }
    return step;
  }

  // 249.99999 was 250.
  static double rounded(double rate) {
    const double near = std::round(rate);
    return std::abs(rate - near) < 1e-3 * rate ? near : rate;
  }

  Reader text_;  // all columns
  SignalInfo info_;
  Index time_ = -1;  // the column
  Matrix<double> columns_;
};

}  // namespace

Reader open_text(const Path& file, const ReadOptions& options) {
  return std::make_unique<TextSignals>(file, options);
}

}  // namespace demix::io
