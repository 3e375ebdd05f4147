#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// Zip files, also those of more than 4 GiB (zip64): what is in them, and writing one that has one member.
namespace demix::io::zip {

struct Member {
  std::string name;
  std::uint16_t method = 0;    ///< 0 stored, 8 deflated
  std::uint32_t checksum = 0;  ///< of what it holds
  std::uint64_t size = 0;      ///< of what it holds, as the directory says
  std::string_view bytes;      ///< as they lie in the file
};
/// `name` is only for messages.
std::vector<Member> members(std::string_view file, const std::string& name);

/// The first bytes of what a member holds, at most `most`; its size and checksum are checked where it is all.
std::string content(const Member& member, std::uint64_t most, const std::string& name);

/// What is before a stored member's bytes, and after them. The first is as long for any size.
std::string before(const std::string& member, std::uint64_t size, std::uint32_t checksum);
std::string after(const std::string& member, std::uint64_t size, std::uint32_t checksum);

}  // namespace demix::io::zip
