#include "console.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <set>

namespace demix::cli {

Progress::Progress(std::string what) : what_(std::move(what)), terminal_(::isatty(STDERR_FILENO) != 0) {}

Progress::~Progress() {
  if (drawn_) fmt::print(stderr, "\r\033[K");
}

void Progress::operator()(double share) {
  const auto now = Clock::now();
  if (!terminal_ || now - start_ < std::chrono::seconds(1) || now - last_ < std::chrono::milliseconds(100))
    return;
  last_ = now;
  drawn_ = true;
  constexpr int width = 30;
  const int full = static_cast<int>(share * width);
  const double seconds = std::chrono::duration<double>(now - start_).count();
  fmt::print(stderr, "\r{} [{:=<{}}{: <{}}] {:3.0f} %, {:.0f} s left ", what_, "", full, "", width - full,
             100 * share, share > 0 ? seconds / share - seconds : 0);
  std::fflush(stderr);
}

CLI::Validator positive() {
  return {[](std::string& word) {
            const double value = std::strtod(word.c_str(), nullptr);
            return std::isfinite(value) && value > 0 ? "" : "expected a positive number, got " + word;
          },
          "POSITIVE"};
}

void make_folder(const std::filesystem::path& folder) {
  if (folder.empty()) throw Failure("the output folder has no name");
  std::error_code error;
  if (std::filesystem::exists(folder, error) && !std::filesystem::is_directory(folder, error)) {
    throw Failure(fmt::format("{}: cannot make this folder; a file has that name", folder.string()));
  }
  std::filesystem::create_directories(folder, error);
  if (error || !std::filesystem::is_directory(folder)) {
    throw Failure(
        fmt::format("{}: cannot make this folder{}", folder.string(), error ? ": " + error.message() : ""));
  }
  if (::access(folder.c_str(), W_OK) != 0)
    throw Failure(fmt::format("{}: cannot write to this folder", folder.string()));
}

void print_warnings(const Model& model) {
  std::set<Index> close;
  std::size_t pairs = 0;
  for (const Warning& w : model.warnings) {
    if (w.kind == Warning::Kind::close_kurtosis) {
      close.insert(w.components.begin(), w.components.end());
      ++pairs;
    } else {
      fmt::print(stderr, "warning: {}\n", w.text);
    }
  }
  if (pairs == 0) return;
  std::string list;
  for (const Index k : close) list += fmt::format(" {}", k + 1);
  fmt::print(stderr,
             "warning: kurtoses too close for the {} frames given: components{} may still be mixed among "
             "themselves ({} pair{})\n",
             model.samples, list, pairs, pairs == 1 ? "" : "s");
}

}  // namespace demix::cli
