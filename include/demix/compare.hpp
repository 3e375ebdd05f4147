#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "demix/methods.hpp"
#include "demix/synthetic.hpp"

/// Online methods side by side, over time, over many random draws: the paper's appendix D. The same seed
/// gives the same numbers with any number of threads.
namespace demix {

/// Below this mean squared error per source (of variance 1), a run counts as having separated.
inline constexpr double separated_mse = 0.05;

/// What is to be separated. Each seed draws sources and a mixing of its own.
struct Problem {
  std::string name;
  std::vector<Source> sources;  ///< synthetic, independent from frame to frame; or ...
  Matrix<double> recording;     ///< ... recorded sources, always the same; standardised when drawn
  bool shuffle = false;         ///< the recording's frames in random order
  bool white = false;           ///< mixtures whitened by their sample covariance
  double condition = 0;         ///< of the mixing; 0 = Gaussian entries
  /// Of `sm-ica:published`, where the paper gives them (table 2).
  double eta = 0, tau = 0;
  std::vector<double> lambda;

  Index size() const;
  Index frames(Index asked) const;  ///< no more than a recording has
  Mixture draw(Index frames, std::uint64_t seed) const;
};

Problem scenario_problem(int scenario);  ///< 1 to 4, with table 2's settings

/// A method and how it takes part.
struct Contender {
  std::string label;
  const Method* method;
  MethodOptions options;
};

/// From NAME[:FORM][@ETA], for example infomax:cubic@5e-4. Throws std::invalid_argument or NoSuchOption.
Contender contender_named(const std::string& text);
/// The paper's six and the stream.
std::vector<Contender> paper_contenders();

struct Run {
  Index contender = 0;
  std::uint64_t seed = 0;
  /// Of the demixing matrix of the moment, its outputs scaled to variance 1, over all frames; NaN from where
  /// the run diverged.
  std::vector<double> mse;
  /// The paper's error of the outputs as they came out, from the first frame to this one.
  std::vector<double> running;
  std::int64_t diverged = 0;  ///< at this frame; 0 = not

  bool separated() const { return diverged == 0 && mse.back() < separated_mse; }
};

struct CompareOptions {
  Index samples = 100000;
  Index seeds = 50;
  std::uint64_t seed = 0;  ///< the first
  int threads = 0;         ///< 0 = one per core
  bool trace = false;      ///< the networks, on the first draw
  ProgressCallback progress = {};
};

struct Comparison {
  std::vector<Index> frames;                           ///< where it was measured, evenly in the logarithm
  std::vector<Run> runs;                               ///< by seed, then contender
  std::vector<std::pair<Index, NetworkTrace>> traces;  ///< contender, and how it learned on the first draw
};

/// Throws std::invalid_argument naming a contender that is not online or cannot be set up for this problem.
void require_suitable(const Problem& problem, const std::vector<Contender>& contenders);

Comparison compare(const Problem& problem, const std::vector<Contender>& contenders,
                   const CompareOptions& options);

/// All runs of one contender. A diverged run counts as infinitely wrong in the quantiles.
struct Summary {
  Index runs = 0, separated = 0, diverged = 0;
  std::vector<double> low, median, high;  ///< quartiles at each of the frames; infinite where runs diverged
};
Summary summarise(const Comparison& comparison, Index contender,
                  std::vector<double> Run::*measure = &Run::mse);

/// Grid search of eta, and of tau where the method has one.
struct Cell {
  double eta = 0, tau = 0;  ///< tau 0: has none
  Index runs = 0, separated = 0, diverged = 0;
  double mse = 0;  ///< median at the end; infinite if half of the runs diverged
};

std::vector<double> paper_etas();  ///< appendix C: 1e-5 ... 1e-2, times 1, 2, 5
std::vector<double> paper_taus();

struct TuneOptions {
  std::vector<double> etas = paper_etas();
  std::vector<double> taus = paper_taus();
  CompareOptions runs{.seeds = 5};
  std::vector<Cell> known;                    ///< from before: not run again
  std::function<void(const Cell&)> finished;  ///< called with each new cell, one at a time
};

/// Cells by tau, then eta.
std::vector<Cell> tune(const Problem& problem, const Contender& contender, const TuneOptions& options);

/// The cell that separates most runs, and of those the one of least error.
const Cell& best(const std::vector<Cell>& cells);

}  // namespace demix
