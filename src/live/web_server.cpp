#include "live/web_server.hpp"

#ifdef DEMIX_HAVE_HTTPLIB

#include <httplib.h>
#include <netdb.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <list>
#include <mutex>
#include <thread>

namespace demix::live {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr std::size_t most_connections = 48;
constexpr std::size_t most_request = 16384;  // bytes: line and headers
constexpr auto request_time = 2s;            // for all of a request, from its first byte
constexpr auto write_time = 2s;              // without progress
constexpr auto first_idle = 5s;              // before the first request
constexpr auto idle = 30s;                   // between requests

// Waits for a socket; false if the time is over.
bool wait_for(int socket, short what, Clock::time_point until) {
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
    pollfd fd{socket, what, 0};
    const int ready = ::poll(&fd, 1, static_cast<int>(std::max<std::int64_t>(0, left)));
    if (ready >= 0 || errno != EINTR) return ready > 0;
  }
}

// One request and its response: limits of size and time.
class RequestStream final : public httplib::Stream {
 public:
  explicit RequestStream(int socket) : socket_(socket), until_(Clock::now() + request_time) {}

  bool is_readable() const override { return true; }
  bool is_writable() const override {
    pollfd fd{socket_, POLLOUT | POLLIN, 0};
    return ::poll(&fd, 1, 0) >= 0 && (fd.revents & (POLLERR | POLLHUP)) == 0;
  }
  ssize_t read(char* to, size_t size) override {
    if (at_ == have_ && !fill()) return -1;
    const std::size_t given = std::min(size, have_ - at_);
    std::memcpy(to, buffer_.data() + at_, given);
    at_ += given;
    return static_cast<ssize_t>(given);
  }
  ssize_t write(const char* from, size_t size) override {
    for (std::size_t put = 0; put < size;) {
      const ssize_t n = ::send(socket_, from + put, size - put, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (n > 0) {
        put += static_cast<std::size_t>(n);
      } else if (errno != EINTR && ((errno != EAGAIN && errno != EWOULDBLOCK) ||
                                    !wait_for(socket_, POLLOUT, Clock::now() + write_time))) {
        return -1;
      }
    }
    return static_cast<ssize_t>(size);
  }
  void get_remote_ip_and_port(std::string&, int&) const override {}
  void get_local_ip_and_port(std::string&, int&) const override {}
  socket_t socket() const override { return socket_; }

  bool is_done() const { return at_ == have_; }  // nothing came after the request

 private:
  bool fill() {
    if (taken_ >= most_request || !wait_for(socket_, POLLIN, until_)) return false;
    const ssize_t n = ::recv(socket_, buffer_.data(), std::min(buffer_.size(), most_request - taken_), 0);
    if (n <= 0) return false;
    taken_ += static_cast<std::size_t>(n);
    at_ = 0;
    have_ = static_cast<std::size_t>(n);
    return true;
  }

  int socket_;
  Clock::time_point until_;
  std::array<char, 4096> buffer_{};
  std::size_t at_ = 0, have_ = 0, taken_ = 0;
};

// For bytes that are there already.
class TextStream final : public httplib::Stream {
 public:
  explicit TextStream(const std::string& bytes) : bytes_(bytes) {}
  std::string written;

  bool is_readable() const override { return at_ < bytes_.size(); }
  bool is_writable() const override { return true; }
  ssize_t read(char* to, size_t size) override {
    const std::size_t given =
        std::min({size, bytes_.size() - at_, most_request - std::min(at_, most_request)});
    bytes_.copy(to, given, at_);
    at_ += given;
    return given > 0 ? static_cast<ssize_t>(given) : -1;
  }
  ssize_t write(const char* from, size_t size) override {
    written.append(from, size);
    return static_cast<ssize_t>(size);
  }
  void get_remote_ip_and_port(std::string&, int&) const override {}
  void get_local_ip_and_port(std::string&, int&) const override {}
  socket_t socket() const override { return -1; }

