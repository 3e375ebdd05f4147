#include "page_option.hpp"

#include <charconv>

#include <nlohmann/json.hpp>

#include "console.hpp"

namespace demix::cli {

std::optional<PageAddress> parse_page_address(const std::string& where) {
  PageAddress out;
  if (where.empty()) return out;
  const std::size_t colon = where.rfind(':');
  const std::string port = colon == std::string::npos ? where : where.substr(colon + 1);
  if (colon != std::string::npos) out.address = where.substr(0, colon);
  const bool bracketed = out.address.starts_with('[') && out.address.ends_with(']');
  if (out.address.empty() || (out.address.find(':') != std::string::npos && !bracketed)) return std::nullopt;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), out.port);
  if (error != std::errc() || end != port.data() + port.size() || out.port < 0 || out.port > 65535)
    return std::nullopt;
  return out;
}

void add_page_option(Arguments& sub, std::optional<std::string>& where) {
  sub.option(
         "--page", where,
         "Show the stream in a browser, at this address and port (default 127.0.0.1:8765; port 0 takes any "
         "free one). Anyone with the printed address can watch, mute, rename, mark and save")
      .value("[ADDRESS:PORT]")
      .value_is_optional()
      .check(
          [](const std::string& word) {
            return parse_page_address(word)
                       ? ""
                       : "expected ADDRESS:PORT or a port, got " + word + "; the input comes before --page";
          },
          "");
}

std::unique_ptr<live::LivePage> open_page(const std::string& where, live::PageOptions options, bool json) {
  const PageAddress at = parse_page_address(where).value();
  options.address = at.address;
  options.port = at.port;
  options.tell = [json](const std::string& line, const std::string& object) {
    if (json) {
      write_to_stderr(object + "\n");
    } else {
      message("{}", line);
    }
  };
  try {
    auto page = std::make_unique<live::LivePage>(options);
    if (json) {
      write_to_stderr(nlohmann::json{{"page", page->address()}}.dump() + "\n");
    } else {
      message("demix: watch at {}", page->address());
    }
    if (!at.address.starts_with("127.") && at.address != "[::1]") {
      message(
          "warning: the page can be reached from other machines, and nothing is encrypted: whoever sees the "
          "address on the network can watch and act");
    }
    return page;
  } catch (const std::runtime_error& e) {
    throw Failure(e.what());
  }
}

}  // namespace demix::cli
