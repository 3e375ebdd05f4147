#pragma once

#include "core/sum_over.hpp"

/// What whiten() asks of the data.
namespace demix {

/// The covariance, of frames that have one: NaN, Inf and values too large to square are thrown.
struct FiniteCovarianceRequest : CovarianceRequest {
  static constexpr std::string_view kind = "finite covariance";
  using CovarianceRequest::CovarianceRequest;
  void add(Moments& sums, const Chunk& chunk) const;
};

/// The largest magnitude in each channel.
struct MagnitudeRequest {
  struct Sums {
    Vector<double> largest;
    void merge(const Sums& other) { largest = largest.cwiseMax(other.largest); }
    template <typename Archive>
    void fields(Archive& a) {
      a(largest);
    }
  };
  static constexpr std::string_view kind = "magnitude";
  explicit MagnitudeRequest(Index of_channels) : channels(of_channels) {}
  std::tuple<Index> arguments() const { return {channels}; }
  Index channels;

  Sums none() const { return {Vector<double>::Zero(channels)}; }
  void add(Sums& sums, const Chunk& chunk) const;
};

}  // namespace demix
