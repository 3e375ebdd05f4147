#pragma once

#include <optional>
#include <string>

#include "arguments.hpp"
#include "demix/live_page.hpp"

/// `--page` of a stream: where to listen, and what is said about it on stderr.
namespace demix::cli {

/// As it was typed; nothing = no page. "" = the default address.
void add_page_option(Arguments& sub, std::optional<std::string>& where);

struct PageAddress {
  std::string address = "127.0.0.1";
  int port = 8765;
};
/// Of ADDRESS:PORT, [ADDRESS]:PORT or PORT.
std::optional<PageAddress> parse_page_address(const std::string& where);

/// Opens the page and says where; `json`: one object per line. Throws Failure.
std::unique_ptr<live::LivePage> open_page(const std::string& where, live::PageOptions options, bool json);

}  // namespace demix::cli
