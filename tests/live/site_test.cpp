#include "live/site.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cannot_run.hpp"
#include "demix/io.hpp"
#include "demix/random.hpp"
#include "live/web_server.hpp"

namespace demix::live {
namespace {

using nlohmann::json;

class SiteTest : public testing::Test {
 protected:
  static PageOptions options() {
    PageOptions o;
    o.title = "<b>a & b</b>";
    o.rate = 1000;
    o.channels = o.outputs = 3;
    o.names = {"A<1>", "B\xff", "C"};
    o.model_file =
        (std::filesystem::temp_directory_path() / ("site_test_" + std::to_string(::getpid()) + ".json"))
            .string();
    o.tell = [](const std::string& line, const std::string& object) {
      told().push_back(line + " | " + object);
    };
    return o;
  }
  static std::vector<std::string>& told() {
    static std::vector<std::string> lines;
    return lines;
  }

  // A stream of three sources that has been learned from.
  void SetUp() override {
    told().clear();
    Random random(1);
    StreamSeparator<double> stream(3);
    FrameRing ring(3, 3);
    const Matrix<double> A = random.normal(3, 3);
    Matrix<double> x(3, 1);
    Vector<double> y(3);
    for (Index t = 0; t < 5000; ++t) {
      x.col(0) = A * Vector<double>{{random.laplace(), random.uniform() - 0.5, random.laplace()}};
      stream.step(x, y);
      ring.push(t, x, y);
      watch.drain(ring);
    }
    Snapshot s;
    s.counts = stream.counts();
    stream.copy_unmixing(s.unmixing);
    s.mixing = stream.mixing();
    s.mean = stream.mean();
    watch.take(s);
    expected = stream.status();
  }
  void TearDown() override { std::filesystem::remove(watch.options().model_file); }

  Request request(const std::string& method, const std::string& path,
                  std::multimap<std::string, std::string> params = {}) {
    Request r;
    r.method = method;
    r.path = path;
    r.host = "127.0.0.1:8765";
    r.params = std::move(params);
    r.params.emplace("key", site.key());
    return r;
  }
  Response get(const std::string& path, std::multimap<std::string, std::string> params = {}) {
    return site.answer(request("GET", path, std::move(params)));
  }
  Response post(const std::string& path, std::multimap<std::string, std::string> params = {}) {
    return site.answer(request("POST", path, std::move(params)));
  }

