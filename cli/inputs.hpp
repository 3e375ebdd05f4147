#pragma once

#include <string>
#include <vector>

#include "arguments.hpp"
#include "demix/file_use.hpp"

/// The files of signals a command is given, and what they may leave open.
namespace demix::cli {

struct Inputs {
  std::vector<std::string> files;
  std::vector<std::string> typed;  // the same before save_standard_input()
  std::string format;              // of standard input
  io::ReadOptions read;
  std::string delimiter;
  std::string orientation;
  std::string colour = "grey";
  std::string join = "channels";
};

/// The positional `name` and the options that go with it.
void add_inputs(Arguments& command, Inputs& inputs, const std::string& what,
                const std::string& name = "input", bool is_required = true);
/// Only the options.
void add_read_options(Arguments& command, Inputs& inputs);

io::ReadOptions read_options(const Inputs& how);

/// Opens them. Before any work they are checked against the other files in use; then what was guessed or left
/// out is said on stderr.
io::FileRecording open(const Inputs& inputs, io::FileUse use = {});
io::FileRecording open(const Inputs& how, const std::vector<std::string>& files, io::FileUse use = {});

/// Standard input, if "-" is among the files, becomes a temporary file.
void save_standard_input(Inputs& inputs);

}  // namespace demix::cli
