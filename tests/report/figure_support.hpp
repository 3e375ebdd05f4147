#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "cannot_run.hpp"
#include "demix/report.hpp"

namespace demix::report::testing {

/// All that means something to gnuplot, a shell, a format or XML.
inline const std::string special = R"(a_b{c}^d@e %d %% "f" 'g' \n `h` $i <j> & k~ #)";

inline std::string bytes_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// What stands between < and > taken away, and the names of characters replaced by them.
inline std::string plain(const std::string& xml) {
  std::string text;
  bool tag = false;
  for (const char c : xml) {
    if (c == '<') tag = true;
    if (!tag) text += c;
    if (c == '>') tag = false;
  }
  for (const auto& [name, c] :
       {std::pair{"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&apos;", "'"}, {"&amp;", "&"}}) {
    for (std::size_t at = 0; (at = text.find(name, at)) != std::string::npos; ++at) {
      text.replace(at, std::string(name).size(), c);
    }
  }
  return text;
}

/// What can be read in an SVG, with how often. A power of ten reads 10-3.
inline std::multiset<std::string> texts_of(const std::filesystem::path& file) {
  const std::string svg = bytes_of(file);
  std::multiset<std::string> texts;
  for (std::size_t from = 0; (from = svg.find("<text", from)) != std::string::npos;) {
    const std::size_t to = svg.find("</text>", from);
    texts.insert(plain(svg.substr(from, to - from)));
    from = to;
  }
  return texts;
}

/// Widths, in millimetres, and sizes of letters, in points of print, of an SVG as wide as its file says.
struct Print {
  double width = 0;
  std::set<double> letters;
};

inline Print in_print(const std::string& svg) {
  const auto number_after = [&](const std::string& mark, std::size_t from) {
    return std::stod(svg.substr(svg.find(mark, from) + mark.size()));
  };
  Print print{number_after("width=\"", 0), {}};
  const double point = print.width / 25.4 * 72 / number_after("viewBox=\"0 0 ", 0);
  for (std::size_t at = 0; (at = svg.find("<text", at)) != std::string::npos; ++at) {
    const std::size_t group = svg.rfind("<g ", at);
    const std::size_t end = svg.find("</text>", at);
    if (plain(svg.substr(at, end - at)).find_first_not_of(" \n") == std::string::npos) continue;
    const std::size_t from = svg.find("font-size=", at) < svg.find('>', at) ? at : group;
    print.letters.insert(point * number_after("font-size=\"", from));
  }
  return print;
}

/// A folder of its own for each test, with nothing in it.
class FigureTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::system("command -v gnuplot >/dev/null 2>&1") != 0) DEMIX_CANNOT_RUN("no gnuplot");
  }
  FigureTest() {
    std::string name = (std::filesystem::temp_directory_path() / "demix-figure-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder for the test");
    folder = name;
  }
  ~FigureTest() override { std::filesystem::remove_all(folder); }

  std::filesystem::path base() const { return folder / "figure"; }

  std::size_t files_in_folder() const {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator()));
  }

  /// The two at base(), and nothing else.
  void expect_pictures(const std::vector<std::filesystem::path>& files) const {
    ASSERT_EQ(files.size(), 2U);
    EXPECT_EQ(files[0], folder / "figure.png");
    EXPECT_EQ(files[1], folder / "figure.svg");
    EXPECT_EQ(bytes_of(files[0]).substr(0, 8), "\x89PNG\r\n\x1a\n");
    const std::string svg = bytes_of(files[1]);
    EXPECT_NE(svg.find("<svg"), std::string::npos);
    EXPECT_NE(svg.find("</svg>"), std::string::npos);
    EXPECT_EQ(files_in_folder(), 2U);
  }

  std::filesystem::path folder;
};

/// With one kind of figure.
template <typename Kind>
class DrawTest : public FigureTest {
 protected:
  using Figure = Kind;
  static constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  static constexpr double inf = std::numeric_limits<double>::infinity();
  static inline const std::string blue = "rgb(  0, 114, 178)";
  static inline const std::string red = "rgb(213,  94,   0)";

  std::string svg() const { return bytes_of(draw(figure, base())[1]); }
  std::multiset<std::string> texts() const { return texts_of(draw(figure, base())[1]); }

  /// In the SVG.
  std::size_t count(const std::string& what) const {
    const std::string all = svg();
    std::size_t n = 0;
    for (std::size_t at = 0; (at = all.find(what, at)) != std::string::npos; ++at) ++n;
    return n;
  }

  /// The figure with change(figure), because of that field, and before anything is written.
  template <typename Change>
  void refused(const Change& change, const std::string& field) const {
    Figure changed = figure;
    change(changed);
    try {
      draw(changed, base());
      ADD_FAILURE() << field << " was not refused";
    } catch (const std::invalid_argument& e) {
      EXPECT_EQ(std::string(e.what()).substr(0, field.size() + 1), field + ":") << e.what();
    }
    EXPECT_EQ(files_in_folder(), 0U);
  }

  /// 8.5 cm wide, letters of 7 to 9 points.
  void expect_to_fit_a_column() const {
    const Print print = in_print(svg());
    EXPECT_DOUBLE_EQ(print.width, 85);
    ASSERT_FALSE(print.letters.empty());
    EXPECT_GE(*print.letters.begin(), 7);
    EXPECT_LE(*print.letters.rbegin(), 9);
  }

  void expect_nothing_left_without_a_folder() const {
    EXPECT_THROW(draw(figure, folder / "nowhere" / "figure"), std::runtime_error);
    EXPECT_EQ(files_in_folder(), 0U);
  }

  Figure figure;
};

}  // namespace demix::report::testing