  Watch watch{options()};
  Site site{watch, 8765};
  StreamStatus expected;
};

TEST_F(SiteTest, AnswersNothingWithoutTheKey) {
  for (const char* path : {"/", "/status", "/events", "/frames", "/model.json", "/page.js", "/nothing"}) {
    for (const std::string& key :
         {std::string(), std::string(32, '0'), site.key() + "0", site.key().substr(1)}) {
      Request r = request("GET", path);
      r.params = {{"key", key}};
      const Response answer = site.answer(r);
      EXPECT_EQ(answer.status, 403) << path;
      EXPECT_LT(answer.body.size(), 100U);
      EXPECT_EQ(answer.body.find(site.key()), std::string::npos);
    }
  }
  EXPECT_TRUE(same("abc", "abc"));
  EXPECT_FALSE(same("abc", "abd"));
  EXPECT_FALSE(same("", "abc"));
  EXPECT_FALSE(same("abcd", "abc"));
}

TEST_F(SiteTest, AnswersToItsOwnNameAndItsOwnPageOnly) {
  const auto status = [&](const std::string& host, const std::string& origin, const std::string& fetch_site) {
    Request r = request("GET", "/status");
    r.host = host;
    r.origin = origin;
    r.fetch_site = fetch_site;
    return site.answer(r).status;
  };
  for (const char* host : {"127.0.0.1:8765", "localhost:8765", "[::1]:8765", "192.168.1.7:8765"})
    EXPECT_EQ(status(host, "", ""), 200) << host;
  for (const char* host :
       {"", "127.0.0.1", "evil.example:8765", "127.0.0.1:80", "127.0.0.1.evil.example:8765",
        "localhost.evil:8765", "127.0.0.1:8765:8765", "[evil]:8765", ":8765", "a@127.0.0.1:8765"}) {
    EXPECT_EQ(status(host, "", ""), 403) << host;
  }
  EXPECT_EQ(status("127.0.0.1:8765", "http://127.0.0.1:8765", "same-origin"), 200);
  EXPECT_EQ(status("127.0.0.1:8765", "http://evil.example", ""), 403);
  EXPECT_EQ(status("127.0.0.1:8765", "null", ""), 403);
  EXPECT_EQ(status("127.0.0.1:8765", "http://localhost:8765", ""), 403);
  EXPECT_EQ(status("127.0.0.1:8765", "", "cross-site"), 403);
  EXPECT_EQ(status("127.0.0.1:8765", "", "none"), 200);
}

TEST_F(SiteTest, ActsByPostOnly) {
  for (const char* path : {"/mute", "/freeze", "/rename", "/mark", "/save"}) {
    EXPECT_EQ(get(path, {{"output", "1"}}).status, 404) << path;
    EXPECT_EQ(site.answer(request("PUT", path)).status, 405) << path;
    Request r = request("POST", path);
    r.has_body = true;
    EXPECT_EQ(site.answer(r).status, 413);
  }
  EXPECT_TRUE(told().empty());
  EXPECT_EQ(post("/status").status, 404);
}

TEST_F(SiteTest, TellsTheStatusOfTheStream) {
  const json s = json::parse(get("/status").body);
  EXPECT_EQ(s["frames"], 5000);
  EXPECT_EQ(s["rank"], 3);
  EXPECT_EQ(s["title"], "<b>a & b</b>");
  EXPECT_EQ(s["channel_names"][1], "B\xef\xbf\xbd");
  EXPECT_EQ(s["settled"], expected.settled);
  EXPECT_EQ(s["moved"], expected.moved);
  double power = 0;
  for (Index k = 0; k < 3; ++k) {  // the sample is all frames, as the stream's own; these are floats
    EXPECT_NEAR(s["kurtosis"][static_cast<std::size_t>(k)], expected.kurtosis(k), 1e-3);
    power += s["power"][static_cast<std::size_t>(k)].get<double>();
  }
  EXPECT_NEAR(s["expected_error"], *expected.expected_mse, 0.01 * *expected.expected_mse);
  EXPECT_NEAR(power, 1, 1e-2);
  const json o = json::parse(get("/output", {{"output", "2"}}).body);
  EXPECT_EQ(o["weights"].size(), 3U);
  EXPECT_EQ(o["spectrum"].size(), 512U);
  EXPECT_TRUE(o["map"].is_null());  // no positions were given
}

TEST_F(SiteTest, GivesTheModelAndSavesIt) {
  post("/rename", {{"output", "2"}, {"name", "blink \"<script>\""}});
  const Model model = io::parse_model(get("/model.json").body, "the page");
  EXPECT_EQ(model.components(), 3);
  EXPECT_EQ(model.options.at("name of component 2"), "blink \"<script>\"");
  EXPECT_EQ(post("/save").status, 200);
  EXPECT_EQ(io::load_model(watch.options().model_file).unmixing, model.unmixing);
  EXPECT_NE(told().back().find("saved"), std::string::npos);
}

TEST_F(SiteTest, TakesActionsAndTellsOfThem) {
  Wishes wishes;
  EXPECT_FALSE(watch.wishes().take(wishes));
  EXPECT_EQ(post("/mute", {{"output", "3"}}).status, 200);
  EXPECT_EQ(post("/freeze").status, 200);
  ASSERT_TRUE(watch.wishes().take(wishes));
  EXPECT_EQ(wishes.muted, std::vector<Index>{2});
  EXPECT_TRUE(wishes.frozen);
  EXPECT_FALSE(watch.wishes().take(wishes));
  post("/mute", {{"output", "3"}, {"on", "0"}});
  post("/mark", {{"text", "eyes closed"}});
  const json s = json::parse(get("/status").body);
  EXPECT_EQ(s["muted"].size(), 0U);
  EXPECT_EQ(s["marks"][0]["text"], "eyes closed");
  EXPECT_EQ(s["marks"][0]["frame"], 5000);
  ASSERT_EQ(told().size(), 4U);
  EXPECT_EQ(told()[0], R"(frame 5000: mute source 3 | {"action":"mute","output":3,"frame":5000})");

  Response events = get("/events");
  std::string part;
  ASSERT_TRUE(events.next(part));
  EXPECT_TRUE(part.starts_with("event: status\ndata: {"));
  part.clear();
  post("/mark", {{"text", "a\xc3\xa9"}});
  ASSERT_TRUE(events.next(part));
  EXPECT_TRUE(part.starts_with("event: action\ndata: {\"action\":\"mark\""));
  watch.finish();
  part.clear();
  ASSERT_TRUE(events.next(part));
  EXPECT_NE(part.find("\"ended\":true"), std::string::npos);
  EXPECT_FALSE(events.next(part));
}

TEST_F(SiteTest, RefusesWhatMakesNoSense) {
  for (const char* output : {"", "0", "4", "-1", "1x", "99999999999999999999", "1.5"})
    EXPECT_EQ(post("/mute", {{"output", output}}).status, 400) << output;
  EXPECT_EQ(post("/rename", {{"output", "1"}, {"name", std::string(61, 'a')}}).status, 400);
  EXPECT_EQ(post("/rename", {{"output", "1"}, {"name", "a\nb"}}).status, 400);
  EXPECT_EQ(post("/mark", {{"text", std::string(201, 'a')}}).status, 400);
  EXPECT_EQ(get("/frames", {{"step", "0"}}).status, 400);
  EXPECT_EQ(get("/frames", {{"count", "4097"}}).status, 400);
  EXPECT_EQ(get("/frames", {{"first", "6"}}).status, 400);
  EXPECT_EQ(get("/frames", {{"first", "5"}, {"rows", "2"}}).status, 400);
  EXPECT_EQ(get("/output", {{"output", "9"}}).status, 400);
  EXPECT_EQ(get("/../etc/passwd").status, 404);
  EXPECT_TRUE(told().empty());
}

TEST_F(SiteTest, LimitsHowManyWatch) {
  std::vector<Response> streams;
  for (int k = 0; k < 16; ++k) {
    streams.push_back(get("/events"));
    EXPECT_EQ(streams.back().status, 200);
  }
  EXPECT_EQ(get("/events").status, 503);
  streams.clear();
  EXPECT_EQ(get("/events").status, 200);
}

TEST_F(SiteTest, SurvivesMalformedRequests) {
  if (!WebServer::is_built_in()) DEMIX_CANNOT_RUN("no cpp-httplib");
  const auto talk = [&](const std::string& bytes) {
    return WebServer::talk(bytes, [&](const Request& r) { return site.answer(r); });
  };
  const std::string good = "GET /status?key=" + site.key() + " HTTP/1.1\r\nHost: 127.0.0.1:8765\r\n\r\n";
  EXPECT_TRUE(talk(good).starts_with("HTTP/1.1 200 OK\r\n"));
  EXPECT_NE(talk(good + good).find("}HTTP/1.1 200 OK"), std::string::npos);
  EXPECT_TRUE(
      talk("GET /status?key=" + site.key() + " HTTP/1.1\r\nHost: 127.0.0.1:8765\r\nHost: evil\r\n\r\n")
          .starts_with("HTTP/1.1 403"));
  const std::string post = "POST /mark?key=" + site.key() + "&text=x HTTP/1.1\r\nHost: 127.0.0.1:8765\r\n";
  EXPECT_TRUE(talk(post + "Content-Length: 5\r\n\r\nhello" + good).starts_with("HTTP/1.1 413"));
  EXPECT_EQ(talk(post + "Content-Length: 5\r\n\r\nhello" + good).find("200 OK"), std::string::npos);
  EXPECT_TRUE(talk(post + "Content-Length: 0\r\n\r\n").starts_with("HTTP/1.1 200"));
  EXPECT_EQ(talk(post + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n").find("200 OK"),
            std::string::npos);
  talk("GET /status HTTP/1.1\r\nRange: bytes=" + std::string(8000, '1') + "-\r\n\r\n");
  talk("GET /" + std::string(15000, 'a') + " HTTP/1.1\r\n\r\n");
  Random random(1);
  for (int round = 0; round < 10000; ++round) {  // none is answered with anything but a refusal
    std::string bytes = good;
    const std::size_t key = bytes.find(site.key());
    bytes[key + static_cast<std::size_t>(random.below(32))] = 'x';
    for (Index k = 1 + random.below(8); k > 0; --k) {
      const auto at = static_cast<std::size_t>(random.below(static_cast<Index>(bytes.size())));
      switch (random.below(4)) {
        case 0:
          bytes[at] = static_cast<char>(random.below(256));
          break;
        case 1:
          bytes.erase(at, static_cast<std::size_t>(random.below(6)));
          break;
        case 2:
          bytes.insert(at, bytes.substr(at / 2, static_cast<std::size_t>(random.below(40))));
          break;
        default:
          bytes.insert(at, static_cast<std::size_t>(random.below(100)), "\r\n :%&=\0"[random.below(8)]);
      }
      if (bytes.empty()) break;
    }
    if (bytes.find(site.key()) != std::string::npos) continue;  // the key was put right again
    EXPECT_EQ(talk(bytes).find(" 200 OK"), std::string::npos) << bytes;
  }
}

}  // namespace
}  // namespace demix::live
