#include "demix/assignment.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace demix {

// Shortest augmenting paths with dual variables u (rows) and v (columns): cost(i, j) - u_i - v_j >= 0
// throughout, with equality on matched pairs. Row and column 0 stand for "unmatched"; the rest is counted
// from 1.
std::vector<Index> assign(const Matrix<double>& cost) {
  const Index n = cost.rows();
  if (cost.cols() != n) throw std::invalid_argument("cost: expected a square matrix");
  if (!cost.allFinite()) throw std::invalid_argument("cost: expected finite values");
  const auto size = static_cast<std::size_t>(n) + 1;
  std::vector<double> u(size, 0);
  std::vector<double> v(size, 0);
  std::vector<Index> row_of(size, 0);  // matched row of each column
  for (Index i = 1; i <= n; ++i) {
    std::vector<double> slack(size, std::numeric_limits<double>::infinity());
    std::vector<std::size_t> back(size, 0);
    std::vector<bool> reached(size, false);
    row_of[0] = i;
    std::size_t column = 0;
    do {
      reached[column] = true;
      const Index row = row_of[column];
      double delta = std::numeric_limits<double>::infinity();
      std::size_t next = 0;
      for (std::size_t j = 1; j < size; ++j) {
        if (reached[j]) continue;
        const double reduced =
            cost(row - 1, static_cast<Index>(j) - 1) - u[static_cast<std::size_t>(row)] - v[j];
        if (reduced < slack[j]) {
          slack[j] = reduced;
          back[j] = column;
        }
        if (slack[j] < delta) {
          delta = slack[j];
          next = j;
        }
      }
      for (std::size_t j = 0; j < size; ++j) {
        if (reached[j]) {
          u[static_cast<std::size_t>(row_of[j])] += delta;
          v[j] -= delta;
        } else {
          slack[j] -= delta;
        }
      }
      column = next;
    } while (row_of[column] != 0);
    for (; column != 0; column = back[column]) row_of[column] = row_of[back[column]];
  }
  std::vector<Index> permutation(static_cast<std::size_t>(n));
  for (std::size_t j = 1; j < size; ++j)
    permutation[static_cast<std::size_t>(row_of[j]) - 1] = static_cast<Index>(j) - 1;
  return permutation;
}

}  // namespace demix
