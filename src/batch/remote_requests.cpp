#include "batch/remote_requests.hpp"

#include <algorithm>

#include "batch/contrast_sums.hpp"
#include "batch/cumulants.hpp"
#include "batch/finite_covariance.hpp"
#include "batch/output_sums.hpp"
#include "batch/sample.hpp"

namespace demix {
namespace {

template <typename... Requests>
struct List {};
using All =
    List<CovarianceRequest, FiniteCovarianceRequest, MagnitudeRequest, WeightedCovarianceRequest,
         ContrastRequest, CumulantRequest, OutputRequest, SampleRequest<float>, SampleRequest<double>>;

// use(the request that has this kind)
template <typename... Requests, typename Use>
std::string with_request(List<Requests...>, const std::string& kind, Unpacker& unpacker, const Use& use) {
  std::string out;
  const bool is_known =
      ((kind == Requests::kind ? (out = use(unpacked_request<Requests>(unpacker)), true) : false) || ...);
  if (!is_known) throw std::invalid_argument("request: '" + kind + "' is none");
  return out;
}

// Of frames first to first + count, what is left, and where the first of it is then.
struct Left {
  std::vector<Segment> bad;  // counted from `first`
  std::int64_t first = 0, frames = 0;
};
Left left_of(std::int64_t first, Index count, const std::vector<Segment>& good) {
  Left left;
  Index at = 0;
  for (const Segment& s : good) {
    left.first += std::max<Index>(0, std::min<Index>(s.end, first) - s.first);
    const Index from = std::clamp<Index>(s.first - first, 0, count);
    const Index to = std::clamp<Index>(s.end - first, 0, count);
    if (from >= to) continue;
    if (at < from) left.bad.push_back({at, from});
    left.frames += to - from;
    at = to;
  }
  if (at < count) left.bad.push_back({at, count});
  return left;
}

std::string sums_of(const Recording& block, BlockPlace place, Unpacker& request) {
  char what = 0;
  request(what);
  if (what == 'w') {
    std::vector<Segment> good;
    request(good);
    const Left left = left_of(place.first, block.frames(), good);
    if (left.frames == 0) return {};
    return sums_of(RecordingWithout(block, left.bad), {left.first, place.number, false}, request);
  }
  std::string kind;
  request(kind);
  return with_request(All(), kind, request,
                      [&](const auto& known) { return block_sums(block, place, known); });
}

}  // namespace

std::string sums_of_block(const Recording& block, BlockPlace place, std::string_view request) {
  Unpacker unpacker(request);
  return sums_of(block, place, unpacker);
}

std::string joined_sums_of(std::string_view request, const std::vector<std::string_view>& parts) {
  Unpacker unpacker(request);
  char what = 0;
  for (unpacker(what); what == 'w'; unpacker(what)) {
    std::vector<Segment> good;
    unpacker(good);
  }
  std::string kind;
  unpacker(kind);
  return with_request(All(), kind, unpacker,
                      [&](const auto& known) { return joined_sums(parts, known.none()); });
}

}  // namespace demix
