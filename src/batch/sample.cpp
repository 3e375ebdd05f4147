#include "batch/sample.hpp"

#include <algorithm>

namespace demix {

template <typename T>
Sample<T> sample_of(const Recording& X, std::int64_t frames, std::int64_t enough) {
  const std::int64_t stride = std::max<std::int64_t>(1, (frames + enough - 1) / enough);
  Sample<T> sample{Matrix<T>(X.channels(), (frames + stride - 1) / stride), {}};
  const auto keep = [&](const auto& chunk, std::int64_t before) {
    for (std::int64_t k = (before + stride - 1) / stride; k * stride < before + chunk.cols(); ++k)
      sample.frames.col(k) = chunk.col(k * stride - before).template cast<T>();
  };
  std::int64_t before = 0;
  if (X.random_access()) {
    FrameBuffer buffer;
    for (; before < frames; before += stride) {
      std::visit([&](const auto& frame) { keep(frame, before); }, X.frames_at(before, 1, buffer));
    }
  } else {
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
