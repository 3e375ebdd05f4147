#include "io/hdf5_file.hpp"

#include <cmath>
#include <fstream>
#include <limits>

#include "io/failure.hpp"
#include "io/utf.hpp"

#ifdef DEMIX_HAVE_HDF5
#include <hdf5.h>

#include <mutex>
#endif

namespace demix::io {

bool is_hdf5(const Path& file) {
  char bytes[8] = {};
  std::ifstream in(file, std::ios::binary);
  for (const std::streamoff at : {0, 512}) {
    in.clear();
    in.seekg(at);
    if (in.read(bytes, 8) && std::string_view(bytes, 8) == "\x89HDF\r\n\x1a\n") return true;
  }
  return false;
}

#ifdef DEMIX_HAVE_HDF5
namespace hdf5 {
namespace {

constexpr std::uint64_t most_text = 1 << 16, most_items = 1 << 24;

std::mutex& library_lock() {  // the library is not safe with threads
  static std::mutex lock;
  return lock;
}
using Hold = std::lock_guard<std::mutex>;

// Closed by the function that is of its kind.
class Id {
 public:
  Id(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  ~Id() {
    if (id_ >= 0) close_(id_);
  }
  Id(const Id&) = delete;
  operator hid_t() const { return id_; }  // NOLINT(google-explicit-constructor)
  bool good() const { return id_ >= 0; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

bool is_there(hid_t file, const std::string& path) {
  for (std::size_t at = 0; at != std::string::npos;) {  // every group on the way
    at = path.find('/', at + 1);
    if (H5Lexists(file, path.substr(0, at).c_str(), H5P_DEFAULT) <= 0) return false;
  }
  return true;
}

std::vector<hsize_t> dims_of(hid_t dataset) {
  const Id space(H5Dget_space(dataset), H5Sclose);
  const int rank = space.good() ? H5Sget_simple_extent_ndims(space) : -1;
  if (rank < 0) return {};
  std::vector<hsize_t> dims(static_cast<std::size_t>(rank));
  if (rank > 0) H5Sget_simple_extent_dims(space, dims.data(), nullptr);
  return dims;
}

std::uint64_t count_of(hid_t dataset) {
  std::uint64_t count = 1;
  for (const hsize_t extent : dims_of(dataset)) {
    if (extent > 0 && count > most_items / extent) return std::numeric_limits<std::uint64_t>::max();
    count *= extent;
  }
  return count;
}

bool is_empty(hid_t dataset) { return H5Aexists(dataset, "MATLAB_empty") > 0; }

H5T_class_t class_of(hid_t dataset) {
  const Id type(H5Dget_type(dataset), H5Tclose);
  return type.good() ? H5Tget_class(type) : H5T_NO_CLASS;
}

bool is_text_here(hid_t dataset) {
  return H5Aexists(dataset, "MATLAB_int_decode") > 0 && class_of(dataset) == H5T_INTEGER && [&] {
    const Id type(H5Dget_type(dataset), H5Tclose);
    return H5Tget_size(type) == 2;
  }();
}

std::optional<double> number_here(hid_t dataset) {
  double value = 0;
  const H5T_class_t kind = class_of(dataset);
  if (is_empty(dataset) || count_of(dataset) != 1 || (kind != H5T_FLOAT && kind != H5T_INTEGER)) return {};
  if (H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, &value) < 0) return {};
  return value;
}

std::string text_here(hid_t dataset) {
  if (!is_text_here(dataset)) {
    const auto value = number_here(dataset);
    return value ? decimals(*value) : "";
  }
  const std::uint64_t count = count_of(dataset);
  if (is_empty(dataset) || count == 0 || count > most_text) return "";
  std::u16string units(count, u'\0');
  if (H5Dread(dataset, H5T_NATIVE_UINT16, H5S_ALL, H5S_ALL, H5P_DEFAULT, units.data()) < 0) return "";
  return to_utf8(units);
}

// visit(dataset) of what each item refers to; of the dataset itself where there is one item only.
template <typename Visit>
void each_item(hid_t file, const std::string& path, const Visit& visit) {
  const Id dataset(H5Dopen2(file, path.c_str(), H5P_DEFAULT), H5Dclose);
  if (!dataset.good()) return;
  if (class_of(dataset) != H5T_REFERENCE) return visit(static_cast<hid_t>(dataset));
  const std::uint64_t count = count_of(dataset);
  if (count > most_items) return;
  std::vector<hobj_ref_t> items(count);
  if (H5Dread(dataset, H5T_STD_REF_OBJ, H5S_ALL, H5S_ALL, H5P_DEFAULT, items.data()) < 0) return;
  for (const hobj_ref_t& item : items) {
    const Id object(H5Rdereference2(dataset, H5P_DEFAULT, H5R_OBJECT, &item), H5Oclose);
    visit(object.good() && H5Iget_type(object) == H5I_DATASET ? static_cast<hid_t>(object) : hid_t{-1});
  }
}

}  // namespace

File::File(const Path& path) : path_(path) {
  const Hold hold(library_lock());
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // it would print
  file_ = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  if (file_ < 0) throw Error(path.string() + ": is not read by HDF5; it is cut off or damaged");
}

File::~File() {
  const Hold hold(library_lock());
  if (file_ >= 0) H5Fclose(file_);
}

bool File::has(const std::string& path) const {
  const Hold hold(library_lock());
  return is_there(file_, path);
}

std::vector<std::string> File::names(const std::string& group) const {
  const Hold hold(library_lock());
  std::vector<std::string> found;
  const auto add = [](hid_t, const char* name, const H5L_info_t*, void* to) -> herr_t {
    static_cast<std::vector<std::string>*>(to)->emplace_back(name);
    return 0;
  };
  const Id here(H5Gopen2(file_, group.c_str(), H5P_DEFAULT), H5Gclose);
  if (here.good()) H5Literate(here, H5_INDEX_NAME, H5_ITER_INC, nullptr, add, &found);
  return found;
}

bool File::is_text(const std::string& path) const {
  const Hold hold(library_lock());
  const Id dataset(H5Dopen2(file_, path.c_str(), H5P_DEFAULT), H5Dclose);
  return dataset.good() && is_text_here(dataset);
}

bool File::is_numbers(const std::string& path) const {
  const Hold hold(library_lock());
  const Id dataset(H5Dopen2(file_, path.c_str(), H5P_DEFAULT), H5Dclose);
  if (!dataset.good() || is_empty(dataset) || is_text_here(dataset)) return false;
  const H5T_class_t kind = class_of(dataset);
  return kind == H5T_FLOAT || kind == H5T_INTEGER;
}

std::vector<std::uint64_t> File::shape(const std::string& path) const {
  const Hold hold(library_lock());
  const Id dataset(H5Dopen2(file_, path.c_str(), H5P_DEFAULT), H5Dclose);
  if (!dataset.good()) return {};
  const std::vector<hsize_t> dims = dims_of(dataset);
  return {dims.rbegin(), dims.rend()};
}

std::optional<double> File::number(const std::string& path) const {
  const Hold hold(library_lock());
  const Id dataset(H5Dopen2(file_, path.c_str(), H5P_DEFAULT), H5Dclose);
  return dataset.good() ? number_here(dataset) : std::nullopt;
}

std::string File::text(const std::string& path) const {
  const Hold hold(library_lock());
  const Id dataset(H5Dopen2(file_, path.c_str(), H5P_DEFAULT), H5Dclose);
  return dataset.good() ? text_here(dataset) : "";
}

std::vector<std::string> File::texts(const std::string& path) const {
  const Hold hold(library_lock());
  std::vector<std::string> out;
  each_item(file_, path, [&](hid_t item) { out.push_back(item < 0 ? "" : text_here(item)); });
  return out;
}

std::vector<double> File::numbers(const std::string& path) const {
  const Hold hold(library_lock());
  std::vector<double> out;
  each_item(file_, path,
            [&](hid_t item) { out.push_back(item < 0 ? NAN : number_here(item).value_or(NAN)); });
  return out;
}

// Stored as the transpose of what MATLAB says: (epochs,) frames, channels; or channels, frames.
class Hdf5Reader final : public SignalReader {
 public:
  Hdf5Reader(std::unique_ptr<File> file, const std::string& path, bool by_frames, SignalInfo info)
      : file_(std::move(file)), by_frames_(by_frames), info_(std::move(info)) {
    const Hold hold(library_lock());
    dataset_ = H5Dopen2(file_->file_, path.c_str(), H5P_DEFAULT);
    if (dataset_ < 0) throw Error(file_->path_.string() + ": its data cannot be opened; it is damaged");
    dims_ = dims_of(dataset_);
    const Id type(H5Dget_type(dataset_), H5Tclose);
    const bool narrow = H5Tget_class(type) == H5T_FLOAT && H5Tget_size(type) == 4;
    resolution_ = narrow ? std::numeric_limits<float>::epsilon() : std::numeric_limits<double>::epsilon();
  }
  ~Hdf5Reader() override {
    const Hold hold(library_lock());
    if (dataset_ >= 0) H5Dclose(dataset_);
  }

