#pragma once

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

#include "live/site.hpp"

namespace demix::live {

/// Sockets and threads: one per connection, of which there are few. Requests are read and responses written
/// by cpp-httplib; its own pool of threads would let connections that say nothing keep others waiting.
class WebServer {
 public:
  using Answer = std::function<Response(const Request&)>;

  static bool is_built_in();

  /// Listens at once; answers from start() on. Throws std::runtime_error with one line.
  WebServer(const std::string& address, int port);
  ~WebServer();  ///< ends all connections, whatever they are doing
  int port() const;
  void start(Answer answer);

  /// What is written in answer to these bytes, without a socket: for tests and the fuzzer.
  static std::string talk(const std::string& bytes, const Answer& answer);

 private:
  struct Sockets;
  std::unique_ptr<Sockets> sockets_;
};

}  // namespace demix::live
