#include <array>
#include <cstdio>

#include "core/checksum.hpp"
#include "demix/merge_parts.hpp"
#include "targets.hpp"

/// Sums that are accepted are written again as they were, and give a finite model by every method, or none.
namespace demix::fuzz {
namespace {

std::string refusal(const std::invalid_argument& e, std::string_view bytes) {
  check_message(e.what(), bytes);
  return e.what();
}

std::string merge(const std::string& bytes) {
  PartMoments part;
  try {
    part = parse_part_moments(bytes);
  } catch (const std::invalid_argument& e) {
    return refusal(e, bytes);
  }
  require(to_bytes(part) == bytes, "sums read back as they were written");
  if (part.channels() > 8) return {};  // it would take long
  for (const char* method : {"fobi", "jade", "sm-ica-offline"}) {
    try {
      MethodOptions options;
      if (method_named(method).takes_tolerance) options.max_iterations = 50;
      const Outcome out =
          merge_parts(method_named(method), options, [&](const auto& use) { use(part), use(part); });
      require(out.model.unmixing.allFinite() && out.model.mixing.allFinite() && out.model.mean.allFinite() &&
                  out.model.kurtosis.allFinite(),
              "a model is finite");
    } catch (const std::invalid_argument& e) {
      return refusal(e, bytes);
    }
  }
  return {};
}

}  // namespace

// Also with the checksum that fits.
std::string merge_sums(std::string_view bytes) {
  constexpr std::string_view first_line = "demix sums 1\n";
  constexpr std::size_t head = first_line.size() + 17;
  if (bytes.size() < head || !bytes.starts_with(first_line)) return merge(std::string(bytes));
  std::array<char, 18> line{};
  const std::string_view body = bytes.substr(head);
  std::snprintf(line.data(), line.size(), "%016llx\n", static_cast<unsigned long long>(checksum(body)));
  return merge(std::string(first_line) + line.data() + std::string(body));
}

}  // namespace demix::fuzz
