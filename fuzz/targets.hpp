#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

/// What the fuzzers and the replay of their corpus (tests/io/fuzz_corpus_test.cpp) do with bytes. Every
/// exception that comes out of here is a finding.
namespace demix::fuzz {

/// demix did not keep a promise.
struct Broken : std::logic_error {
  using std::logic_error::logic_error;
};

inline void require(bool kept, const std::string& promise) {
  if (!kept) throw Broken("not kept: " + promise);
}

// Each returns how demix refused the bytes, or nothing if it took them.
std::string read_signals(std::string_view kind, std::string_view bytes);  ///< as a file with this extension
std::string parse_model(std::string_view bytes);

inline std::string run(std::string_view kind, std::string_view bytes) {
  return kind == "model" ? parse_model(bytes) : read_signals(kind, bytes);
}

}  // namespace demix::fuzz
