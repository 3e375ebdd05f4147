#include "io/deflate.hpp"
#include "io/format_files.hpp"
#include "io/named_arrays.hpp"
#include "io/npy.hpp"
#include "io/orientation.hpp"
#include "io/output_file.hpp"
#include "io/zip.hpp"

/// NumPy's archives: a zip file of .npy files.
namespace demix::io {
namespace {

std::string array_name(const zip::Member& m) {
  return m.name.ends_with(".npy") ? m.name.substr(0, m.name.size() - 4) : m.name;
}

std::string message_name(const Path& file, const zip::Member& m) {
  return file.string() + ": array '" + printable(array_name(m)) + "'";
}

NumbersLayout array_layout(const zip::Member& m, Orientation asked, const std::string& name) {
  return npy_layout(zip::content(m, npy_start, name), m.size, asked, name);
}

NamedArray describe(const zip::Member& m, const Path& file) {
  NamedArray array{array_name(m), {}, false};
  try {
    const NumbersLayout layout = array_layout(m, Orientation::frames, message_name(file, m));
    array.shape = {layout.frames, static_cast<std::uint64_t>(layout.info.channels)};
    array.is_signals = true;
  } catch (const Error&) {  // text, or more dimensions: said if it is asked for
  }
  return array;
}

const zip::Member& choose(const std::vector<zip::Member>& members, const std::string& asked,
                          const Path& file) {
  std::vector<NamedArray> arrays;
  for (const zip::Member& m : members) arrays.push_back(describe(m, file));
  if (asked.empty() && members.size() == 1) return members[0];  // what is wrong with it is told
  return members[choose_array(arrays, asked, file)];
}

// In blocks; the header is written again with the number of frames, and all of it before the numbers with it.
class NpzWriter final : public SignalWriter {
 public:
  NpzWriter(const Path& file, Index channels) : channels_(channels), out_(file) {
    checksum("", out_.name());  // what is missing is said before anything is written
    put_start(0);
  }
  void write(const Frames<double>& block) override {
    const Matrix<double> dense = block;
    const std::string_view bytes(reinterpret_cast<const char*>(dense.data()),
                                 static_cast<std::size_t>(dense.size()) * sizeof(double));
    out_.put(bytes);
    sum_ = checksum(bytes, out_.name(), sum_);
    frames_ += static_cast<std::uint64_t>(block.cols());
  }
  void finish() override {
    const std::string header = npy_header(frames_, channels_);
    const std::uint64_t bytes = frames_ * static_cast<std::uint64_t>(channels_) * sizeof(double);
    const std::uint32_t sum = joined_checksum(checksum(header, out_.name()), sum_, bytes);
    out_.put(zip::after(member, header.size() + bytes, sum));
    out_.to_start();
    put_start(header.size() + bytes, sum);
    out_.close();
  }

 private:
  void put_start(std::uint64_t size, std::uint32_t sum = 0) {
    out_.put(zip::before(member, size, sum));
    out_.put(npy_header(frames_, channels_));
  }

  inline static const std::string member = "data.npy";
  Index channels_;
  OutputFile out_;
  std::uint64_t frames_ = 0;
  std::uint32_t sum_ = 0;  // of the numbers
};

}  // namespace

std::string to_npz(const std::vector<Array>& arrays) {
  std::vector<std::pair<std::string, std::string>> members;
  for (const Array& a : arrays) {
    std::string bytes = npy_header(a.shape);
    bytes.append(reinterpret_cast<const char*>(a.values.data()), a.values.size() * sizeof(double));
    members.emplace_back(a.name + ".npy", std::move(bytes));
  }
  return zip::archive(members);
}

Reader open_npz(const Path& file, const ReadOptions& options) {
  const auto bytes = std::make_shared<const FileBytes>(file);
  const std::vector<zip::Member> members = zip::members(bytes);
  const zip::Member& m = choose(members, options.variable, file);
  const std::string name = message_name(file, m);
  NumbersLayout layout = array_layout(m, options.orientation, name);
  layout.info.rate = options.rate;
  require_channels(static_cast<std::uint64_t>(layout.info.channels), name);
  if (m.method == 0) {
    layout.offset += m.packed.at;
    return open_numbers(bytes, std::move(layout));
  }
  return open_numbers(std::make_shared<const FileBytes>(file, zip::content(m, m.size, name)),
                      std::move(layout));
}

Writer create_npz(const Path& file, const SignalInfo& info, const Ranges&) {
  return std::make_unique<NpzWriter>(file, info.channels);
}

}  // namespace demix::io
