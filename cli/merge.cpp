#include "demix/merge_parts.hpp"

#include <algorithm>
#include <memory>

#include "commands.hpp"
#include "console.hpp"
#include "core/checksum.hpp"
#include "demix/file_use.hpp"
#include "method_options.hpp"

namespace demix::cli {
namespace {

struct Options {
  std::vector<std::string> files;
  std::string output;
  MethodChoice choice;
};

PartMoments load(const std::string& file) {
  try {
    return parse_part_moments(io::read_file(file));
  } catch (const std::invalid_argument& e) {
    throw Failure(fmt::format("{}: {}", file, e.what()));
  }
}

struct Part {
  std::uint64_t content = 0;
  std::string file;
};

// By what is in them: so the model does not depend on their names or their order.
std::vector<Part> in_order(const std::vector<std::string>& files) {
  std::vector<Part> parts;
  for (const std::string& file : files) parts.push_back({checksum(io::read_file(file)), file});
  std::ranges::stable_sort(parts, {}, &Part::content);
  for (std::size_t k = 1; k < parts.size(); ++k) {
    if (parts[k].content != parts[k - 1].content) continue;
    throw Failure(fmt::format("{}: holds the same sums as {}, which would count twice", parts[k].file,
                              parts[k - 1].file));
  }
  return parts;
}

void run(Options o) {
  io::require_different_files(io::FileUse{{o.files.begin(), o.files.end()}, {o.output}});
  const PartMoments first = load(o.files[0]);
  for (const std::string& file : o.files) {
    const PartMoments part = load(file);
    if (part.channels() != first.channels() || part.names != first.names) {
      throw Failure(fmt::format("{}: its channels are not those of {}", file, o.files[0]));
    }
    if (o.choice.method.empty() && part.method != first.method) {
      throw Failure(fmt::format("{}: is for {} where {} is for {}; choose by --method", file, part.method,
                                o.files[0], first.method));
    }
  }
  if (o.choice.method.empty()) o.choice.method = first.method;
  const std::vector<Part> parts = in_order(o.files);
  Outcome outcome = with_method(o.choice, [&](const FitOptions& options) {
    try {
      return merge_parts(method_named(options.method), options.options, [&](const auto& use) {
        for (const Part& part : parts) use(load(part.file));
      });
    } catch (const std::invalid_argument& e) {  // of the data, which it calls X
      const std::string_view what = e.what();
      if (!what.starts_with("X: ")) throw;
      const std::string more = o.files.size() == 1 ? "" : fmt::format(" and {} more", o.files.size() - 1);
      throw Failure(fmt::format("{}{}: {}", o.files[0], more, what.substr(3)));
    }
  });
  outcome.model.names = first.names;
  io::save_model(o.output, outcome.model);
  print_diagnosis(outcome.model);
  fmt::print("{}\n", o.output);
}

}  // namespace

void add_merge(Program& program) {
  Arguments sub = program.command("merge", "Make a model from the files that `demix moments` writes");
  auto o = std::make_shared<Options>();
  o->choice.method.clear();
  sub.option("sums", o->files, "Files of moments; their order does not matter").value("FILE.sums").required();
  sub.option("-o,--output", o->output, "Model file to write (JSON)").value("FILE").required();
  sub.option("-m,--method", o->choice.method, "Method (default: the one given to `demix moments`)")
      .value("NAME")
      .one_of({"fobi", "jade", "sm-ica-offline"});
  add_components(sub, o->choice);
  sub.option("--form", o->choice.options.form, "Variant of the method: jade (default) or k-jade")
      .value("NAME");
  sub.option("--seed", o->choice.options.seed, "Random seed (sm-ica-offline)").show_default();
  add_order(sub, o->choice, "");
  sub.footer(
      "The model equals that of the whole recording, up to rounding. The crosstalk to expect, echoes, "
      "glitches, drift and clipping are not checked: that needs the frames.");
  sub.run([o] { run(*o); });
}

}  // namespace demix::cli