 private:
  const std::string& bytes_;
  std::size_t at_ = 0;
};

Request request_of(const httplib::Request& r) {
  Request out;
  out.method = r.method;
  out.path = r.path;
  out.params = {r.params.begin(), r.params.end()};
  if (r.get_header_value_count("Host") == 1) out.host = r.get_header_value("Host");
  if (r.has_header("Origin")) out.origin = r.get_header_value("Origin");
  if (r.has_header("Sec-Fetch-Site")) out.fetch_site = r.get_header_value("Sec-Fetch-Site");
  out.has_body = r.has_header("Transfer-Encoding") ||
                 (r.has_header("Content-Length") && r.get_header_value("Content-Length") != "0");
  return out;
}

void give(const Response& from, httplib::Response& to) {
  to.status = from.status;
  // Nothing from elsewhere, nothing kept, nothing shown in a frame, and the key is told to nobody.
  to.set_header("Content-Security-Policy",
                "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
                "base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
  to.set_header("X-Content-Type-Options", "nosniff");
  to.set_header("Referrer-Policy", "no-referrer");
  to.set_header("Cross-Origin-Resource-Policy", "same-origin");
  to.set_header("Cache-Control", "no-store");
  if (!from.next) {
    to.set_content(from.body, from.type);
    return;
  }
  to.set_chunked_content_provider(from.type, [next = from.next](std::size_t, httplib::DataSink& sink) {
    std::string part;
    if (!next(part)) {
      sink.done();
      return true;
    }
    return part.empty() || sink.write(part.data(), part.size());
  });
}

// What cpp-httplib is used for: from bytes to a request, from a response to bytes.
class Http final : public httplib::Server {
 public:
  explicit Http(WebServer::Answer answer) {
    set_pre_routing_handler([answer = std::move(answer)](const httplib::Request& r, httplib::Response& out) {
      give(answer(request_of(r)), out);
      return HandlerResponse::Handled;
    });
  }
  /// False if the connection is to be closed. `read`: called when all of the request is there.
  bool serve(
      httplib::Stream& stream, const std::function<void()>& read = [] {}) {
    bool has_body = false;
    bool closed = false;
    const bool well = process_request(stream, false, closed, [&](httplib::Request& r) {
      read();
      has_body = request_of(r).has_body;  // it is not read
      r.ranges.clear();
      r.headers.erase("Accept-Encoding");  // compressing would take longer than sending
    });
    return well && !closed && !has_body;
  }
  void is_listening(bool on) { svr_sock_ = on ? 0 : INVALID_SOCKET; }  // else no response goes on
};

std::string error_text() { return std::strerror(errno); }

}  // namespace

struct WebServer::Sockets {
  struct Connection {
    int socket = -1;
    std::thread thread;
    bool waits = true;  // for a request, or the rest of it
    bool thrown_out = false;
    bool over = false;
    Clock::time_point since = Clock::now();
  };

  int listening = -1;
  int port = 0;
  std::array<int, 2> stop{-1, -1};  // a pipe
  std::unique_ptr<Http> http;
  std::thread accepting;
  std::mutex mutex;  // of what follows
  std::list<Connection> connections;
  bool stopping = false;

  // Responses may come to their end for a moment; then all sockets are shut.
  ~Sockets() {
    for (int moment = 0; moment < 30 && is_answering(); ++moment) std::this_thread::sleep_for(10ms);
    {
      const std::lock_guard lock(mutex);
      stopping = true;
      if (http) http->is_listening(false);
      for (Connection& c : connections) {
        if (!c.over) ::shutdown(c.socket, SHUT_RDWR);
      }
    }
    if (stop[1] >= 0) ::close(stop[1]);
    if (accepting.joinable()) accepting.join();
    for (Connection& c : connections) c.thread.join();
    if (stop[0] >= 0) ::close(stop[0]);
    if (listening >= 0) ::close(listening);
  }

  bool is_answering() {
    const std::lock_guard lock(mutex);
    return std::ranges::any_of(connections, [](const Connection& c) { return !c.over && !c.waits; });
  }

  void listen(const std::string& address, int wanted) {
    const std::string name = address.starts_with('[') ? address.substr(1, address.size() - 2) : address;
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE;
    addrinfo* found = nullptr;
    if (::getaddrinfo(name.c_str(), std::to_string(wanted).c_str(), &hints, &found) != 0)
      throw std::runtime_error("page: " + address + " is not an address in numbers, as 127.0.0.1 is");
    const std::unique_ptr<addrinfo, void (*)(addrinfo*)> freed(found, ::freeaddrinfo);
    const std::string where = address + ":" + std::to_string(wanted);
    listening = ::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int yes = 1;
    ::setsockopt(listening, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (listening < 0 || ::bind(listening, found->ai_addr, found->ai_addrlen) != 0 ||
        ::listen(listening, 64) != 0) {
      if (errno == EADDRINUSE) {
        throw std::runtime_error("page: " + where +
                                 " is in use; name another port, or 0 for any that is free");
      }
      throw std::runtime_error("page: cannot listen at " + where + ": " + error_text());
    }
    sockaddr_storage bound{};
    socklen_t size = sizeof bound;
    ::getsockname(listening, reinterpret_cast<sockaddr*>(&bound), &size);
    port = ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(&bound)->sin6_port
                                             : reinterpret_cast<sockaddr_in*>(&bound)->sin_port);
    if (::pipe2(stop.data(), O_CLOEXEC) != 0) throw std::runtime_error("page: no pipe: " + error_text());
  }

