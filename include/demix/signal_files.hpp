#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "demix/channels.hpp"
#include "demix/io.hpp"
#include "demix/recording.hpp"
#include "demix/temporary.hpp"

/// Files of signals of every kind, read and written in blocks of frames, so that they may be larger than
/// memory. signal_stream.hpp reads and writes some of these kinds frame by frame, from pipes too.
namespace demix::io {

struct Annotation {
  double onset = 0;      ///< seconds from the first frame
  double duration = -1;  ///< seconds; -1 = not told
  std::string text;
};

/// Signals beside the channels that have other rates (EDF, BDF), as they are in their file: to be copied.
struct OtherSignals {
  struct Signal {
    std::string label, unit;
    std::string least, most;                  ///< physical limits, as in the header
    int least_digital = 0, most_digital = 0;  ///< what stands for them
    Index samples = 0;                        ///< in a record
  };
  std::vector<Signal> signals;
  Index records = 0, frames = 0;  ///< `frames`: of the channels, in a record
  double seconds = 0;             ///< of a record
  virtual ~OtherSignals() = default;
  virtual void read(Index record, std::vector<int>& digital) const = 0;  ///< one signal after the other
};

/// What a file says of its signals beside the samples.
struct SignalInfo {
  Index channels = 0;
  Index frames = 0;                     ///< 0 = not known before it was read
  double rate = 0;                      ///< frames per second; 0 = unknown
  std::vector<std::string> names = {};  ///< one per channel, or empty
  std::vector<std::string> units = {};  ///< one per channel, or empty
  std::vector<Annotation> annotations = {};
  Index width = 0, height = 0;          ///< pictures: the frames are their pixels, row by row from the top
  std::vector<std::string> notes = {};  ///< what was left out or guessed: for the user to know
  std::vector<ChannelType> types = {};  ///< one per channel, or empty: nothing is known of any
  std::vector<std::optional<Position>> positions = {};  ///< of electrodes: one per channel, or empty
  std::string start = {};                               ///< "2024-03-31T13:45:00", or empty = unknown
  /// EEGLAB: a model of the channels it names, in their units. Its kurtoses are not known: 3.
  std::shared_ptr<const Model> ica = {};
  /// Read besides the file itself: numbers and markers that its header names, tables of BIDS.
  std::vector<std::filesystem::path> files_beside = {};
  std::shared_ptr<const OtherSignals> others = {};  ///< or empty: there are none
};

/// What the rows of a matrix are (.npy, .npz, .mat, text), or what follows each other in raw numbers.
enum class Orientation {
  automatic,  ///< channels where there are fewer rows than columns, else frames; raw: frames
  frames,
  channels,
};

/// What a file may leave open.
struct ReadOptions {
  Index channels = 0;         ///< raw numbers: how many
  double rate = 0;            ///< where the file does not say
  std::string variable = {};  ///< .npz, .mat: which, if there are several
  char delimiter = 0;         ///< text; 0 = found
  std::optional<Index> time_column =
      {};  ///< text: which column, from 1, is the time; 0: none; not given: found
  Orientation orientation = Orientation::automatic;
  bool planes = false;  ///< colour pictures: each plane a channel of its own, else grey
};

/// What several files are to each other.
enum class Join {
  channels,  ///< channels of one recording, of the same length
  frames,    ///< parts of one recording, of the same channels, one after the other
};

/// A file, open. What is wrong with it is thrown as io::Error, in one line.
class SignalReader {
 public:
  virtual ~SignalReader() = default;
  virtual const SignalInfo& info() const = 0;
  /// At most out.cols() frames into the first columns (as many, unless the file ends); 0 = the end.
  virtual Index read(Eigen::Ref<Matrix<double>> out) = 0;
  virtual void rewind() = 0;  ///< to the first frame
  /// Whether any thread can read from any frame on, by read_at: out.cols() frames, which must be there.
  virtual bool random_access() const { return false; }
  virtual void read_at(Index first, Eigen::Ref<Matrix<double>> out) const;
  /// Whether it can be read as the floats it holds, by the second of these.
  virtual bool holds_floats() const { return false; }
  virtual void read_at(Index first, Matrix<float>& out) const;
  /// Rounding unit of what it holds, relative to full scale.
  virtual double resolution() const { return std::numeric_limits<double>::epsilon(); }
};

class SignalWriter {
 public:
  virtual ~SignalWriter() = default;
  virtual void write(const Frames<double>& block) = 0;
  virtual void finish() = 0;  ///< after the last block: all is written, or an Error thrown
};

struct ValueRange {
  double least = 0, most = 0;
};

/// What a kind of file is for, and so how sources are scaled for it.
enum class Kind {
  numbers,    ///< as they are
  sound,      ///< full scale is -1 to 1
  biosignal,  ///< physical units
  picture,    ///< 0 is black, 1 is white
};

/// How frames follow each other where they can be streamed: raw little-endian floats of 32 and 64 bits; whole
/// numbers of 16 and 32 bits, of which the largest is read as 1; RIFF WAVE; text, one frame per line, with
/// commas or tabs.
enum class Encoding { f32, f64, s16, s32, wav, csv, tsv };
std::string_view encoding_name(Encoding encoding);
Encoding encoding_named(std::string_view name);  ///< throws std::invalid_argument listing the names
std::vector<std::string> encoding_names();
/// By extension; nothing for files that cannot be streamed, and for unknown ones.
std::optional<Encoding> encoding_of(const std::filesystem::path& path);

/// One row for each kind of file: adding one is one source file and one row.
struct Format {
  std::string_view name;
  Kind kind;
  std::vector<std::string_view> extensions;  ///< ".wav", ...; lower case, the usual one first
  std::unique_ptr<SignalReader> (*open)(const std::filesystem::path& file, const ReadOptions& options);
  /// `file` may have any name; whoever calls has seen to what is there under it. `ranges`: of every channel,
  /// of all that will be written. Null: it is only read.
  std::unique_ptr<SignalWriter> (*create)(const std::filesystem::path& file, const SignalInfo& info,
                                          const std::vector<ValueRange>& ranges);
  std::optional<Encoding> encoding = {};  ///< of files that can be streamed
  /// Of a recording that is several files: the extensions of those beside it, and how all of them are created
  /// instead of by `create`. `name`: what they are called, without extension.
  std::vector<std::string_view> others = {};
  std::unique_ptr<SignalWriter> (*create_all)(const std::vector<std::filesystem::path>& files,
                                              const std::string& name, const SignalInfo& info,
                                              const std::vector<ValueRange>& ranges) = nullptr;
  bool is_written() const { return create != nullptr || create_all != nullptr; }
};
std::span<const Format> formats();
const Format& format_of(const std::filesystem::path& path);  ///< by extension; throws Error naming them all
/// Whether a file of this name would hold info.others.
bool holds_others(const std::filesystem::path& path, const SignalInfo& info);
std::string extensions_text();  ///< ".wav, .flac, ..." for help and messages

std::unique_ptr<SignalReader> open_signals(const std::filesystem::path& path,
                                           const ReadOptions& options = {});

/// The types of channels that the file does not say, by their names and positions.
void complete_types(SignalInfo& info, Kind kind);

/// Files as a recording: the channels of all of them together, which must agree in length, rate and size; or
/// one after the other, which must agree in channels and rate. What is small enough is read once and kept.
class FileRecording final : public Recording {
 public:
  explicit FileRecording(std::vector<std::filesystem::path> paths, const ReadOptions& options = {},
                         Join join = Join::channels);
  const SignalInfo& info() const { return info_; }
  const std::vector<std::filesystem::path>& paths() const { return paths_; }
  std::vector<std::filesystem::path> files() const;  ///< all that were opened: paths() and those beside them
  const ReadOptions& options() const { return options_; }
  std::string name() const;  ///< for messages: the only file, or the first and how many more
  Index channels() const override { return info_.channels; }
  Index frames() const override { return is_kept_ ? kept_.cols() : info_.frames; }
  double resolution() const override;
  std::unique_ptr<Reading> read() const override;
  bool random_access() const override;
  AnyFrames frames_at(Index first, Index count, FrameBuffer& buffer) const override;

