#pragma once

#include <chrono>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "demix/model.hpp"

/// Results go to stdout, words to stderr.
namespace demix::cli {

/// Something the user asked for that failed: one line on stderr, exit 1.
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A bar on stderr for work that takes longer than a second; nothing when stderr is not a terminal.
class Progress {
 public:
  explicit Progress(std::string what);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void operator()(double share);

 private:
  using Clock = std::chrono::steady_clock;
  std::string what_;
  bool terminal_;
  bool drawn_ = false;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_ = start_;
};

/// The command as it was typed, fit to be typed again.
void keep_command_line(int argc, const char* const* argv);
const std::string& command_line();

/// Makes the folder (and its parents); fails if something else has that name or it cannot be written to.
void make_folder(const std::filesystem::path& folder);

/// Warnings on stderr, pairs of components gathered into one line.
void print_warnings(const Model& model);

}  // namespace demix::cli
