#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "io/failure.hpp"

namespace demix::io {

/// A file written from start to end, whose start is written again when the lengths are known.
class OutputFile {
 public:
  explicit OutputFile(const std::filesystem::path& path)
      : name_(path.string()), out_(path, std::ios::binary) {}
  void put(std::string_view bytes) {
    out_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (!out_) throw failure(name_, "cannot write");
  }
  void to_start() { out_.seekp(0); }
  void close() {
    out_.close();
    if (!out_) throw failure(name_, "cannot write");
  }
  const std::string& name() const { return name_; }

 private:
  std::string name_;
  std::ofstream out_;
};

}  // namespace demix::io
