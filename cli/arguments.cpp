#include "arguments.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <optional>
#include <sstream>
#include <type_traits>

#include "nearest_word.hpp"

namespace demix::cli {

Option Option::required() {
  option_->required();
  return *this;
}

namespace {

// CLI11 takes what is too large for the largest there is.
template <typename T>
std::string whole_number_complaint(const std::string& word, T least, T most) {
  T value = 0;
  const char* end = word.data() + word.size();
  const auto [stopped, error] = std::from_chars(word.data(), end, value);
  if (error == std::errc() && stopped == end) return "";
  return "expected a whole number from " + std::to_string(least) + " to " + std::to_string(most) + ", got " +
         word;
}

}  // namespace

Option Option::show_default() {
  option_->capture_default_str();
  return *this;
}

Option Option::group(const std::string& title) {
  option_->group(title);
  return *this;
}

Option Option::value(const std::string& name) {
  option_->type_name(name);
  return *this;
}

Option Option::comma_separated() {
  option_->delimiter(',');
  return *this;
}

Option Option::value_is_optional() {
  option_->expected(0, 1);
  return *this;
}

Option Option::one_at_a_time() {
  option_->allow_extra_args(false);
  return *this;
}

Option Option::excludes(const Option& other) {
  option_->excludes(other.option_);
  return *this;
}

Option Option::needs(const Option& other) {
  option_->needs(other.option_);
  return *this;
}

Option Option::range(Index least, Index most) {
  // What is no Index is told the same range.
  option_->get_validator(0)->operation(
      [=](const std::string& word) { return whole_number_complaint<Index>(word, least, most); });
  option_->check(CLI::Range(least, most).description(""));
  return *this;
}

Option Option::real_range(double least, double most) {
  option_->check(CLI::Range(least, most).description(""));
  return *this;
}

Option Option::one_of(const std::vector<std::string>& names) {
  const auto complaint = [names](const std::string& word) {
    if (std::ranges::count(names, word) > 0) return std::string();
    const std::string nearest = suggestion(word, names);
    return "unknown value '" + word + "'" +
           (nearest.empty() ? "; give one of " + CLI::detail::join(names, ", ") : nearest);
  };
  option_->check(CLI::Validator(complaint, "{" + CLI::detail::join(names, ",") + "}"));
  return *this;
}

Option Option::positive() {
  return check(
      [](const std::string& word) {
        const double value = std::strtod(word.c_str(), nullptr);
        return std::isfinite(value) && value > 0 ? "" : "expected a positive number, got " + word;
      },
      "");
}

Option Option::named() {
  return check([](const std::string& word) { return word.empty() ? "expected a name, got none" : ""; }, "");
}

Option Option::check(std::function<std::string(const std::string&)> complaint, const std::string& kind) {
  option_->check(CLI::Validator(std::move(complaint), ""));
  if (!kind.empty()) option_->type_name(kind);
  return *this;
}

namespace {

// "a", "b" of an option that takes one of these.
std::vector<std::string> choices_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();  // "TEXT:{a,b}"
  const std::size_t open = type.find(":{") + 1;
  const std::size_t close = type.rfind('}');
  if (open == 0 || close == std::string::npos) return {};
  return CLI::detail::split(type.substr(open + 1, close - open - 1), ',');
}

// What help calls the value of an option; nothing if it takes none.
std::string value_of(const CLI::Option& option) {
  if (option.get_items_expected_max() == 0) return "";
  const std::string type = option.get_type_name();
  return type.substr(0, type.find(":{"));
}

// Lines of at most `width` columns, broken between words.
std::string wrapped(const std::string& text, std::size_t width) {
  std::string out;
  std::size_t column = 0;
  for (const std::string& word : CLI::detail::split(text, ' ')) {
    if (column > 0) out += column + 1 + word.size() > width ? '\n' : ' ';
    column = out.empty() || out.back() == '\n' ? word.size() : column + 1 + word.size();
    out += word;
  }
  return out;
}

// Help in short: --rate X, --learn one-pass|replay|frame; requirements and defaults in words, lines of at
// most 110 columns.
class HelpFormatter final : public CLI::Formatter {
 public:
  HelpFormatter() { column_width(names_width); }

