#include "nearest_word.hpp"

#include <algorithm>
#include <numeric>

namespace demix::cli {
namespace {

// Letters to insert, delete or replace (Levenshtein), row by row of the table of all prefixes.
std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string suggestion(const std::string& typed, const std::vector<std::string>& words) {
  constexpr std::size_t longest = 64;  // nobody means a word by a longer one
  if (typed.size() > longest) return "";
  std::string best;
  std::size_t least = typed.size() / 3 + 1;
  for (const std::string& word : words) {
    const bool is_start = typed.size() > 3 && word.starts_with(typed);
    const std::size_t distance = is_start ? 0 : edit_distance(typed, word);
    if (distance >= least) continue;
    least = distance;
    best = word;
  }
  return best.empty() ? "" : "; did you mean " + best + "?";
}

}  // namespace demix::cli
