#pragma once

#include <fmt/format.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <nlohmann/json_fwd.hpp>

#include "demix/model.hpp"

/// Results go to stdout, messages to stderr.
namespace demix::cli {

/// As it is on stderr. What cannot be written is dropped: the work goes on, and its exit code is its own.
void write_to_stderr(std::string_view text);

/// A line on stderr, with control characters written out.
void message_line(std::string_view line);
template <typename... Values>
void message(fmt::format_string<Values...> format, Values&&... values) {
  message_line(fmt::format(format, std::forward<Values>(values)...));
}

/// The library names options as `rate` or `orientation = frames`; on a command line they are --rate and
/// --orientation frames.
std::string as_typed(std::string text);

/// Bytes that are not UTF-8, as file names may have, are replaced.
std::string json_text(const nlohmann::ordered_json& json);
/// Results for machines, on stdout, in ASCII: no control character of a name gets to a terminal.
void print_json(const nlohmann::ordered_json& json);

/// A line for people: on stdout, unless that is for machines.
void tell(bool json, std::string_view line);

/// Before any file is opened: a standard descriptor that was closed gets one that can neither be read nor
/// written, so that no file of ours is taken for it; and as many files may be open as the system allows.
void prepare_descriptors();

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

/// Warnings on stderr, pairs of components gathered into one line.
void print_warnings(const Model& model);

/// How far a separation can be trusted, on stderr: the crosstalk to expect, and the warnings.
void print_diagnosis(const Model& model);

}  // namespace demix::cli
