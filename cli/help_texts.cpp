#include "help_texts.hpp"

#include <fmt/format.h>

#include <memory>

#include "commands.hpp"
#include "demix/version.hpp"

namespace demix::cli {
namespace {

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size()) {
    text.replace(at, what.size(), by);
  }
  return text;
}

std::string joined(const std::vector<std::string>& words, const std::string& between) {
  return fmt::format("{}", fmt::join(words, between));
}

}  // namespace

std::string bash_completion(const Program& program) {
  std::vector<std::string> names;
  std::string options;
  std::string values;
  for (const CommandHelp& command : program.commands()) {
    names.push_back(command.name);
    std::vector<std::string> flags;
    for (const OptionHelp& e : command.options) {
      flags.insert(flags.end(), e.flags.begin(), e.flags.end());
      if (e.choices.empty()) continue;
      if (e.flags.empty()) {
        flags.insert(flags.end(), e.choices.begin(), e.choices.end());
        continue;
      }
      std::vector<std::string> patterns;
      for (const std::string& f : e.flags) patterns.push_back(command.name + ":" + f);
      values += fmt::format("    {}) words='{}' ;;\n", joined(patterns, "|"), joined(e.choices, " "));
    }
    options += fmt::format("    {}) words='{}' ;;\n", command.name, joined(flags, " "));
  }
  return fmt::format(
      "# bash completion of demix {}\n"
      "_demix() {{\n"
      "  local current=${{COMP_WORDS[COMP_CWORD]}} words=\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
      "    COMPREPLY=($(compgen -W '{} --help --version' -- \"$current\"))\n"
      "    return\n"
      "  fi\n"
      "  case ${{COMP_WORDS[1]}}:${{COMP_WORDS[COMP_CWORD - 1]}} in\n"
      "{}"
      "  esac\n"
      "  if [ -n \"$words\" ]; then\n"
      "    COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
      "    return\n"
      "  fi\n"
      "  case ${{COMP_WORDS[1]}} in\n"
      "{}"
      "  esac\n"
      "  compopt -o filenames 2> /dev/null\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
      "  [[ $current == -* ]] || mapfile -t -O \"${{#COMPREPLY[@]}}\" COMPREPLY < <(compgen -f -- "
      "\"$current\")\n"
      "}}\n"
      "complete -F _demix demix\n",
      version, joined(names, " "), values, options);
}

std::string zsh_completion(const Program& program) {
  const auto plain = [](const std::string& text) {  // within '...[...]'
    return replaced(replaced(replaced(replaced(text, "'", "'\\''"), "[", "("), "]", ")"), ":", "\\:");
  };
  std::string commands;
  std::string cases;
  for (const CommandHelp& command : program.commands()) {
    commands += fmt::format("    '{}:{}'\n", command.name, plain(command.text));
    cases += fmt::format("    {})\n      _arguments", command.name);
    for (const OptionHelp& e : command.options) {
      const std::string action = e.choices.empty() ? "_files" : "(" + joined(e.choices, " ") + ")";
      if (e.flags.empty()) {
        cases += fmt::format(" \\\n        '*:{}:{}'", e.name, action);
      }
      for (const std::string& f : e.flags) {
        cases += fmt::format(" \\\n        '{}[{}]{}'", f, plain(e.text),
                             e.value.empty() ? "" : fmt::format(":{}:{}", e.name, action));
      }
    }
    cases += "\n      ;;\n";
  }
  return fmt::format(
      "#compdef demix\n"
      "# zsh completion of demix {}\n"
      "_demix() {{\n"
      "  local -a commands=(\n{}  )\n"
      "  if (( CURRENT == 2 )); then\n"
      "    _describe command commands\n"
      "    return\n"
      "  fi\n"
      "  local command=$words[2]\n"
      "  shift words\n"
      "  (( CURRENT-- ))\n"
      "  case $command in\n{}"
      "  esac\n"
      "}}\n"
      "_demix \"$@\"\n",
      version, commands, cases);
}

std::string man_page(const Program& program) {
  const auto roff = [](const std::string& text) {
    std::string out = replaced(replaced(text, "\\", "\\e"), "-", "\\-");
    out = replaced(out, "\n.", "\n\\&.");
    out = replaced(out, "\n'", "\n\\&'");
    return !out.empty() && (out[0] == '.' || out[0] == '\'') ? "\\&" + out : out;
  };
  std::string page = fmt::format(
      ".TH DEMIX 1 \"\" \"demix {}\" \"User Commands\"\n.SH NAME\ndemix \\- blind source separation\n"
      ".SH SYNOPSIS\n.B demix\n.I COMMAND\n[\\fIOPTIONS\\fR]\n.SH DESCRIPTION\n{}\n"
      ".SH COMMANDS\n",
      version, roff(program.text()));
  for (const CommandHelp& command : program.commands()) {
    std::string usage;
    for (const OptionHelp& e : command.options) {
      if (e.flags.empty()) usage += " \\fI" + roff(e.name) + "\\fR";
    }
    page += fmt::format(".SS \\fBdemix {}\\fR [\\fIOPTIONS\\fR]{}\n{}\n", roff(command.name), usage,
                        roff(command.text));
    for (const OptionHelp& e : command.options) {
      const std::string what = e.choices.empty() ? e.value : joined(e.choices, "|");
      page += e.flags.empty() ? fmt::format(".TP\n\\fI{}\\fR\n", roff(e.name))
                              : fmt::format(".TP\n\\fB{}\\fR{}\n", roff(joined(e.flags, ", ")),
                                            what.empty() ? "" : " \\fI" + roff(what) + "\\fR");
      page += roff(e.text) + "\n";
    }
    if (!command.footer.empty()) page += ".PP\n" + roff(command.footer) + "\n";
  }
  page +=
      ".SH EXIT STATUS\n0: done. 1: failed. 2: wrong usage. A failure is one line on standard error and "
      "leaves no "
      "partly written files.\n";
  return page;
}

void add_completion(Program& program) {
  Arguments sub = program.command("completion", "Print the completion script of a shell, or the man page");
  auto what = std::make_shared<std::string>();
  sub.option("what", *what, "Script to print: bash, zsh or man").required().one_of({"bash", "zsh", "man"});
  sub.footer("To use it in this shell: source <(demix completion bash). An installation includes all three.");
  sub.run([&program, what] {
    fmt::print("{}", *what == "bash"  ? bash_completion(program)
                     : *what == "zsh" ? zsh_completion(program)
                                      : man_page(program));
  });
}

}  // namespace demix::cli
