#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "demix/eeg_files.hpp"
#include "demix/filters.hpp"
#include "demix/methods.hpp"
#include "demix/output_files.hpp"
#include "demix/part_moments.hpp"
#include "demix/signal_files.hpp"

/// From files to files: what the program's `separate`, `fit` and `apply` do.
///
///   const demix::io::FileRecording mixtures({"mic1.wav", "mic2.wav"});
///   const demix::SeparatedFiles out = demix::separate_files(mixtures, "out");
///
/// All outputs get their names together, or none does. No file that is read is replaced: io::FileConflict.
namespace demix {

/// What to learn from, and by which method.
struct FitOptions {
  struct TimeSpan {
    double from = 0, to = 0;  ///< seconds, or frames where the rate is unknown
  };
  std::string method = "auto";          ///< a name of the table of methods
  MethodOptions options;                ///< of the method
  std::vector<TimeSpan> bad;            ///< not learned from
  bool bad_annotations = false;         ///< nor from what the file annotates as bad
  bool find_bad = false;                ///< nor from segments with extreme values, which are looked for
  std::filesystem::path frame_weights;  ///< a file of one number per frame, how much it counts; or empty

  /// Which channels to learn from: types, names, patterns with * and ?. Without `pick`, of biosignals: the
  /// EEG, where types are known.
  std::vector<std::string> pick, exclude;
  bool find_bad_channels = false;  ///< flat, much larger than the others, unlike all others: not learned from
  bool average_reference = false;  ///< learn from each channel less the mean of all that are learned from
  FilterOptions filters;           ///< to learn from; the model is one of the recording as it is
  std::function<void(const std::string&)> note;  ///< is told what was left out
};

/// Errors name the file. Throws std::invalid_argument, io::Error, or Diverged.
Outcome fit_files(const io::FileRecording& mixtures, const FitOptions& options = {});

/// The sums of a recording that merge_parts() asks for, in these coordinates, or its own, which it then
/// tells. Of `options`: method, bad, frame_weights.
PartMoments moments_of_file(const io::FileRecording& mixtures, std::optional<PartCoordinates>& coordinates,
                            const FitOptions& options = {});

struct SeparateFilesOptions {
  FitOptions fit;
  std::vector<std::filesystem::path> truth;  ///< files of the true sources, for the report; or none
  EegOptions eeg;
  bool report = true;           ///< write report.html
  bool filter_output = false;   ///< write the sources filtered as what was learned from
  std::filesystem::path trace;  ///< networks: how they learned (trace_files.hpp); or empty
  std::string command;          ///< what the report says it was made by; or empty
};

struct SeparatedFiles {
  Model model;
  std::string why;                             ///< this method, if it was left to demix
  io::Kind kind = io::Kind::numbers;           ///< of the files of sources
  std::vector<std::filesystem::path> sources;  ///< one file, or one for each source (sound, pictures)
  std::vector<io::Scaling> scaling;            ///< of the sources in their files; none: as they are
  std::vector<std::string> strongest_on;       ///< of each component: the channel it matters most to
  std::filesystem::path model_file, report_file, summary_file;  ///< report_file: empty = not written
  std::vector<std::filesystem::path> trace_files;               ///< the archive and its pictures
  std::string no_picture;             ///< of the trace, if it could not be drawn: why
  std::string summary;                ///< what summary_file holds: JSON
  std::vector<std::string> left_out;  ///< channels and stretches that were not learned from, and why
};

/// Sources come back in the kind of file the mixtures came in, beside model.json, report.html and
/// summary.json. The folder is made if it is not there.
SeparatedFiles separate_files(const io::FileRecording& mixtures, const std::filesystem::path& folder,
                              const SeparateFilesOptions& options = {});

struct AppliedFiles {
  std::vector<std::filesystem::path> files;
  std::vector<io::Scaling> scaling;  ///< of the sources in their files; none: as they are
  Index frames = 0;
  Index unusable = 0;  ///< frames that hold NaN, Inf or values whose squares overflow, see apply_to_files()
  std::string note;    ///< what became of signals of other rates; empty if there are none
};

/// The sources of a recording by a model or, if `without` is given, the channels without these components
/// (from 0). Channels that the model is not of are kept as they are, those of other rates too, from EDF and
/// BDF to EDF and BDF. Several pictures get numbered names. Sources of frames that are unusable are 0, as
/// those of a stream; channels of such frames stay as they are. Throws io::Error if all are.
AppliedFiles apply_to_files(const Model& model, const io::FileRecording& mixtures,
                            const std::filesystem::path& output,
                            const std::optional<std::vector<Index>>& without = {});

/// How many frames a model could not be applied to, and what became of them; "" if there are none.
/// `channels`: these are written, not sources.
std::string unusable_text(std::int64_t unusable, std::int64_t frames, bool channels);

}  // namespace demix
