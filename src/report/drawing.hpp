#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "demix/html_report.hpp"
#include "report/axis_range.hpp"

/// Small inline SVG pictures without words. They fill the box the style sheet gives them; colours are
/// classes.
namespace demix::report::drawing {

/// Of the numbers among them; 0 to 0 if there are none.
AxisRange range_of(const std::vector<double>& values);
AxisRange range_of(const std::vector<Summary::Bin>& bins);
AxisRange joined(const AxisRange& a, const AxisRange& b);

struct Line {
  const std::vector<double>* values;
  std::string_view look;  ///< class
};
/// Values side by side, with gaps where they are no numbers; a flat line in the middle if the range is empty.
std::string traces(const std::vector<Line>& lines, const AxisRange& range, std::string_view look);

/// From the least to the most of every bin.
std::string envelope(const std::vector<Summary::Bin>& bins, const AxisRange& range, std::string_view look);

inline constexpr std::size_t histogram_bins = 48;
/// How many of the numbers are in each of equal bins; what is beyond the range is in the outermost.
std::vector<Index> counts(const std::vector<double>& values, const AxisRange& range);

/// Distributions turned on their side, to stand right of traces of the same range; or lying.
std::string histograms(const std::vector<Line>& samples, const AxisRange& range);
std::string lying_histogram(const Line& sample, const AxisRange& range);

/// A bar up or down for each value, with its title.
std::string bars(const Vector<double>& values, const std::vector<std::string>& titles);

}  // namespace demix::report::drawing
