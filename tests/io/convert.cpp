#include <iostream>
#include <nlohmann/json.hpp>

#include "demix/signal_files.hpp"

// convert_signals IN OUT [VARIABLE [RATE]]: a file of signals as another kind, colours apart, and what it
// says as JSON.
namespace {

using demix::Index;
using demix::Matrix;
using namespace demix::io;

std::vector<ValueRange> ranges_of(SignalReader& reader, Matrix<double>& block) {
  std::vector<ValueRange> ranges(static_cast<std::size_t>(block.rows()), {HUGE_VAL, -HUGE_VAL});
  while (const Index got = reader.read(block)) {
    for (Index i = 0; i < block.rows(); ++i) {
      ValueRange& range = ranges[static_cast<std::size_t>(i)];
      range.least = std::min(range.least, block.row(i).head(got).minCoeff());
      range.most = std::max(range.most, block.row(i).head(got).maxCoeff());
    }
  }
  reader.rewind();
  return ranges;
}

nlohmann::json to_json(const SignalInfo& info) {
  nlohmann::json json = {{"channels", info.channels}, {"rate", info.rate},
                         {"names", info.names},       {"units", info.units},
                         {"notes", info.notes},       {"annotations", nlohmann::json::array()}};
  for (const ChannelType type : info.types) json["types"].push_back(type_name(type));
  for (const auto& at : info.positions) json["positions"].push_back(at ? nlohmann::json(*at) : nullptr);
  for (const Annotation& a : info.annotations)
    json["annotations"].push_back({{"onset", a.onset}, {"duration", a.duration}, {"text", a.text}});
  return json;
}

void convert(const char* from, const char* to, const ReadOptions& options) {
  const auto reader = open_signals(from, options);
  Matrix<double> block(reader->info().channels, 1000);
  const std::vector<ValueRange> ranges = ranges_of(*reader, block);
  NewFiles files;
  const auto writer = create_signals(files, to, reader->info(), ranges);
  while (const Index got = reader->read(block)) writer->write(block.leftCols(got));
  writer->finish();
  files.commit();
  std::cout << to_json(reader->info()) << "\n";
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
