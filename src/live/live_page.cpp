#include "demix/live_page.hpp"

#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "live/frame_ring.hpp"
#include "live/latest.hpp"
#include "live/site.hpp"
#include "live/watch.hpp"
#include "live/web_server.hpp"

namespace demix::live {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto between_snapshots = std::chrono::milliseconds(200);

}  // namespace

struct LivePage::Parts {
  explicit Parts(const PageOptions& options)
      : server(std::make_unique<WebServer>(options.address, options.port)),
        watch(options),
        site(watch, server->port()),
        ring(std::min(options.channels, Watch::most_shown), std::min(options.outputs, Watch::most_shown)),
        latest({.counts = {},
                .unmixing = Matrix<double>::Zero(options.outputs, options.channels),
                .mixing = Matrix<double>::Zero(options.channels, options.outputs),
                .mean = Vector<double>::Zero(options.channels)}),
        server_address("http://" + options.address + ":" + std::to_string(server->port()) +
                       "/?key=" + site.key()) {
    server->start([this](const Request& r) { return site.answer(r); });
    looking = std::thread([this] { look(); });
  }

  // From the ring into the history, until the stream is over.
  void look() {
    ::setpriority(PRIO_PROCESS, 0, 5);  // of this thread: the stream comes first
    for (bool over = false; !over;) {
      over = stopping;
      if (latest.update()) watch.take(latest.value());
      while (watch.drain(ring)) {
      }
      if (!over) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }

  ~Parts() {
    stopping = true;
    looking.join();
    watch.finish();
    server.reset();  // before what it answers from
  }

  std::unique_ptr<WebServer> server;
  Watch watch;
  Site site;
  FrameRing ring;
  Latest<Snapshot> latest;
  std::string server_address;
  Clock::time_point next_snapshot{};
  std::atomic<bool> stopping{false};
  std::thread looking;
};

bool LivePage::is_built_in() { return WebServer::is_built_in(); }
LivePage::LivePage(const PageOptions& options) : parts_(std::make_unique<Parts>(options)) {}
LivePage::~LivePage() = default;
std::string LivePage::address() const { return parts_->server_address; }

void LivePage::show(std::int64_t first, const Frames<double>& X, const Frames<double>& Y) noexcept {
  parts_->ring.push(first, X, Y);
}

bool LivePage::wants_snapshot() const noexcept { return Clock::now() >= parts_->next_snapshot; }

template <typename T>
void LivePage::show_state(const StreamSeparator<T>& stream) {
  parts_->next_snapshot = Clock::now() + between_snapshots;
  Snapshot& s = parts_->latest.draft();
  s.counts = stream.counts();
  stream.copy_unmixing(s.unmixing);
  s.mixing = stream.mixing();
  s.mean = stream.mean();
  parts_->latest.publish();
}
template void LivePage::show_state(const StreamSeparator<float>& stream);
template void LivePage::show_state(const StreamSeparator<double>& stream);

bool LivePage::take(Wishes& wishes) noexcept { return parts_->watch.wishes().take(wishes); }

void LivePage::add_names(Model& model, const Matrix<double>& unmixing) const {
  parts_->watch.add_names(model, unmixing);
}

}  // namespace demix::live
