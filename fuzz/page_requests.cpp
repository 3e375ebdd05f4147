#include "live/site.hpp"
#include "live/web_server.hpp"
#include "targets.hpp"

namespace demix::fuzz {

// A connection's bytes, with the key where they say KEY. Without it nothing is answered but a refusal; what
// is answered is short, and the page goes on.
namespace {

// One for all inputs: making it takes longer than answering.
struct Page {
  static live::PageOptions options() {
    live::PageOptions o;
    o.channels = o.outputs = 2;
    o.title = "fuzz";
    return o;
  }
  live::Watch watch{options()};
  live::Site site{watch, 8765};
  Page() {
    live::FrameRing ring(2, 2);
    const Matrix<double> X = Matrix<double>::Identity(2, 2).replicate(1, 50);
    ring.push(0, X, X);
    watch.drain(ring);
    watch.finish();  // events come to an end
  }
};

}  // namespace

// A connection's bytes, with the key where they say KEY. Without it nothing is answered but a refusal; what
// is answered is short, and the page goes on.
std::string ask_page(std::string_view bytes) {
  if (!live::WebServer::is_built_in()) return "built without cpp-httplib";
  static Page page;
  const auto answer = [&](const live::Request& r) { return page.site.answer(r); };
  const std::string& key = page.site.key();

  const std::string without = live::WebServer::talk(std::string(bytes), answer);
  require(without.find(" 200 OK") == std::string::npos, "nothing is answered without the key");
  require(without.find(key) == std::string::npos, "the key is told to nobody");

  std::string keyed(bytes);
  for (std::size_t at = 0; (at = keyed.find("KEY", at)) != std::string::npos; at += key.size())
    keyed.replace(at, 3, key);
  const std::string with = live::WebServer::talk(keyed, answer);
  require(with.size() < std::size_t{1} << 25, "answers are short");
  require(answer({}).status == 403, "the page goes on");
  return with.find(" 200 OK") == std::string::npos ? "refused" : "";
}

}  // namespace demix::fuzz
