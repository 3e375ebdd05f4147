#pragma once

#include "demix/model.hpp"
#include "demix/synthetic.hpp"

/// What tests of batch methods share.
namespace demix {

inline Mixture mixture(const std::vector<Source>& which, Index samples, std::uint64_t seed) {
  Random random(seed);
  const Matrix<double> A = normal_mixing(static_cast<Index>(which.size()), random);
  return mix(make_sources(which, samples, Timing::iid, random), A);
}

inline const std::vector<Source> four{Source::square, Source::sine, Source::sawtooth, Source::laplace};

inline int count(const Model& m, Warning::Kind kind) {
  int n = 0;
  for (const Warning& w : m.warnings) n += w.kind == kind;
  return n;
}

}  // namespace demix
