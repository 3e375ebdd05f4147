#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "demix/separate_files.hpp"

namespace demix {

/// Frames at which a recording has a gap, or a new epoch begins: annotated as "boundary" or "New Segment".
std::vector<Index> boundaries_of(const io::SignalInfo& info);

/// What a recording becomes before it is learned from: some of its channels, filtered, referenced, decimated.
class BeforeFit {
 public:
  BeforeFit(const io::FileRecording& mixtures, const FitOptions& options);
  BeforeFit(const BeforeFit&) = delete;
  const Recording& recording() const { return *last_; }
  const std::vector<Index>& picks() const { return picks_; }  ///< channels that are learned from
  const std::vector<Segment>& bad() const { return bad_; }    ///< found, in frames of the recording as it is
  /// Makes the model one of the recording as it is: its channels' names, their means, the reference; and what
  /// was done as options.
  void describe(Model& model) const;

 private:
  void filter();
  void look_for_bad();
  void leave_out(const std::vector<Index>& kept);
  void keep_if_small();

  const io::FileRecording& mixtures_;
  const FitOptions& options_;
  std::vector<Index> picks_;
  std::vector<std::unique_ptr<const Recording>> stages_;
  std::deque<Matrix<double>> kept_;
  const Recording* last_;
  std::vector<Segment> bad_;
  Vector<double> mean_;  // of the channels as they are, where filters take it away
  bool is_changed_ = false;
};

}  // namespace demix
