#include <iostream>
#include <nlohmann/json.hpp>

#include "demix/signal_files.hpp"

// convert_signals IN OUT [VARIABLE [RATE]]: a file of signals as another kind, colours apart, and what it
// says as JSON.
namespace {

using demix::Index;
using demix::Matrix;
using namespace demix::io;

std::vector<Range> ranges_of(SignalReader& reader, Matrix<double>& block) {
  std::vector<Range> ranges(static_cast<std::size_t>(block.rows()), {HUGE_VAL, -HUGE_VAL});
  while (const Index got = reader.read(block)) {
    for (Index i = 0; i < block.rows(); ++i) {
      Range& range = ranges[static_cast<std::size_t>(i)];
      range.least = std::min(range.least, block.row(i).head(got).minCoeff());
      range.most = std::max(range.most, block.row(i).head(got).maxCoeff());
    }
  }
  reader.rewind();
  return ranges;
}

nlohmann::json to_json(const Facts& facts) {
  nlohmann::json json = {{"channels", facts.channels}, {"rate", facts.rate},
                         {"names", facts.names},       {"units", facts.units},
                         {"notes", facts.notes},       {"annotations", nlohmann::json::array()}};
  for (const Annotation& a : facts.annotations)
    json["annotations"].push_back({{"onset", a.onset}, {"duration", a.duration}, {"text", a.text}});
  return json;
}

void convert(const char* from, const char* to, const ReadOptions& options) {
  const auto reader = open_signals(from, options);
  Matrix<double> block(reader->facts().channels, 1000);
  const std::vector<Range> ranges = ranges_of(*reader, block);
  NewFiles files;
  const auto writer = create_signals(files, to, reader->facts(), ranges);
  while (const Index got = reader->read(block)) writer->write(block.leftCols(got));
  writer->finish();
  files.commit();
  std::cout << to_json(reader->facts()) << "\n";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3 || argc > 5) return 2;
  try {
    ReadOptions options;
    options.planes = true;
    if (argc > 3) options.variable = argv[3];
    if (argc > 4) options.rate = std::stod(argv[4]);
    convert(argv[1], argv[2], options);
  } catch (const Error& e) {
    std::cerr << e.what() << "\n";
    return 1;
  }
}
