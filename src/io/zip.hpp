#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/file_bytes.hpp"

/// Zip files, also those of more than 4 GiB (zip64): what is in them, and writing.
namespace demix::io::zip {

struct Member {
  std::string name;
  std::uint16_t method = 0;    ///< 0 stored, 8 deflated
  std::uint32_t checksum = 0;  ///< of what it holds
  std::uint64_t size = 0;      ///< of what it holds, as the directory says
  Part packed;                 ///< as it lies in the file
};
std::vector<Member> members(const std::shared_ptr<const FileBytes>& file);

/// The first bytes of what a member holds, at most `most`; its size and checksum are checked where it is all.
/// `name` is only for messages.
std::string content(const Member& member, std::uint64_t most, const std::string& name);

/// What is before a stored member's bytes, and after them. The first is as long for any size.
std::string before(const std::string& member, std::uint64_t size, std::uint32_t checksum);
std::string after(const std::string& member, std::uint64_t size, std::uint32_t checksum);

/// Some stored members, each with its name: the whole file.
std::string archive(const std::vector<std::pair<std::string, std::string>>& members);

}  // namespace demix::io::zip
