#pragma once

#include "demix/paper.hpp"
#include "demix/report.hpp"

/// One function for each item of the table in items.cpp.
namespace demix::paper {

/// Of a quick run, how long it was: `text` says it. Empty in a full one.
inline std::string length_of(const Setting& setting, const std::string& text) {
  return setting.quick ? "quick run: " + text : "";
}

/// A figure into the folder; that of a quick run says so, and how long the run was.
template <typename AnyFigure>
std::vector<std::filesystem::path> draw(AnyFigure figure, const Setting& setting, const std::string& length,
                                        const std::string& name) {
  if (!length.empty()) figure.title += (figure.title.empty() ? "" : "\n") + length + "; no verdict";
  return report::draw(figure, setting.folder / name);
}

Result figure_1a(const Setting& setting);
Result figure_1b(const Setting& setting);
Result figure_2(const Setting& setting);
Result figure_2a(const Setting& setting);
Result figure_2b(const Setting& setting);
Result figure_2c(const Setting& setting);
Result figure_2a_online(const Setting& setting);
Result figure_2b_online(const Setting& setting);
Result figure_2c_online(const Setting& setting);
Result table_1(const Setting& setting);
Result table_2(const Setting& setting);
Result plasticity(const Setting& setting);
Result appendix_e(const Setting& setting);
Result existing_rules(const Setting& setting);
Result settling(const Setting& setting);
Result traces(const Setting& setting);
Result objective(const Setting& setting);
Result theorem_1(const Setting& setting);
Result fixed_point(const Setting& setting);
Result why_it_fails(const Setting& setting);
Result lambda_readings(const Setting& setting);
Result equal_kurtosis(const Setting& setting);
Result receptive_fields(const Setting& setting);
Result modulator(const Setting& setting);
Result even_moments(const Setting& setting);
Result outliers(const Setting& setting);

}  // namespace demix::paper
