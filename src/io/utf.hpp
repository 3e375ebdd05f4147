#pragma once

#include <string>
#include <string_view>

namespace demix::io {

std::string to_utf8(std::u16string_view text);
std::u16string to_utf16(std::string_view text);  ///< bytes that are not UTF-8 are taken as Latin-1
std::string as_utf8(std::string_view text);      ///< itself, or taken as Latin-1 if it is not UTF-8
std::string decimals(double value);              ///< the fewest that read back the same

}  // namespace demix::io
