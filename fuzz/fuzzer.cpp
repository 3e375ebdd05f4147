#include <cstddef>
#include <cstdint>

#include "targets.hpp"

/// libFuzzer's way in; DEMIX_FUZZ_KIND is "wav", "model", ...
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  demix::fuzz::run(DEMIX_FUZZ_KIND, {reinterpret_cast<const char*>(data), size});
  return 0;
}
