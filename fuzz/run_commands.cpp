#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "arguments.hpp"
#include "cell_notebook.hpp"
#include "commands.hpp"
#include "demix/io.hpp"
#include "demix/paper.hpp"
#include "targets.hpp"

/// Commands of the program, called without a process: whatever they are given, they do their work or fail
/// with one line.
namespace demix::fuzz {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

// Results go nowhere.
class Silence {
 public:
  Silence() : stdout_(::dup(STDOUT_FILENO)) {
    std::fflush(stdout);
    const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    ::dup2(nowhere, STDOUT_FILENO);
    ::close(nowhere);
  }
  ~Silence() {
    std::fflush(stdout);
    ::dup2(stdout_, STDOUT_FILENO);
    ::close(stdout_);
  }
  Silence(const Silence&) = delete;
  Silence& operator=(const Silence&) = delete;

 private:
  int stdout_;
};

// In memory where that is possible, removed at the end.
class Folder {
 public:
  Folder() {
    std::string name =
        (fs::exists("/dev/shm") ? "/dev/shm" : fs::temp_directory_path().string()) + "/demix-XXXXXX";
    require(::mkdtemp(name.data()) != nullptr, "a folder can be made");
    path_ = name;
  }
  ~Folder() {
    std::error_code none;
    fs::remove_all(path_, none);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string file(const std::string& name, std::string_view bytes) const {
    const std::string path = path_ / name;
    io::write_file(path, bytes);
    return path;
  }
  std::string name(const std::string& of) const { return path_ / of; }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(path_), {}));
  }

 private:
  fs::path path_;
};

// An error may quote an argument or a file; main() shows what cannot be printed in another way.
std::string without_control_characters(std::string text) {
  std::ranges::replace_if(
      text, [](unsigned char c) { return c < ' ' || c == 0x7f; }, '?');
  return text;
}

// As main() does; how it failed, or nothing. `input`: what the words, and the files they name, were made of.
std::string call(const Words& words, bool work, std::string_view input) {
  const Silence silence;
  cli::Program program("demix", "", "0", "");
  cli::add_commands(program);
  std::vector<const char*> argv{"demix"};
  for (const std::string& w : words) argv.push_back(w.c_str());
  try {
    const std::function<void()> chosen = program.parse(static_cast<int>(argv.size()), argv.data());
    if (work && chosen) chosen();
  } catch (const Broken&) {
    throw;
  } catch (const std::exception& e) {
    check_message(without_control_characters(e.what()), input);
    return e.what();
  }
  return {};
}

unsigned take_byte(std::string_view& bytes) {
  const unsigned byte = bytes.empty() ? 0 : static_cast<unsigned char>(bytes[0]);
  bytes.remove_prefix(bytes.empty() ? 0 : 1);
  return byte;
}

// The file, and what one must say of it.
Words input(const Folder& folder, std::string_view& bytes) {
  static constexpr std::array extensions{"csv", "npy", "f64",  "f32", "wav", "npz", "mat", "set",
                                         "edf", "bdf", "flac", "png", "pgm", "tif", "jpg"};
  const unsigned choice = take_byte(bytes);
  const std::string extension = extensions[choice % extensions.size()];
  Words words{folder.file("x." + extension, bytes)};
  if (extension[0] == 'f' && extension[1] != 'l') words.insert(words.end(), {"--channels", "2"});
  if (choice / extensions.size() % 2 == 1) words.insert(words.end(), {"--colour", "planes"});
  return words;
}

}  // namespace

std::string parse_arguments(std::string_view bytes) {
  const std::string_view input = bytes;
  Words words;
  while (!bytes.empty()) {
    const std::size_t end = std::min(bytes.find('\n'), bytes.size());
    words.emplace_back(bytes.substr(0, end));
    bytes.remove_prefix(std::min(end + 1, bytes.size()));
  }
  return call(words, false, input);
}

std::string run_info(std::string_view bytes) {
  const Folder folder;
  Words words = input(folder, bytes);
  words.insert(words.begin(), "info");
  const std::string plain = call(words, true, bytes);
  words.emplace_back("--json");
  require(call(words, true, bytes) == plain, "info says the same as JSON");
  require(folder.files() == 1, "info leaves nothing behind");
  return plain;
}

std::string run_fit(std::string_view bytes) {
  static constexpr std::array methods{"auto", "fobi", "fastica", "picard", "jade"};
  const Folder folder;
  const unsigned choice = take_byte(bytes);
  Words words = input(folder, bytes);
  const std::string file = words[0];
  words.insert(words.begin(), "fit");
  words.insert(words.end(),
               {"-o", folder.name("m.json"), "-m", methods[choice % methods.size()], "--threads", "1"});
  const unsigned more = choice / methods.size();
  if ((more & 1U) != 0) words.insert(words.end(), {"--components", "1"});
  if ((more & 2U) != 0) words.insert(words.end(), {"--components", "0.9"});
  if ((more & 4U) != 0) words.insert(words.end(), {"--stability", "2"});
  if ((more & 8U) != 0) words.insert(words.end(), {"--order", "power"});
  const std::string refusal = call(words, true, bytes);
  require(folder.files() == (refusal.empty() ? 2U : 1U), "a model is written whole, or not at all");
  if (!refusal.empty()) return refusal;
  const Model model = io::load_model(folder.name("m.json"));
  require(model.unmixing.allFinite() && model.mixing.allFinite() && model.mean.allFinite(),
          "a model is finite");
  return {};
}

std::string parse_cells(std::string_view bytes) {
  const Folder folder;
  const std::string file = folder.file("cells.csv", cli::CellNotebook::head("a search") + std::string(bytes));
  const cli::CellNotebook notebook(file, "a search");
  const cli::CellNotebook again(file, "a search");
  require(notebook.cells.size() == again.cells.size(), "what was kept is kept again");
  TuneOptions options;
  options.etas = {1e-3};
  options.taus = {0.8};
  options.runs.seeds = 1;
  options.runs.samples = 64;
  options.runs.threads = 1;
  options.known = notebook.cells;
  const std::vector<Cell> cells = tune(scenario_problem(4), contender_named("sm-ica:published"), options);
  const Cell& winner = best(cells);
  require(
      winner.runs > 0 && winner.separated <= winner.runs && winner.diverged <= winner.runs && winner.mse >= 0,
      "a cell is one that can be measured");
  return notebook.cells.empty() ? "no cell" : "";
}

std::string check_expected(std::string_view bytes) {
  const paper::Item item{"figure", "", "", "", nullptr};
  paper::Result result;
  result.data = "recordings";
  result.numbers = {{"a", 1}, {"b", 1e-3}};
  std::string refusal;
  for (const bool quick : {false, true}) {
    try {
      for (const std::string& line : paper::check({{&item, result}}, quick, std::string(bytes)))
        check_message(without_control_characters(line), bytes);
    } catch (const std::invalid_argument& e) {
      check_message(without_control_characters(e.what()), bytes);
      refusal = e.what();
    }
  }
  return refusal;
}

}  // namespace demix::fuzz
