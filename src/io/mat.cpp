#include <cmath>

#include "io/format_files.hpp"
#include "io/hdf5_file.hpp"
#include "io/mat_file.hpp"
#include "io/mat_writing.hpp"
#include "io/named_arrays.hpp"
#include "io/orientation.hpp"
#include "io/output_file.hpp"

/// MATLAB's files: one matrix of signals, and its rate.
namespace demix::io {
namespace {

const mat::Array& choose(const mat::File& mat, const std::string& asked, const Path& file) {
  std::vector<NamedArray> arrays;
  for (const mat::Array& a : mat.variables()) {
    arrays.push_back({a.name, a.shape, a.is_real() && a.shape.size() == 2 && a.count() > 1});
  }
  return mat.variables()[choose_array(arrays, asked, file)];
}

double rate_in(const mat::File& mat) {
  for (const char* name : {"fs", "Fs", "srate", "rate"}) {
    const mat::Array* found = mat.find(name);
    if (found == nullptr || !found->is_real() || found->count() != 1) continue;
    const double rate = mat.number(mat.load(*found)).value_or(0);
    if (rate > 0 && std::isfinite(rate)) return rate;
  }
  return 0;
}

// A matrix in memory until its end: MATLAB writes channel after channel, so the first of them is not complete
// before. That is at most what an array may hold, 2 GiB.
class MatWriter final : public SignalWriter {
 public:
  MatWriter(const Path& file, const SignalInfo& info)
      : rate_(info.rate), channels_(static_cast<std::size_t>(info.channels)), out_(file) {}

  void write(const Frames<double>& block) override {
    frames_ += static_cast<std::uint64_t>(block.cols());
    if (frames_ > (mat::most_bytes - 1024) / 8 / channels_.size()) {
      throw Error(out_.name() + ": a MATLAB file of version 5 holds at most 2 GiB; write .npy");
    }
    for (Index i = 0; i < block.rows(); ++i) {
      std::vector<double>& channel = channels_[static_cast<std::size_t>(i)];
      for (Index t = 0; t < block.cols(); ++t) channel.push_back(block(i, t));
    }
  }

  void finish() override {
    const mat::Around around = mat::around_numbers(
        "data", mat::Class::real64, mat::type_double, static_cast<std::uint32_t>(frames_),
        static_cast<std::uint32_t>(channels_.size()), frames_ * channels_.size() * sizeof(double));
    out_.put(mat::file_head() + around.before);
    for (const std::vector<double>& channel : channels_) {
      out_.put({reinterpret_cast<const char*>(channel.data()), channel.size() * sizeof(double)});
    }
    out_.put(around.after);
    if (rate_ > 0) out_.put(mat::number_array("fs", rate_));
    out_.close();
  }

 private:
  double rate_;
  std::vector<std::vector<double>> channels_;
  std::uint64_t frames_ = 0;
  OutputFile out_;
};

}  // namespace

Reader open_mat(const Path& file, const ReadOptions& options) {
  if (is_hdf5(file)) return open_mat_hdf5(file, options);
  const mat::File mat(file);
  const mat::Array& variable = choose(mat, options.variable, file);
  const std::string quoted = "'" + printable(variable.name) + "'";
  if (variable.is_real() && (variable.shape.size() != 2 || variable.count() == 0)) {
    throw Error(file.string() + ": " + quoted + " is " + size_text(variable.shape) +
                "; expected a matrix (samples, channels)");
  }
  NumbersLayout layout;
  layout.info.rate = rate_in(mat);
  if (layout.info.rate == 0) layout.info.rate = options.rate;
  set_shape(layout, variable.shape[0], variable.shape[1], true, options.orientation,
            file.string() + ": " + quoted);
  require_channels(static_cast<std::uint64_t>(layout.info.channels), file.string() + ": " + quoted);
  return mat.open(mat.load(variable), std::move(layout));
}

Writer create_mat(const Path& file, const SignalInfo& info, const Ranges&) {
  return std::make_unique<MatWriter>(file, info);
}

}  // namespace demix::io
