#include "io/zip.hpp"

#include <algorithm>

#include "demix/io.hpp"
#include "io/bytes.hpp"
#include "io/deflate.hpp"

namespace demix::io::zip {
namespace {

constexpr std::string_view local_mark("PK\3\4");
constexpr std::string_view entry_mark("PK\1\2");
constexpr std::string_view end_mark("PK\5\6");
constexpr std::string_view large_end_mark("PK\6\6");
constexpr std::string_view large_end_place_mark("PK\6\7");
constexpr std::uint32_t is_large = 0xffffffff;  // the real value is in 64 bits elsewhere

Error damaged_directory(const Part& file) {
  return Error(file.bytes->path().string() + ": its zip directory is damaged, or the file is cut off");
}

// Of `count` bytes, which begin with `mark`.
std::string record(const Part& file, std::uint64_t at, std::size_t count, std::string_view mark) {
  std::string bytes = file.copy(at, count);
  if (bytes.size() < count || !bytes.starts_with(mark)) throw damaged_directory(file);
  return bytes;
}

struct Directory {
  std::uint64_t at = 0, entries = 0;
};

Directory find_directory(const Part& file) {
  constexpr std::size_t end_bytes = 22, place_bytes = 20, large_end_bytes = 56, longest_comment = 65535;
  const std::string name = file.bytes->path().string();
  if (file.size == 0) throw Error(name + ": the file is empty");
  if (file.copy(0, 2) != "PK") throw Error(name + ": is not a zip file, which .npz files are");
  const std::uint64_t tail_bytes =
      std::min<std::uint64_t>(file.size, place_bytes + end_bytes + longest_comment);
  const std::string tail = file.copy(file.size - tail_bytes, tail_bytes);
  const std::size_t at = tail.rfind(end_mark);
  if (at == std::string::npos) throw Error(name + ": has no zip directory; it is cut off");
  if (tail.size() - at < end_bytes) throw damaged_directory(file);
  const char* end = tail.data() + at;
  const char* place = at < place_bytes ? nullptr : end - place_bytes;
  if (place == nullptr || std::string_view(place, 4) != large_end_place_mark) {
    return {load<std::uint32_t>(end + 16), load<std::uint16_t>(end + 10)};
  }
  const std::string large = record(file, load<std::uint64_t>(place + 8), large_end_bytes, large_end_mark);
  return {load<std::uint64_t>(large.data() + 48), load<std::uint64_t>(large.data() + 32)};
}

struct Entry {
  Member member;
  std::uint64_t stored_bytes = 0, at = 0;
};

// Values that did not fit into 32 bits, in this order, in the extra field with number 1.
void read_large(Entry& e, std::string_view extra, const Part& file) {
  while (extra.size() >= 4) {
    const auto id = load<std::uint16_t>(extra.data());
    const std::size_t bytes = std::min<std::size_t>(load<std::uint16_t>(extra.data() + 2), extra.size() - 4);
    std::string_view field = extra.substr(4, bytes);
    extra.remove_prefix(4 + bytes);
    if (id != 1) continue;
    for (std::uint64_t* value : {&e.member.size, &e.stored_bytes, &e.at}) {
      if (*value != is_large) continue;
      if (field.size() < 8) throw damaged_directory(file);
      *value = load<std::uint64_t>(field.data());
      field.remove_prefix(8);
    }
    return;
  }
}

void locate(Entry& e, const Part& file) {
  constexpr std::size_t local_bytes = 30;
  const std::string local = record(file, e.at, local_bytes, local_mark);
  const std::uint64_t from =
      e.at + local_bytes + load<std::uint16_t>(local.data() + 26) + load<std::uint16_t>(local.data() + 28);
  if (from > file.size || e.stored_bytes > file.size - from) {
    throw Error(file.bytes->path().string() + ": ends within one of its members; it is cut off");
  }
  e.member.packed = file.sub(from, e.stored_bytes);
}

}  // namespace

std::vector<Member> members(const std::shared_ptr<const FileBytes>& bytes) {
  constexpr std::size_t entry_bytes = 46;
  const Part file = Part::all(bytes);
  Directory directory = find_directory(file);
  std::vector<Member> all;
  for (; directory.entries > 0; --directory.entries) {
    const std::string head = record(file, directory.at, entry_bytes, entry_mark);
    const char* p = head.data();
    const std::size_t name_bytes = load<std::uint16_t>(p + 28);
    const std::size_t extra_bytes = load<std::uint16_t>(p + 30);
    const std::size_t whole = entry_bytes + name_bytes + extra_bytes + load<std::uint16_t>(p + 32);
    const std::string entry = record(file, directory.at, whole, entry_mark);
    Entry e;
    e.member.name = entry.substr(entry_bytes, name_bytes);
    e.member.method = load<std::uint16_t>(p + 10);
    e.member.checksum = load<std::uint32_t>(p + 16);
    e.stored_bytes = load<std::uint32_t>(p + 20);
    e.member.size = load<std::uint32_t>(p + 24);
    e.at = load<std::uint32_t>(p + 42);
    if ((load<std::uint16_t>(p + 8) & 1) != 0)
      throw Error(bytes->path().string() + ": is encrypted; save it without a password");
    read_large(e, std::string_view(entry).substr(entry_bytes + name_bytes, extra_bytes), file);
    locate(e, file);
    all.push_back(std::move(e.member));
    directory.at += whole;
  }
  return all;
}

std::string content(const Member& member, std::uint64_t most, const std::string& name) {
  if (member.method != 0 && member.method != 8) {
    throw Error(name + ": is compressed in a way (" + std::to_string(member.method) +
                ") that is not supported; save it with numpy.savez or savez_compressed");
  }
  const Error damaged(name + ": does not hold what the zip directory says; it is damaged");
  if (member.method == 0) {
    if (member.packed.size != member.size) throw damaged;
    return member.packed.copy(0, most);
  }
  const bool all = most >= member.size;
  if (all) check_inflated_size(member.size, member.packed.size, name);
  // One byte more than there should be: so that more is noticed, and the end is reached.
  std::string bytes = inflated(member.packed, Deflated::bare, all ? member.size + 1 : most, name);
  if (all && (bytes.size() != member.size || checksum(bytes, name) != member.checksum)) throw damaged;
  return bytes;
}

namespace {

constexpr std::uint16_t version = 45;  // with zip64
constexpr std::uint16_t january_1980 = 0x21;

void add_description(std::string& bytes, std::uint32_t checksum, std::size_t name_bytes,
                     std::size_t extra_bytes) {
  store(bytes, version);
  store<std::uint32_t>(bytes, 0);  // no flags, stored
  store<std::uint16_t>(bytes, 0);
  store(bytes, january_1980);
  store(bytes, checksum);
  store(bytes, is_large);
  store(bytes, is_large);
  store(bytes, static_cast<std::uint16_t>(name_bytes));
  store(bytes, static_cast<std::uint16_t>(extra_bytes));
}

void add_sizes(std::string& bytes, std::uint64_t size) {
  store<std::uint16_t>(bytes, 1);
  store<std::uint16_t>(bytes, 16);
  store(bytes, size);
  store(bytes, size);
}

}  // namespace

std::string before(const std::string& member, std::uint64_t size, std::uint32_t checksum) {
  std::string bytes(local_mark);
  add_description(bytes, checksum, member.size(), 20);
  bytes += member;
  add_sizes(bytes, size);
  return bytes;
}

namespace {

struct Placed {
  std::string name;
  std::uint64_t size = 0;
  std::uint32_t checksum = 0;
  std::uint32_t at = 0;  // in the file
};

// What comes after the members, which end at `directory_at`.
std::string directory(const std::vector<Placed>& members, std::uint64_t directory_at) {
  std::string bytes;
  for (const Placed& m : members) {
    bytes += entry_mark;
    store(bytes, version);
    add_description(bytes, m.checksum, m.name.size(), 20);
    bytes.append(10, '\0');  // no comment, first disk, no attributes
    store(bytes, m.at);
    bytes += m.name;
    add_sizes(bytes, m.size);
  }
  const std::uint64_t directory_bytes = bytes.size();

  bytes += large_end_mark;
  store<std::uint64_t>(bytes, 44);  // bytes that follow
  store(bytes, version);
  store(bytes, version);
  store<std::uint64_t>(bytes, 0);  // disks
  store<std::uint64_t>(bytes, members.size());
  store<std::uint64_t>(bytes, members.size());
  store(bytes, directory_bytes);
  store(bytes, directory_at);
  bytes += large_end_place_mark;
  store<std::uint32_t>(bytes, 0);
  store<std::uint64_t>(bytes, directory_at + directory_bytes);
  store<std::uint32_t>(bytes, 1);
  bytes += end_mark;
  store<std::uint32_t>(bytes, 0);
  store(bytes, static_cast<std::uint16_t>(members.size()));
  store(bytes, static_cast<std::uint16_t>(members.size()));
  store(bytes, static_cast<std::uint32_t>(directory_bytes));
  store(bytes, static_cast<std::uint32_t>(std::min<std::uint64_t>(directory_at, is_large)));
  store<std::uint16_t>(bytes, 0);
  return bytes;
}

}  // namespace

std::string after(const std::string& member, std::uint64_t size, std::uint32_t checksum) {
  return directory({{member, size, checksum, 0}}, before(member, size, checksum).size() + size);
}

std::string archive(const std::vector<std::pair<std::string, std::string>>& members) {
  std::string bytes;
  std::vector<Placed> placed;
  for (const auto& [name, content] : members) {
    const std::uint32_t sum = checksum(content, name);
    if (bytes.size() >= is_large) throw Error(name + ": begins beyond 4 GiB of the archive");
    placed.push_back({name, content.size(), sum, static_cast<std::uint32_t>(bytes.size())});
    bytes += before(name, content.size(), sum);
    bytes += content;
  }
  return bytes + directory(placed, bytes.size());
}

}  // namespace demix::io::zip
