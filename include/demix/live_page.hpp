#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "demix/electrodes.hpp"
#include "demix/stream_separator.hpp"

/// A page in a browser to watch a stream, beside the stream: docs/live.md. The stream's thread puts frames
/// into a ring and never waits; threads of the page look at them and answer the browser.
namespace demix::live {

struct PageOptions {
  std::string address = "127.0.0.1";  ///< to listen on
  int port = 8765;                    ///< 0 = any that is free
  std::string title;
  double rate = 0;  ///< frames per second, 0 = unknown
  Index channels = 1;
  Index outputs = 1;
  std::vector<std::string> names;  ///< of the channels, or empty
  eeg::Positions positions;        ///< of the channels, where they are electrodes; or empty
  StreamOptions stream;
  std::vector<Index> muted;      ///< at the start; outputs from 0
  bool frozen = false;           ///< at the start
  bool writes_channels = false;  ///< what comes out: the channels without muted outputs, else the outputs
  std::string model_file;        ///< where to save the model when asked to; "" = nowhere
  /// Called by other threads for whatever is done on the page: a line for people, and JSON.
  std::function<void(const std::string& line, const std::string& json)> tell;
};

/// What the page wants of the stream.
struct Wishes {
  std::vector<Index> muted;  ///< outputs from 0, in order
  bool frozen = false;
};

class LivePage {
 public:
  static bool is_built_in();  ///< else the constructor says what is missing

  /// Listens. Throws std::runtime_error with one line if it cannot.
  explicit LivePage(const PageOptions& options);
  ~LivePage();  ///< within a second, whatever browsers do
  LivePage(const LivePage&) = delete;
  LivePage& operator=(const LivePage&) = delete;

  std::string address() const;  ///< http://127.0.0.1:8765/?key=...

  // For the stream's thread. None of these waits, locks or allocates.
  /// Frames `first`, first + 1, ...: channels X and outputs Y. What there is no space for is left out.
  void show(std::int64_t first, const Frames<double>& X, const Frames<double>& Y) noexcept;
  bool wants_snapshot() const noexcept;  ///< some times a second
  template <typename T>
  void show_state(const StreamSeparator<T>& stream);
  /// False if nothing changed since it was last asked.
  bool take(Wishes& wishes) noexcept;

  /// Names given to outputs, into the options of a model of those in use.
  void add_names(Model& model, const Matrix<double>& unmixing) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace demix::live
