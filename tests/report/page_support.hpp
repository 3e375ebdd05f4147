#pragma once

#include <iconv.h>

#include <limits>
#include <string>

#include "demix/html_report.hpp"

namespace demix::report::testing {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

inline Summary summary_of(const Matrix<double>& X) {
  Summary s(X.rows());
  s.add(X);
  return s;
}

/// An independent reader: the C library's.
inline bool is_utf8(const std::string& text) {
  const iconv_t reader = ::iconv_open("UTF-32LE", "UTF-8");
  std::string in = text;
  std::string out(4 * text.size() + 4, '\0');
  char* from = in.data();
  char* to = out.data();
  std::size_t left = in.size();
  std::size_t room = out.size();
  const bool ok = ::iconv(reader, &from, &left, &to, &room) != static_cast<std::size_t>(-1) && left == 0;
  ::iconv_close(reader);
  return ok;
}

}  // namespace demix::report::testing
