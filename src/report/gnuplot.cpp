#include "report/gnuplot.hpp"

#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <system_error>

namespace demix::report::gnuplot {
namespace {

namespace fs = std::filesystem;

std::runtime_error failure(const std::string& why) { return std::runtime_error("no pictures drawn: " + why); }

// A folder beside the pictures, gone at the end. What is in it can be given its name in one step, and has the
// permissions of any new file.
class Workplace {
 public:
  explicit Workplace(const fs::path& base) {
    std::string name = fs::absolute(base).string() + ".XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) {
      throw failure(base.string() + ": cannot write: " + std::generic_category().message(errno));
    }
    path_ = name;
  }
  ~Workplace() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;

  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

std::string shell_quoted(const fs::path& path) {
  std::string out = "'";
  for (const char c : path.string()) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// gnuplot runs inside the folder, so that no path has to be spelt in its language; -d: the figure does not
// depend on the user's own settings.
void run(const fs::path& folder, const std::string& script) {
  std::ofstream file(folder / "script");
  if (!file.write(script.data(), static_cast<std::streamsize>(script.size())).flush()) {
    throw failure(folder.string() + ": cannot write");
  }
  const std::string command = "cd " + shell_quoted(folder) + " && exec gnuplot -d script 2>&1 </dev/null";
  std::FILE* gnuplot = ::popen(command.c_str(), "r");
  if (gnuplot == nullptr) throw failure("gnuplot could not be started");
  std::string said;
  std::array<char, 4096> buffer{};
  while (const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), gnuplot)) {
    said.append(buffer.data(), got);
  }
  if (::pclose(gnuplot) != 0) throw failure("gnuplot failed: " + said);
}

fs::path with_ending(const fs::path& base, const char* ending) {
  fs::path out = base;
  return out += ending;
}

// Both get their names, or neither does.
void keep(const fs::path& folder, const fs::path& png, const fs::path& svg) {
  fs::rename(folder / "png", png);
  try {
    fs::rename(folder / "svg", svg);
  } catch (...) {
    fs::remove(png);
    throw;
  }
}

// In units of the font size, in a wide font. All of a UTF-8 character counts at its first byte.
double width_of(char c) {
  if ((static_cast<unsigned char>(c) & 0xc0U) == 0x80U) return 0;
  if (static_cast<unsigned char>(c) >= 0x80U) return 1;
  if (std::string_view(" !'(),-./:;I[]fijlrt|").find(c) != std::string_view::npos) return 0.35;
  if (std::string_view("%@MWmw").find(c) != std::string_view::npos) return 1;
  if (('A' <= c && c <= 'Z') || std::string_view("#&+<=>^~").find(c) != std::string_view::npos) return 0.85;
  return 0.63;
}

}  // namespace

std::string Page::at(double x, double y) const {
  return fmt::format("screen {:.5f},{:.5f}", x / width, 1 - y / height);
}

std::string Page::axes(double left, double top, double across, double down) const {
  return fmt::format(
      "set lmargin at screen {:.5f}\nset rmargin at screen {:.5f}\nset bmargin at screen {:.5f}\n"
      "set tmargin at screen {:.5f}\n",
      left / width, (left + across) / width, 1 - (top + down) / height, 1 - top / height);
}

std::string Page::write(std::string_view text, double x, double y, std::string_view how) const {
  return fmt::format("set label {} at {} {} noenhanced\n", literal(text), at(x, y), how);
}

std::string literal(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
    } else if (c == '`') {
      out += "\\140";  // gnuplot would run what is between two of them
    } else if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else {
      out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
  }
  return out + "\"";
}

std::string named_tics(const std::vector<std::string>& names) {
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::string name;
    for (const char c : names[i]) name += c == '%' ? std::string("%%") : std::string(1, c);  // a format here
    out += fmt::format("{}{} {}", i == 0 ? "" : ", ", literal(name), i);
  }
  return "(" + out + ")";
}

double width_of(std::string_view text, double points) {
  double longest = 0;
  double width = 0;
  for (const char c : text) {
    width = c == '\n' ? 0 : width + width_of(c);
    longest = std::max(longest, width);
  }
  return longest * points * 4 / 3;
}

void inline_data(std::string& script, std::string_view name, const Matrix<double>& rows) {
  script += fmt::format("${} << EOD\n", name);
  for (Index i = 0; i < rows.rows(); ++i) {
    for (Index j = 0; j < rows.cols(); ++j) script += fmt::format("{}{:.6g}", j == 0 ? "" : " ", rows(i, j));
    script += '\n';
  }
  script += "EOD\n";
}

void require(bool ok, const std::string& message) {
  if (!ok) throw std::invalid_argument(message);
}

std::vector<fs::path> draw(const std::string& script, const Page& page, const fs::path& base) {
  if (std::system("command -v gnuplot >/dev/null 2>&1") != 0) {
    throw failure("gnuplot is not installed (apt install gnuplot-nox)");
  }
  const Workplace workplace(base);
  const auto script_to = [&](const char* terminal, double scale, const char* file) {
    return fmt::format(
        "set terminal {} size {:.0f},{:.0f} font '{}' fontscale {:.4f} background rgb 'white'\n"
        "set output '{}'\nset encoding utf8\n{}unset output\nreset\n",
        terminal, page.width, page.height, page.font, scale, file, script);
  };
  // as large in one as in the other
  const std::string both =
      script_to("pngcairo pointscale 1.4", 1, "png") + script_to("svg dashlength 0.7", page.svg_scale, "svg");
  run(workplace.path(), both);
  const fs::path png = with_ending(base, ".png");
  const fs::path svg = with_ending(base, ".svg");
  keep(workplace.path(), png, svg);
  return {png, svg};
}

}  // namespace demix::report::gnuplot
