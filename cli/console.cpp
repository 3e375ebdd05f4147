#include "console.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <set>

#include <nlohmann/json.hpp>

#include "demix/temporary.hpp"
#include "terminal.hpp"

namespace demix::cli {

void write_to_stderr(std::string_view text) {
  [[maybe_unused]] const std::size_t put = std::fwrite(text.data(), 1, text.size(), stderr);
}

void message_line(std::string_view line) { write_to_stderr(terminal_text(line) + "\n"); }

std::string as_typed(std::string text) {
  for (std::string option : {"channels", "orientation", "passes", "rate", "time_column", "variable"}) {
    const std::string named = "`" + option;
    std::ranges::replace(option, '_', '-');
    for (std::size_t at = 0; (at = text.find(named, at)) != std::string::npos;) {
      const std::size_t end = text.find('`', at + 1);
      if (end == std::string::npos) break;
      std::string rest = text.substr(at + named.size(), end - at - named.size());
      if (rest.starts_with(" = ")) rest = " " + rest.substr(3);
      const std::string typed_as = "--" + option + rest;
      text.replace(at, end + 1 - at, typed_as);
      at += typed_as.size();
    }
  }
  return text;
}

std::string json_text(const nlohmann::ordered_json& json) {
  return json.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

void print_json(const nlohmann::ordered_json& json) {
  fmt::print("{}\n", json.dump(1, ' ', true, nlohmann::ordered_json::error_handler_t::replace));
}

void tell(bool json, std::string_view line) {
  if (json) return message("{}", line);
  fmt::print("{}\n", line);
}

void prepare_descriptors() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) >= 0) continue;
    [[maybe_unused]] const int same = ::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = files.rlim_max;  // a recording of many channels becomes as many files
  ::setrlimit(RLIMIT_NOFILE, &files);
}

Progress::Progress(std::string what) : what_(std::move(what)), terminal_(::isatty(STDERR_FILENO) != 0) {}

Progress::~Progress() {
  if (drawn_) write_to_stderr("\r\033[K");
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
  write_to_stderr(fmt::format("\r{} [{:=<{}}{: <{}}] {:3.0f} %, {:.0f} s left ", what_, "", full, "",
                              width - full, 100 * share, share > 0 ? seconds / share - seconds : 0));
}

namespace {

std::string typed;

// As a shell would take it for one word.
std::string quoted(const std::string& word) {
  const auto plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || std::strchr("-_./=,:+%@", c);
  };
  if (!word.empty() && std::ranges::all_of(word, plain)) return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

}  // namespace

void keep_command_line(int argc, const char* const* argv) {
  typed = "demix";
  for (int i = 1; i < argc; ++i) typed += " " + quoted(argv[i]);
}

const std::string& command_line() { return typed; }

void make_folder(const std::filesystem::path& folder) {
  if (folder.empty()) throw Failure("the output folder has no name");
  std::error_code error;
  if (std::filesystem::exists(folder, error) && !std::filesystem::is_directory(folder, error)) {
    throw Failure(fmt::format("{}: cannot make this folder; a file has that name", folder.string()));
  }
  try {
    make_folders(folder);
  } catch (const std::system_error& e) {
    throw Failure(fmt::format("{}: cannot make this folder: {}", folder.string(), e.code().message()));
  }
  if (::access(folder.c_str(), W_OK) != 0)
    throw Failure(fmt::format("{}: cannot write to this folder", folder.string()));
}

namespace {

// Warnings about pairs of components come in crowds: one line for all of a kind.
struct Pairs {
  std::set<Index> components;
  std::size_t count = 0;

  void add(const Warning& w) {
    components.insert(w.components.begin(), w.components.end());
    ++count;
  }
  std::string text() const {
    std::string list;
    for (const Index k : components) list += fmt::format(" {}", k + 1);
    return fmt::format("components{} ({} pair{})", list, count, count == 1 ? "" : "s");
  }
};

}  // namespace

std::string crosstalk_text(const Diagnosis& diagnosis) {
  if (!diagnosis.crosstalk)
    return fmt::format("crosstalk to expect: cannot tell, {}", diagnosis.no_crosstalk);
  const auto decibels = [](double power) { return 10 * std::log10(power); };
  return fmt::format("crosstalk to expect: about {:.0f} dB, below {:.0f} dB in 19 of 20 recordings",
                     decibels(diagnosis.crosstalk->expected), decibels(diagnosis.crosstalk->bound));
}

void print_diagnosis(const Model& model) {
  if (model.components() > 1) message("{}", crosstalk_text(model.diagnosis));
  print_warnings(model);
}

void print_warnings(const Model& model) {
  Pairs mixed;
  for (const Warning& w : model.warnings) {
    if (w.kind == Warning::Kind::not_converged && w.components.size() == 2) {
      mixed.add(w);
      if (mixed.count == 1) message("warning: {}", w.text);
    } else {
      message("warning: {}", w.text);
    }
  }
  if (mixed.count > 1) message("warning: the same holds for others: {}", mixed.text());
}

}  // namespace demix::cli
