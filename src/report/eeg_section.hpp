#pragma once

#include <string>

#include "demix/html_report.hpp"

/// The sections of the page that an EEG has besides.
namespace demix::report {

std::string suggestions(const Page& page);
std::string component_cards(const Page& page);
std::string eeg_table(const Page& page);
std::string viewer(const Page& page);
std::string eeg_script();  ///< sorts the table, and draws and scrolls the viewer

}  // namespace demix::report
