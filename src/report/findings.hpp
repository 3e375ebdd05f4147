#pragma once

#include <string>
#include <vector>

#include "demix/html_report.hpp"

/// What the page has to say about a model, in words and numbers.
namespace demix::report {

/// What to know before trusting it, each a sentence or two.
std::vector<std::string> warnings_in_words(const Model& model);

/// Channels x components: how much of the channel's deviation, in what was learned from, the component makes,
/// with its sign (their correlation, if the components are uncorrelated).
Matrix<double> weights_of(const Page& page);

}  // namespace demix::report
