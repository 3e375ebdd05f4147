// convert_picture IN OUT: every plane of a picture to a file of any kind, for tests that look at it by other
// means.
#include <iostream>

#include "demix/signal_files.hpp"

int main(int argc, char** argv) {
  using namespace demix::io;
  if (argc != 3) return 2;
  try {
    ReadOptions options;
    options.planes = true;
    const FileRecording recording({argv[1]}, options);
    NewFiles files;
    const auto writer = create_signals(files, argv[2], recording.facts(), {});
    recording.pass([&](const demix::Frames<double>& block) { writer->write(block); });
    writer->finish();
    files.commit();
  } catch (const Error& e) {
    std::cerr << e.what() << "\n";
    return 1;
  }
  return 0;
}