 private:
  class FileReading;
  void join_channels();
  void join_frames();
  Index next(Eigen::Ref<Matrix<double>> out, Index before) const;
  Index next_of_all(Eigen::Ref<Matrix<double>> out, Index before) const;
  template <typename T>
  void read_joined(Index first, Matrix<T>& out) const;
  void keep(const Frames<double>& part, Index before) const;

  std::vector<std::filesystem::path> paths_;
  ReadOptions options_;
  Join join_;
  std::vector<std::unique_ptr<SignalReader>> readers_;
  SignalInfo info_;
  mutable std::size_t current_ = 0;  // of files that follow each other, the one that is read
  mutable Matrix<double> kept_;      // what the first reading has read
  mutable bool is_kept_ = false;     // all of it
  mutable bool is_large_ = false;
};

/// Files that appear together or not at all: each is written under a temporary name beside its own, and all
/// get their names at commit(). What was not committed is removed. Symbolic links are followed.
class NewFiles {
 public:
  std::filesystem::path add(const std::filesystem::path& path);  ///< the temporary name, an empty file
  void write(const std::filesystem::path& path, std::string_view bytes);
  void commit();

 private:
  std::vector<std::filesystem::path> paths_;
  std::vector<Temporary> temporaries_;  // one for each
};

/// A file of signals among others: by the extension of `path`, under its temporary name.
std::unique_ptr<SignalWriter> create_signals(NewFiles& files, const std::filesystem::path& path,
                                             const SignalInfo& info, const std::vector<ValueRange>& ranges);

}  // namespace demix::io
