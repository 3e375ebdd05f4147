#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "demix/signal_files.hpp"

/// What an EDF file says of times: its start, and the annotations in its records.
namespace demix::io::edf {

/// "2024-03-31T13:45:00", of the first 256 bytes of a file; empty if they hold no date.
std::string start_of(std::string_view header);

/// Annotations are lists of "+onset[\x15duration]\x14text\x14...\x14\0"; the first of a record, without text,
/// is the time it begins at.
class Annotations {
 public:
  explicit Annotations(double record_seconds) : seconds_(record_seconds) {}
  void begin_record();
  void add(std::string_view bytes);  ///< of a signal of annotations in this record
  /// Into info.annotations, in seconds of the frames as they are read: where there are gaps between records,
  /// each is annotated as a boundary.
  void finish(SignalInfo& info, bool may_have_gaps, const std::string& name);

 private:
  void add_list(std::string_view list);
  double frame_time(double time) const;

  double seconds_;
  std::vector<double> begins_;  // of each record; NaN: it does not say
  std::vector<Annotation> found_;
  std::size_t unreadable_ = 0;
};

}  // namespace demix::io::edf