  void accept_all() {
    ::setpriority(PRIO_PROCESS, 0, 5);  // of this thread and those it starts: the stream comes first
    for (;;) {
      std::array<pollfd, 2> fds{{{listening, POLLIN, 0}, {stop[0], POLLIN, 0}}};
      if (::poll(fds.data(), fds.size(), 1000) < 0 && errno != EINTR) return;
      if (fds[1].revents != 0) return;
      std::unique_lock lock(mutex);
      if (stopping) return;
      connections.remove_if([](Connection& c) {
        if (c.over) c.thread.join();
        return c.over;
      });
      if (fds[0].revents == 0) continue;
      if (connections.size() >= 2 * most_connections) {  // those thrown out take a moment to end
        lock.unlock();
        std::this_thread::sleep_for(1ms);
        continue;
      }
      const int socket = ::accept4(listening, nullptr, nullptr, SOCK_CLOEXEC);
      if (socket < 0) {
        lock.unlock();
        if (errno == EMFILE || errno == ENFILE) std::this_thread::sleep_for(50ms);
        continue;
      }
      if (!has_space()) {
        ::close(socket);
        continue;
      }
      Connection& c = connections.emplace_back();
      c.socket = socket;
      const int no_delay = 1;
      ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &no_delay, sizeof no_delay);
      try {
        c.thread = std::thread([this, &c] { serve(c); });
      } catch (const std::system_error&) {  // no more threads
        ::close(socket);
        connections.pop_back();
      }
    }
  }

  // Of too many, the one that has asked nothing for the longest time is thrown out. With the lock held.
  bool has_space() {
    Connection* longest = nullptr;
    std::size_t live = 0;
    for (Connection& c : connections) {
      if (c.over || c.thrown_out) continue;
      ++live;
      if (c.waits && (longest == nullptr || c.since < longest->since)) longest = &c;
    }
    if (live < most_connections) return true;
    if (longest == nullptr) return false;  // all are being answered
    longest->thrown_out = true;
    ::shutdown(longest->socket, SHUT_RDWR);
    return true;
  }

  void serve(Connection& c) {
    const auto set_waiting = [&](bool on) {
      const std::lock_guard lock(mutex);
      c.waits = on;
      c.since = Clock::now();
      return !stopping && !c.thrown_out;
    };
    for (auto longest = Clock::duration(first_idle); set_waiting(true); longest = idle) {
      if (!wait_for(c.socket, POLLIN, Clock::now() + longest)) break;
      RequestStream stream(c.socket);
      if (!http->serve(stream, [&] { set_waiting(false); }) || !stream.is_done()) break;
    }
    const std::lock_guard lock(mutex);
    ::close(c.socket);
    c.over = true;
  }
};

bool WebServer::is_built_in() { return true; }

WebServer::WebServer(const std::string& address, int port) : sockets_(std::make_unique<Sockets>()) {
  sockets_->listen(address, port);
}
WebServer::~WebServer() = default;
int WebServer::port() const { return sockets_->port; }

void WebServer::start(Answer answer) {
  sockets_->http = std::make_unique<Http>(std::move(answer));
  sockets_->http->is_listening(true);
  sockets_->accepting = std::thread([this] { sockets_->accept_all(); });
}

std::string WebServer::talk(const std::string& bytes, const Answer& answer) {
  Http http(answer);
  TextStream stream(bytes);
  while (stream.is_readable() && http.serve(stream)) {
  }
  return stream.written;
}

}  // namespace demix::live

#else

namespace demix::live {

struct WebServer::Sockets {};
bool WebServer::is_built_in() { return false; }
WebServer::WebServer(const std::string&, int) {
  throw std::runtime_error(
      "page: demix was built without cpp-httplib (Debian: libcpp-httplib-dev); install it and build again");
}
WebServer::~WebServer() = default;
int WebServer::port() const { return 0; }
void WebServer::start(Answer) {}
std::string WebServer::talk(const std::string&, const Answer&) { return ""; }

}  // namespace demix::live

#endif