  const SignalInfo& info() const override { return info_; }
  void rewind() override { at_ = 0; }
  double resolution() const override { return resolution_; }

  Index read(Eigen::Ref<Matrix<double>> out) override {
    const Hold hold(library_lock());
    Index done = 0;
    while (done < out.cols() && at_ < info_.frames) {
      const Index within = dims_.size() == 3 ? at_ % static_cast<Index>(dims_[1]) : at_;
      const Index left = dims_.size() == 3 ? static_cast<Index>(dims_[1]) - within : info_.frames - at_;
      const Index now = std::min(out.cols() - done, left);
      read_part(within, now);
      out.middleCols(done, now) = part_;
      done += now;
      at_ += now;
    }
    return done;
  }

 private:
  void read_part(Index within, Index frames) {
    const auto n = static_cast<hsize_t>(info_.channels), t = static_cast<hsize_t>(frames);
    const auto from = static_cast<hsize_t>(within);
    std::vector<hsize_t> start, count;
    if (dims_.size() == 3) {
      start = {static_cast<hsize_t>(at_) / dims_[1], from, 0};
      count = {1, t, n};
    } else if (by_frames_) {
      start = {0, from};
      count = {n, t};
    } else {
      start = {from, 0};
      count = {t, n};
    }
    const Id space(H5Dget_space(dataset_), H5Sclose);
    const Id memory(H5Screate_simple(static_cast<int>(count.size()), count.data(), nullptr), H5Sclose);
    part_.resize(info_.channels, frames);
    Matrix<double> turned;
    double* to = part_.data();
    if (by_frames_) {
      turned.resize(frames, info_.channels);
      to = turned.data();
    }
    if (H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr) < 0 ||
        H5Dread(dataset_, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, to) < 0) {
      throw Error(file_->path_.string() + ": its data cannot be read; it is cut off or damaged");
    }
    if (by_frames_) part_ = turned.transpose();
  }

  std::unique_ptr<File> file_;
  bool by_frames_;
  SignalInfo info_;
  hid_t dataset_ = -1;
  std::vector<hsize_t> dims_;
  double resolution_ = 0;
  Index at_ = 0;
  Matrix<double> part_;
};

Reader File::open(std::unique_ptr<File> file, const std::string& path, bool by_frames, SignalInfo info) {
  return std::make_unique<Hdf5Reader>(std::move(file), path, by_frames, std::move(info));
}

}  // namespace hdf5
#endif

}  // namespace demix::io