  std::string make_description(const CLI::App* app) const override {
    return wrapped(app->get_description(), width) + "\n";
  }

  std::string make_footer(const CLI::App* app) const override {
    return wrapped(app->get_footer(), width) + "\n";
  }

  std::string make_subcommand(const CLI::App* command) const override {
    std::ostringstream out;
    CLI::detail::format_help(out, command->get_name(), wrapped(command->get_description(), text_width),
                             names_width);
    return out.str();
  }

  std::string make_option_name(const CLI::Option* option, bool is_positional) const override {
    const std::string name = CLI::Formatter::make_option_name(option, is_positional);
    return name.substr(0, name.find('{'));  // of --report,--no-report{false}
  }

  std::string make_option_opts(const CLI::Option* option) const override {
    const std::vector<std::string> choices = choices_of(*option);
    const std::string value =
        choices.empty() || is_long(choices) ? value_of(*option) : CLI::detail::join(choices, "|");
    const bool is_list = option->get_expected_max() == CLI::detail::expected_max_vector_size;
    const std::string more = !is_list ? "" : option->get_delimiter() == '\0' ? " ..." : ",...";
    return (value.empty() || option->get_positional() ? "" : " " + value) + more;
  }

  std::string make_option_desc(const CLI::Option* option) const override {
    std::string text = option->get_description();
    if (is_long(choices_of(*option))) text += ". One of: " + CLI::detail::join(choices_of(*option), ", ");
    if (!option->get_default_str().empty()) text += " (default " + option->get_default_str() + ")";
    if (option->get_required() && !option->get_positional()) text += " (required)";
    if (!option->get_needs().empty()) text += " (with " + names(option->get_needs()) + ")";
    if (!option->get_excludes().empty()) text += " (not with " + names(option->get_excludes()) + ")";
    return wrapped(text, text_width);
  }

 private:
  static constexpr std::size_t names_width = 28, text_width = 78, width = 110;

  static bool is_long(const std::vector<std::string>& choices) {
    return CLI::detail::join(choices, "|").size() > 45;
  }

  static std::string names(const std::set<CLI::Option*>& options) {
    std::string all;
    for (const CLI::Option* option : options) all += (all.empty() ? "" : ", ") + option->get_name();
    return all;
  }
};

// What one value of an option is: of std::vector<T> and std::optional<T>, a T.
template <typename T>
struct One {
  using type = T;
};
template <typename T>
struct One<std::vector<T>> {
  using type = T;
};
template <typename T>
struct One<std::optional<T>> {
  using type = T;
};

}  // namespace

template <typename T>
Option Arguments::option(const std::string& names, T& value, const std::string& help) {
  CLI::Option* option = command_->add_option(names, value, help);
  if constexpr (std::is_integral_v<typename One<T>::type>) {
    using Whole = typename One<T>::type;
    option->check(CLI::Validator(
        [](const std::string& word) {
          return whole_number_complaint<Whole>(word, std::numeric_limits<Whole>::min(),
                                               std::numeric_limits<Whole>::max());
        },
        ""));
    option->type_name("N");
  } else if constexpr (std::is_floating_point_v<typename One<T>::type>) {
    option->type_name("X");
  }
  return Option(option);
}

Option Arguments::flag(const std::string& names, bool& value, const std::string& help) {
  return Option(command_->add_flag(names, value, help));
}

void Arguments::renamed(const std::string& old_name, const std::string& name) {
  const CLI::callback_t refuse = [=](const CLI::results_t&) -> bool {
    throw CLI::ValidationError(old_name, "is called " + name + " now");
  };
  command_->add_option(old_name, refuse)->expected(0, 1)->group("");
}

void Arguments::footer(const std::string& text) { command_->footer(text); }

void Arguments::run(std::function<void()> work) {
  command_->callback([chosen = chosen_, work = std::move(work)] { *chosen = work; });
}

Program::Program(const std::string& name, const std::string& text, const std::string& version,
                 const std::string& footer)
    : app_(std::make_unique<CLI::App>(text, name)) {
  app_->set_version_flag("--version", name + " " + version);
  app_->require_subcommand(1);
  app_->footer(footer);
  const auto formatter = std::make_shared<HelpFormatter>();
  formatter->label("SUBCOMMAND", "COMMAND");
  app_->formatter(formatter);
}

