#include "signals.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <thread>

#include "console.hpp"
#include "demix/temporary.hpp"

namespace demix::cli {
namespace {

using Pipe = std::array<int, 2>;

Pipe ending{-1, -1};    // the signal by which to end, for the thread that waits for it
Pipe stopping{-1, -1};  // something to read once an orderly stop was asked for
std::atomic<bool> in_order = false;
std::atomic<bool> requested = false;
std::atomic<bool> told_to_end = false;

void open_pipe(Pipe& pipe) {
  if (::pipe2(pipe.data(), O_CLOEXEC | O_NONBLOCK) != 0) throw Failure("cannot make a pipe");
}

// Only what may be done in a handler: others do the work.
void on_signal(int signal) {
  const int saved = errno;
  const bool first = in_order && !requested.exchange(true);
  if (!first) told_to_end = true;
  const auto byte = static_cast<unsigned char>(signal);
  [[maybe_unused]] const ssize_t put = ::write(first ? stopping[1] : ending[1], &byte, 1);
  errno = saved;
}

void install(int signal, int flags) {
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = flags;
  ::sigaction(signal, &action, nullptr);
}

void end_when_told() {
  unsigned char signal = 0;
  while (::read(ending[0], &signal, 1) != 1) {
  }
  remove_temporaries();
  std::signal(signal, SIG_DFL);
  ::kill(::getpid(), signal);
  for (;;) ::pause();
}

}  // namespace

void catch_signals() {
  open_pipe(ending);
  ::fcntl(ending[0], F_SETFL, 0);  // it is waited for
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);  // the thread gets no signals: they are for whoever waits
  std::thread(end_when_told).detach();
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  for (const int signal : {SIGINT, SIGTERM}) {
    struct sigaction now {};
    ::sigaction(signal, nullptr, &now);
    if (now.sa_handler != SIG_IGN) install(signal, SA_RESTART);
  }
}

void stop_in_order() {
  open_pipe(stopping);
  in_order = true;
  for (const int signal : {SIGINT, SIGTERM}) install(signal, 0);  // no restart: waiting ends
}

void end_if_told() {
  while (told_to_end) ::pause();  // the thread that waits for it is about to
}

bool stop_requested() { return requested; }
int stop_descriptor() { return stopping[0]; }

}  // namespace demix::cli
