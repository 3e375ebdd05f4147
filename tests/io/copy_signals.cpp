#include <algorithm>
#include <cstdio>

#include "demix/signal_files.hpp"

/// copy_signals IN OUT: one file of signals to another, of any kind, with all that is known of them.
int main(int argc, char** argv) try {
  using namespace demix::io;
  if (argc != 3) return 2;
  const auto reader = open_signals(argv[1]);
  demix::Matrix<double> block(reader->facts().channels, 1000);
  std::vector<Range> ranges(static_cast<std::size_t>(reader->facts().channels), Range{1e300, -1e300});
  while (const demix::Index got = reader->read(block)) {
    for (demix::Index c = 0; c < block.rows(); ++c) {
      Range& range = ranges[static_cast<std::size_t>(c)];
      range.least = std::min(range.least, block.row(c).leftCols(got).minCoeff());
      range.most = std::max(range.most, block.row(c).leftCols(got).maxCoeff());
    }
  }
  reader->rewind();
  NewFiles files;
  const auto writer = create_signals(files, argv[2], reader->facts(), ranges);
  while (const demix::Index got = reader->read(block)) writer->write(block.leftCols(got));
  writer->finish();
  files.commit();
  for (const std::string& note : reader->facts().notes) std::fprintf(stderr, "%s\n", note.c_str());
} catch (const demix::io::Error& e) {
  std::fprintf(stderr, "copy_signals: %s\n", e.what());
  return 1;
}
