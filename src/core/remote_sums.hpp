#pragma once

#include <tuple>

#include "core/parallel_sum.hpp"
#include "core/sum_tree.hpp"

/// Passes over a recording whose frames are elsewhere (Recording::is_remote()): a request goes there as
/// bytes,
///
///   as often as the recording lacks some frames:  'w', the segments it has
///   'r', the request's kind, its arguments
///
/// and what comes back are subtrees of the sum (core/sum_tree.hpp). A request that can be sent has a name and
/// says what it is made of:
///
///   static constexpr std::string_view kind = "contrast";
///   auto arguments() const { return std::tuple(mean_, ...); }   // of its constructor
namespace demix {

/// Some frames of a recording.
struct Chunk {
  const AnyFrames& frames;
  std::int64_t first;     ///< number of its first frame in the recording
  const double* weights;  ///< how much each frame counts; null: all count the same
};

template <typename Request>
std::string packed_request(const Request& request) {
  Packer packer;
  char what = 'r';
  std::string kind(Request::kind);
  packer(what, kind);
  auto arguments = request.arguments();
  std::apply([&](auto&... each) { packer(each...); }, arguments);
  return packer.bytes;
}

template <typename Request>
Request unpacked_request(Unpacker& unpacker) {
  using Arguments = decltype(std::declval<const Request&>().arguments());
  Arguments arguments;
  std::apply([&](auto&... each) { unpacker(each...); }, arguments);
  return std::make_from_tuple<Request>(std::move(arguments));
}

/// Where some frames of a recording belong.
struct BlockPlace {
  std::int64_t first = 0;  ///< frame
  Index number = 0;        ///< of the block
  bool is_aligned = true;  ///< all blocks begin at chunks of the whole recording: the sums are its to the bit
};

/// The subtrees of these frames.
template <typename Request>
std::string block_sums(const Recording& block, const BlockPlace& place, const Request& request) {
  using Sums = typename Request::Sums;
  const Sums none = request.none();
  const Index chunk = block.chunk_frames();
  const Index offset = place.is_aligned ? place.first / chunk : 0;
  SumTree<Sums> tree;
  SharedReading source(block);
  parallel_chunks(
      block, source, (block.frames() + chunk - 1) / chunk, none,
      [&](Sums& sums, const AnyFrames& frames, std::int64_t first) {
        request.add(sums, {frames, place.first + first, block.weights_from(first)});
      },
      [&](Index number, Sums&& sums) { tree.add(0, offset + number, std::move(sums)); });
  if (!place.is_aligned && block.frames() > 0) {
    SumTree<Sums> one;
    one.add(0, place.number, std::move(tree).total(none));
    return one.packed();
  }
  return tree.packed();
}

/// Those of neighbours, in their order, as one.
template <typename Sums>
std::string joined_sums(const std::vector<std::string_view>& parts, const Sums& none) {
  SumTree<Sums> tree;
  for (const std::string_view part : parts) tree.add_packed(part, none);
  return tree.packed();
}

}  // namespace demix
