#include "stream_options.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "arguments.hpp"
#include "demix/io.hpp"
#include "demix/signal_stream.hpp"

namespace demix::cli {

std::vector<Index> StreamArguments::muted() const {
  std::vector<Index> which;
  for (const Index k : remove) {
    if (k > 0) which.push_back(k - 1);
  }
  std::ranges::sort(which);
  which.erase(std::unique(which.begin(), which.end()), which.end());
  return which;
}

std::string input_name(const StreamArguments& o) { return o.input == "-" ? "standard input" : o.input; }

io::Encoding input_encoding(const StreamArguments& o) {
  if (!o.format.empty()) return io::encoding_named(o.format);
  const std::optional<io::Encoding> encoding = o.input == "-" ? std::nullopt : io::encoding_of(o.input);
  if (encoding) return *encoding;
  throw UsageError(fmt::format(
      "{}: the format is not known; give --format f32, f64, s16, s32, wav, csv or tsv", input_name(o)));
}

io::Encoding output_encoding(const StreamArguments& o, io::Encoding input) {
  if (!o.output_format.empty()) return io::encoding_named(o.output_format);
  if (!o.writes_channels() && input == io::Encoding::s16) input = io::Encoding::f32;
  if (!o.writes_channels() && input == io::Encoding::s32) input = io::Encoding::f64;
  if (o.output == "-") return input;
  if (const std::optional<io::Encoding> encoding = io::encoding_of(o.output)) return *encoding;
  if (!io::is_supported(o.output)) return input;
  throw UsageError(
      fmt::format("{}: stream writes .f32, .f64, .s16, .s32, .wav, .csv or .tsv, not {}; name it so, or give "
                  "--output-format",
                  o.output, io::format_of(o.output).name));
}

}  // namespace demix::cli
