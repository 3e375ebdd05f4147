#include <fmt/format.h>

#include <cstdlib>
#include <map>
#include <memory>

#include "commands.hpp"
#include "console.hpp"
#include "demix/file_use.hpp"
#include "demix/io.hpp"
#include "demix/output_files.hpp"
#include "demix/paper.hpp"
#include "demix/report.hpp"

namespace demix::cli {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::vector<std::string> items;
  std::string folder = "paper";
  std::string expected;
  int threads = 0;
  bool quick = false;
  bool list = false;
  bool json = false;
};

std::vector<const paper::Item*> chosen(const std::vector<std::string>& names) {
  std::vector<const paper::Item*> items;
  for (const std::string& name : names) {
    try {
      items.push_back(&paper::item_named(name));
    } catch (const std::invalid_argument& e) {
      throw UsageError(e.what());
    }
  }
  if (items.empty()) {
    for (const paper::Item& item : paper::items()) items.push_back(&item);
  }
  return items;
}

void list_items() {
  for (const paper::Item& item : paper::items()) fmt::print("{:<15} {}\n", item.name, item.title);
}

std::vector<std::string> check(const Options& o, const std::vector<paper::Made>& made,
                               const std::string& expected) {
  if (o.expected.empty()) return {};
  try {
    return paper::check(made, o.quick, expected);
  } catch (const std::invalid_argument& e) {
    throw Failure(fmt::format("{}: {}", o.expected, e.what()));
  }
}

// What a run may write, as far as it is there now: the names of tables and pictures are known at the end.
std::vector<fs::path> possible_files(const fs::path& folder) {
  std::vector<fs::path> files{folder / "index.html", folder / "numbers.json"};
  std::error_code none;  // a folder that is not there has no files
  for (const auto& entry : fs::directory_iterator(folder, none)) {
    const fs::path kind = entry.path().extension();
    if (kind == ".csv" || kind == ".png" || kind == ".svg") files.push_back(entry.path());
  }
  return files;
}

void run(const Options& o) {
  if (o.list) return list_items();
  io::require_different_files({{o.expected}, possible_files(o.folder)});
  const std::vector<const paper::Item*> items = chosen(o.items);
  const std::string expected = o.expected.empty() ? "" : io::read_file(o.expected);
  check(o, {}, expected);  // what is wrong with the file is said before the work
  report::require_gnuplot();
  io::make_folder(o.folder);
  paper::Setting setting;
  setting.folder = o.folder;
  if (const char* data = std::getenv("DEMIX_DATA")) setting.data = data;
  setting.quick = o.quick;
  setting.threads = o.threads;

  std::vector<paper::Made> made;
  std::map<fs::path, std::string> files;
  for (const paper::Item* item : items) {
    {
      Progress bar(fmt::format("{} ({} of {})", item->name, made.size() + 1, items.size()));
      setting.progress = std::ref(bar);
      made.push_back(paper::make(*item, setting));
    }
    const paper::Result& r = made.back().result;
    for (const paper::Table& t : r.tables) files[setting.folder / (t.name + ".csv")] = paper::to_csv(t);
    if (o.json) continue;
    fmt::print("{}: {}\n", item->name, r.measured);
    if (!r.differs.empty()) fmt::print("{:>{}}  {}\n", "differs:", item->name.size() + 8, r.differs);
    std::fflush(stdout);
  }
  const std::string json = paper::to_json(made, o.quick);
  files[setting.folder / "numbers.json"] = json;
  files[setting.folder / "index.html"] = paper::to_html(made, o.quick, command_line());
  io::write_files({files.begin(), files.end()});
  if (o.json) {
    fmt::print("{}", json);
  } else {
    fmt::print("{}\n", (setting.folder / "index.html").string());
  }
  const std::vector<std::string> off = check(o, made, expected);
  for (const std::string& line : off) message("{}", line);
  if (!off.empty()) throw Failure(fmt::format("{} numbers are not as {} has them", off.size(), o.expected));
}

}  // namespace

void add_reproduce(Program& program) {
  Arguments sub =
      program.command("reproduce", "Reproduce the figures and tables of the paper, and compare them with it");
  auto o = std::make_shared<Options>();
  sub.option("items", o->items, "Items to make, see --list (default all)");
  sub.option("-o,--output", o->folder, "Folder for index.html, figures (SVG, PNG), CSV and numbers.json")
      .value("FOLDER")
      .named()
      .show_default();
  sub.flag("--quick", o->quick, "Fewer and shorter runs, without a verdict: about a minute in all");
  sub.flag("--list", o->list, "List the items");
  sub.option("--expect", o->expected, "File of expected numbers; exit with 1 if any differs").value("FILE");
  sub.option("--threads", o->threads,
             "Number of threads; the numbers do not depend on it (default one per core)")
      .range(1, 1024);
  sub.flag("--json", o->json, "Print the contents of numbers.json");
  sub.footer(
      "Speech and photographs are read from the folder $DEMIX_DATA (speech_tsp/MA02_04.wav, "
      "speech_tsp/FA01_03.wav, images_free/*_256x512.pgm). Where they are missing, generated signals are "
      "used, and labelled.");
  sub.run([o] { run(*o); });
}

}  // namespace demix::cli
