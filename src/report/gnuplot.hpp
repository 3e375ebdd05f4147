#pragma once

#include <array>
#include <cmath>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "demix/types.hpp"
#include "report/axis_range.hpp"

/// What the figures share: gnuplot, run once on one script for a PNG and an SVG.
namespace demix::report::gnuplot {

// Okabe-Ito, safe for colour-blind readers; without its yellow, which is lost on white.
inline constexpr const char* black = "#000000";
inline constexpr const char* blue = "#0072B2";
inline constexpr const char* red = "#D55E00";
inline constexpr const char* green = "#009E73";
inline constexpr const char* purple = "#CC79A7";
inline constexpr const char* orange = "#E69F00";
inline constexpr const char* sky = "#56B4E9";
inline constexpr std::array colours{blue, red, green, purple, orange, sky, black};  // of curves, in turn

// Of curves in turn, so that they can be told apart in grey.
inline constexpr std::array dashes{"1", "'-'", "'.'", "'-.'", "'_'", "'_.'", "'--.'"};

// A page of so many pixels is as wide as a column of 8.5 cm in print: letters of 14, 15 and 17 points
// are 7.0, 7.5 and 8.5 points there.
inline constexpr double column_width = 640;

/// Of a legend: how its line and its point look, in gnuplot's words; empty = none.
struct Entry {
  std::string text, line{}, point{};
};

// Of a legend, in pixels.
inline constexpr double legend_line = 25;
inline constexpr double legend_font = 14;  // in points
/// What the widest of them takes.
double width_of(const std::vector<Entry>& entries);
/// As many columns as there is room for, each as wide as its widest entry, and as even as they can be.
std::size_t columns_of(const std::vector<Entry>& entries, double room);
/// Of all of them in so many columns.
double height_of(const std::vector<Entry>& entries, std::size_t columns);

/// Of a picture, in pixels.
struct Canvas {
  double width, height;
  std::string font;  ///< family,points

  /// Where the axes of a plot are, from the upper left corner of the page.
  std::string axes(double left, double top, double across, double down) const;
  /// A point of the page, from its upper left corner.
  std::string at(double x, double y) const;
  /// A line of the script that writes `text` at a point, as it is; `how`: center, rotate by 90, ...
  std::string write(std::string_view text, double x, double y, std::string_view how) const;
  /// Lines below each other, the first at the point; and turned to be read from below, beside each other.
  std::string write(const std::vector<std::string>& lines, double x, double y, double each,
                    std::string_view how) const;
  std::string write_upright(const std::vector<std::string>& lines, double x, double y, double each,
                            std::string_view how) const;
  /// The title, in the middle above all; its lines are `each` high.
  std::string heading(const std::vector<std::string>& title, double points, double each) const;
  /// From one point to another.
  std::string line(double x, double y, double to_x, double to_y, std::string_view style) const;
  /// In columns, read down the first, then the second, ...; their middle is there.
  std::string legend(const std::vector<Entry>& entries, double middle, double y, std::size_t columns) const;
};

/// `text` as gnuplot reads it, in quotes. Drawn with `noenhanced` it shows as it is; a line end starts a new
/// line.
std::string literal(std::string_view text);

/// Tics with names: `("name" 0, ...)`.
std::string named_tics(const std::vector<std::string>& names);

/// About as many pixels as the longest line of `text` takes in a font of so many points, rather more than
/// less.
double width_of(std::string_view text, double points);
double width_of(const std::vector<std::string>& texts, double points);

/// `text` in lines of at most `room` pixels, broken at spaces; a word stays whole.
std::vector<std::string> wrapped(std::string_view text, double points, double room);

/// The place of `label`, which is added if it is not there.
std::size_t place_of(const std::string& label, std::vector<std::string>& labels);

/// Defines the data block $name: one line of text per row.
void inline_data(std::string& script, std::string_view name, const Matrix<double>& rows);

/// Whether a number can be drawn: finite, and with room to calculate.
inline bool drawable(double v) { return std::abs(v) < 1e100; }

/// Throws std::invalid_argument with `message` unless `ok`.
void require(bool ok, const std::string& message);

/// The SVG of a page, in millimetres.
std::string in_print(const std::string& svg, const Canvas& page);

/// Draws `script` to base.png and base.svg, both or none. Throws std::runtime_error with what to install if
/// there is no gnuplot.
std::vector<std::filesystem::path> draw(const std::string& script, const Canvas& page,
                                        const std::filesystem::path& base);

}  // namespace demix::report::gnuplot
