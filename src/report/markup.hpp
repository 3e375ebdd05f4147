#pragma once

#include <string>
#include <string_view>

/// Text for an HTML page that is XML too.
namespace demix::report::markup {

/// Shows as it is, between tags or in an attribute. What is not UTF-8, or not allowed in XML, becomes U+FFFD.
std::string escaped(std::string_view text);

std::string base64(std::string_view bytes);

/// The address of a file, from the folder of the page.
std::string address(std::string_view file);

/// Three digits; a dash if it is no number.
std::string number(double x);

/// With commas between the thousands.
std::string count(long long n);

/// A time or a duration: 0.25 s, 12.3 s, 2:05 min, 1:02:05 h.
std::string time(double seconds);

}  // namespace demix::report::markup
