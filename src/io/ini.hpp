#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Text of the kind [Section], Key=Value.
namespace demix::io {

std::string lower_case(std::string_view text);
std::vector<std::string> split(std::string_view text,
                               char separator);  ///< at least one, without blanks around

class Ini {
 public:
  /// Up to a section [Comment]; lines that begin with ; are left out.
  explicit Ini(std::string_view text);
  using Lines = std::vector<std::pair<std::string, std::string>>;  // keys in lower case, values in UTF-8
  const Lines& section(const std::string& name) const;             ///< in lower case; empty if there is none
  std::string value(const std::string& section, std::string_view key) const;  ///< empty if there is none
  /// 12 of "ch12".
  static std::optional<std::size_t> number_after(std::string_view key, std::string_view prefix);

 private:
  std::vector<std::pair<std::string, Lines>> sections_;
};

}  // namespace demix::io
