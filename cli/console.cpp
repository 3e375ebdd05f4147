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

#include "demix/html_report.hpp"
#include "terminal.hpp"

namespace demix::cli {

void write_to_stderr(std::string_view text) {
  [[maybe_unused]] const std::size_t put = std::fwrite(text.data(), 1, text.size(), stderr);
}

void message_line(std::string_view line) { write_to_stderr(terminal_text(line) + "\n"); }

std::string as_typed(std::string text) {
  for (std::string option :
       {"bad", "channels", "method", "orientation", "passes", "rate", "time_column", "variable", "whiten"}) {
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

void print_diagnosis(const Model& model) {
  if (model.components() > 1) message("crosstalk to expect: {}", report::crosstalk_text(model.diagnosis));
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
