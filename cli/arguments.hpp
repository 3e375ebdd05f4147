#pragma once

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "demix/types.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

/// The command line. CLI11 reads it; only arguments.cpp sees that, as it takes seconds to compile.
namespace demix::cli {

/// The program cannot be asked for this: one line on stderr, exit 2.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
  UsageError(const std::string& option, const std::string& what) : std::runtime_error(option + ": " + what) {}
};

/// An option or a positional of a command, to say more about it.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  Option required();
  Option show_default();  ///< the value the variable has now
  Option group(const std::string& title);
  Option value(const std::string& name);  ///< what help calls the value: "FILE"
  Option comma_separated();               ///< 1,2,3
  Option value_is_optional();             ///< alone, the option stands for ""
  Option one_at_a_time();                 ///< what follows the first value is not of this option
  Option excludes(const Option& other);
  Option needs(const Option& other);

  Option range(Index least, Index most);
  Option real_range(double least, double most);
  Option one_of(const std::vector<std::string>& names);
  Option positive();  ///< and finite
  Option named();     ///< not empty
  /// `complaint` says what is wrong with a value, or nothing; `kind` is what help calls such values.
  Option check(std::function<std::string(const std::string&)> complaint, const std::string& kind);

 private:
  CLI::Option* option_;
};

/// What a command may be given.
class Arguments {
 public:
  Arguments(CLI::App* command, std::function<void()>& chosen) : command_(command), chosen_(&chosen) {}

  /// `names`: "-o,--output", or "input" for a positional. The types T there are: at the end of arguments.cpp.
  template <typename T>
  Option option(const std::string& names, T& value, const std::string& help);
  Option flag(const std::string& names, bool& value, const std::string& help);
  void renamed(const std::string& old_name, const std::string& name);  ///< an error that tells the new name
  void footer(const std::string& text);
  void run(std::function<void()> work);  ///< when the command line names this command

 private:
  CLI::App* command_;
  std::function<void()>* chosen_;
};

/// What --help says, for texts of other shapes.
struct OptionHelp {
  std::vector<std::string> flags;  ///< "-o", "--output"; none: it is positional
  std::string name, text, value;   ///< value: "" = it takes none
  std::vector<std::string> choices;
};
struct CommandHelp {
  std::string name, text, footer;  ///< footer: "" = none of its own
  std::vector<OptionHelp> options;
};

class Program {
 public:
  Program(const std::string& name, const std::string& text, const std::string& version,
          const std::string& footer);
  ~Program();

  Arguments command(const std::string& name, const std::string& text);
  /// Runs the command named, or prints help or the version. Throws UsageError.
  void run(int argc, const char* const* argv);
  /// What run() would do, not done; nothing if only help or the version was asked for, which is printed.
  std::function<void()> parse(int argc, const char* const* argv);

  std::string text() const;
  std::vector<CommandHelp> commands() const;
  std::string help_hint() const;  ///< "demix separate --help": where the command that was named is explained

 private:
  std::string unexpected_word() const;

  std::unique_ptr<CLI::App> app_;
  std::function<void()> chosen_;
  std::string command_;  // that was named, or nothing
};

}  // namespace demix::cli
