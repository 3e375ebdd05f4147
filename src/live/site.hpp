#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "live/watch.hpp"

namespace demix::live {

/// A request, without the words of HTTP.
struct Request {
  std::string method, path;
  std::string host, origin, fetch_site;            ///< headers; "" = none
  std::multimap<std::string, std::string> params;  ///< of the address
  bool has_body = false;
};

struct Response {
  int status = 200;
  std::string type = "application/json";
  std::string body;
  /// For a response that goes on: gives what comes next, within half a second; false at the end.
  std::function<bool(std::string& part)> next = {};
};

/// A file of the page, compiled in.
struct PageFile {
  const char* path;
  const char* type;
  std::string_view text;
};
const std::vector<PageFile>& page_files();

/// What is answered to whom. Nothing without the key, nothing under another name or for another site's page,
/// and nothing is done but by POST.
class Site {
 public:
  Site(Watch& watch, int port);
  const std::string& key() const { return key_; }
  Response answer(const Request& request);

 private:
  Response get(const Request& request);
  Response post(const Request& request);
  Response frames(const Request& request);
  Response events();
  Response file(const PageFile& file) const;
  bool allowed_host(const std::string& host) const;

  Watch& watch_;
  int port_;
  std::string key_;
  std::atomic<int> event_streams_{0};
};

/// In a time that does not depend on where they differ.
bool same(std::string_view a, std::string_view b);

}  // namespace demix::live