Program::~Program() = default;

Arguments Program::command(const std::string& name, const std::string& text) {
  CLI::App* command = app_->add_subcommand(name, text);
  command->group("Commands");
  return {command, chosen_};
}

namespace {

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

OptionHelp help_of(const CLI::Option& option) {
  OptionHelp help{{}, option.get_name(true), option.get_description(), {}, {}};
  for (const std::string& s : option.get_snames()) help.flags.push_back("-" + s);
  for (const std::string& l : option.get_lnames()) {
    if (l != "help-all") help.flags.push_back("--" + l);
  }
  if (option.get_items_expected_max() == 0) return help;
  help.choices = choices_of(option);
  help.value = value_of(option);
  if (help.value.empty()) help.value = "VALUE";
  return help;
}

}  // namespace

void Program::run(int argc, const char* const* argv) {
  const std::function<void()> work = parse(argc, argv);
  if (work) work();
}

std::function<void()> Program::parse(int argc, const char* const* argv) {
  std::vector<std::string> names;
  for (const CLI::App* command : commands_of(*app_)) names.push_back(command->get_name());
  if (argc < 2) throw UsageError("no command given; start with " + app_->get_name() + " " + names.front());
  const std::string first = argv[1];
  command_ = std::ranges::count(names, first) > 0 ? first : "";
  if (!first.empty() && first[0] != '-' && command_.empty()) {
    throw UsageError("unknown command '" + first + "'" + suggestion(first, names));
  }
  try {
    app_->parse(argc, argv);
  } catch (const CLI::Success& e) {
    app_->exit(e);
    return {};
  } catch (const CLI::ParseError& e) {
    const std::string unexpected = unexpected_word();
    throw UsageError(unexpected.empty() ? e.what() : unexpected);
  }
  return chosen_;
}

// What to say of a word that nothing takes, of one that looks like an option first; nothing if there is none
// such.
std::string Program::unexpected_word() const {
  const std::vector<std::string> words = app_->remaining(true);
  for (const std::string& word : words) {
    if (!word.starts_with("-") || word == "-") continue;
    std::vector<std::string> flags;
    for (const CommandHelp& command : commands()) {
      if (command.name != command_) continue;
      for (const OptionHelp& option : command.options) {
        flags.insert(flags.end(), option.flags.begin(), option.flags.end());
      }
    }
    const std::string name = word.substr(0, word.find('='));
    return "unknown option " + name + suggestion(name, flags);
  }
  return words.empty() ? "" : "unexpected argument '" + words.front() + "'";
}

std::string Program::help_hint() const {
  return app_->get_name() + (command_.empty() ? "" : " " + command_) + " --help";
}

std::string Program::text() const { return app_->get_description(); }

std::vector<CommandHelp> Program::commands() const {
  std::vector<CommandHelp> all;
  for (const CLI::App* command : commands_of(*app_)) {
    CommandHelp help{command->get_name(), command->get_description(), {}, {}};
    if (command->get_footer() != app_->get_footer()) help.footer = command->get_footer();
    for (const CLI::Option* option : command->get_options()) {
      if (!option->get_group().empty()) help.options.push_back(help_of(*option));
    }
    all.push_back(std::move(help));
  }
  return all;
}

template Option Arguments::option(const std::string&, int&, const std::string&);
template Option Arguments::option(const std::string&, Index&, const std::string&);
template Option Arguments::option(const std::string&, std::uint64_t&, const std::string&);
template Option Arguments::option(const std::string&, double&, const std::string&);
template Option Arguments::option(const std::string&, std::string&, const std::string&);
template Option Arguments::option(const std::string&, std::optional<Index>&, const std::string&);
template Option Arguments::option(const std::string&, std::optional<double>&, const std::string&);
template Option Arguments::option(const std::string&, std::optional<std::string>&, const std::string&);
template Option Arguments::option(const std::string&, std::vector<int>&, const std::string&);
template Option Arguments::option(const std::string&, std::vector<Index>&, const std::string&);
template Option Arguments::option(const std::string&, std::vector<double>&, const std::string&);
template Option Arguments::option(const std::string&, std::vector<std::string>&, const std::string&);

}  // namespace demix::cli
