#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

/// What the fuzzers and the replay of their corpus (tests/fuzz/fuzz_corpus_test.cpp) do with bytes. Every
/// exception that comes out of here is a finding.
namespace demix::fuzz {

/// demix did not keep a promise.
struct Broken : std::logic_error {
  using std::logic_error::logic_error;
};

inline void require(bool kept, const std::string& promise) {
  if (!kept) throw Broken("not kept: " + promise);
}

/// An error is one line for a person, in our words and in those of the input, which it may quote.
void check_message(const std::string& message, std::string_view input);

// Each returns how demix refused the bytes, or nothing if it took them.
std::string read_signals(std::string_view kind, std::string_view bytes);  ///< as a file with this extension
std::string parse_model(std::string_view bytes);
std::string read_electrodes(std::string_view bytes);  ///< which extension, and what is in the file
std::string restore_state(std::string_view bytes);    ///< of a stream: which one, and what is changed in it
std::string merge_sums(std::string_view bytes);       ///< of a part, as `merge` reads them
std::string parse_cells(std::string_view bytes);      ///< of `tune`, as its notebook has them
std::string check_expected(std::string_view bytes);   ///< numbers for `reproduce --expect`
std::string parse_arguments(std::string_view bytes);  ///< a command line, one argument a line
std::string run_info(std::string_view bytes);         ///< which extension, and what is in the file
std::string run_fit(std::string_view bytes);          ///< and which method

std::string ask_page(std::string_view bytes);  ///< what a connection to the live page sends; KEY: its key

std::string run(std::string_view kind, std::string_view bytes);

}  // namespace demix::fuzz
