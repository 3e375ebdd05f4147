#include "batch/sample.hpp"

#include <algorithm>
#include <cstring>

#include "core/ranks.hpp"

namespace demix {

template <typename T>
Sample<T> sample_of(const Recording& X, std::int64_t frames, std::int64_t enough) {
  const std::int64_t stride = std::max<std::int64_t>(1, (frames + enough - 1) / enough);
  Sample<T> sample{Matrix<T>(X.channels(), (frames + stride - 1) / stride), {}};
  const auto keep = [&](const auto& chunk, std::int64_t before) {
    for (std::int64_t k = (before + stride - 1) / stride; k * stride < before + chunk.cols(); ++k)
      sample.frames.col(k) = chunk.col(k * stride - before).template cast<T>();
  };
  if (X.is_remote()) {
    for (const auto& piece : sum_over(X, SampleRequest<T>(stride)).pieces)
      sample.frames.middleCols(piece.first, piece.frames.cols()) = piece.frames;
  } else if (X.random_access()) {
    // Each rank reads its part.
    const Index n = sample.frames.cols();
    const Index first = ranks() ? n * ranks()->rank() / ranks()->count() : 0;
    const Index end = ranks() ? n * (ranks()->rank() + 1) / ranks()->count() : n;
    FrameBuffer buffer;
    const Index together = stride <= 4 ? 256 : 1;  // where most is kept, what lies between is read too
    for (Index k = first; k < end; k += together) {
      const Index count = (std::min(together, end - k) - 1) * stride + 1;
      std::visit([&](const auto& some) { keep(some, k * stride); }, X.frames_at(k * stride, count, buffer));
    }
    if (ranks()) {
      const auto bytes_of = [&](Index columns) {
        return static_cast<std::size_t>(columns * X.channels()) * sizeof(T);
      };
      const std::string all = all_gathered(
          *ranks(),
          {reinterpret_cast<const char*>(sample.frames.data()) + bytes_of(first), bytes_of(end - first)});
      std::memcpy(sample.frames.data(), all.data(), all.size());
    }
  } else {
    std::int64_t before = 0;
    X.pass([&](const Frames<double>& chunk) {
      keep(chunk, before);
      before += chunk.cols();
    });
  }
  if (X.weights()) {
    sample.weights.resize(sample.frames.cols());
    for (Index k = 0; k < sample.weights.size(); ++k) sample.weights(k) = (*X.weights())(k * stride);
  }
  return sample;
}
template Sample<float> sample_of(const Recording&, std::int64_t, std::int64_t);
template Sample<double> sample_of(const Recording&, std::int64_t, std::int64_t);

}  // namespace demix
