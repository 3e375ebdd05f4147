#include "demix/fastica.hpp"
#include "demix/fobi.hpp"
#include "demix/jade.hpp"
#include "demix/picard.hpp"

/// Each batch method in one call: whiten, rotate, describe.
namespace demix {

Model fobi(const Recording& X, const FobiOptions& options, const BatchOptions& batch) {
  const WhiteRecording white = whiten(X, batch.whitening);
  return describe(white, fobi(white, options), batch.order);
}
Model fobi(const Frames<float>& X, const FobiOptions& options, const BatchOptions& batch) {
  return fobi(MatrixRecording<float>(X), options, batch);
}
Model fobi(const Frames<double>& X, const FobiOptions& options, const BatchOptions& batch) {
  return fobi(MatrixRecording<double>(X), options, batch);
}

Model fastica(const Recording& X, const FastIcaOptions& options, const BatchOptions& batch) {
  const WhiteRecording white = whiten(X, batch.whitening);
  return describe(white, fastica(white, options), batch.order);
}
Model fastica(const Frames<float>& X, const FastIcaOptions& options, const BatchOptions& batch) {
  return fastica(MatrixRecording<float>(X), options, batch);
}
Model fastica(const Frames<double>& X, const FastIcaOptions& options, const BatchOptions& batch) {
  return fastica(MatrixRecording<double>(X), options, batch);
}

Model picard(const Recording& X, const PicardOptions& options, const BatchOptions& batch) {
  const WhiteRecording white = whiten(X, batch.whitening);
  return describe(white, picard(white, options), batch.order);
}
Model picard(const Frames<float>& X, const PicardOptions& options, const BatchOptions& batch) {
  return picard(MatrixRecording<float>(X), options, batch);
}
Model picard(const Frames<double>& X, const PicardOptions& options, const BatchOptions& batch) {
  return picard(MatrixRecording<double>(X), options, batch);
}

Model jade(const Recording& X, const JadeOptions& options, const BatchOptions& batch) {
  const WhiteRecording white = whiten(X, batch.whitening);
  return describe(white, jade(white, options), batch.order);
}
Model jade(const Frames<float>& X, const JadeOptions& options, const BatchOptions& batch) {
  return jade(MatrixRecording<float>(X), options, batch);
}
Model jade(const Frames<double>& X, const JadeOptions& options, const BatchOptions& batch) {
  return jade(MatrixRecording<double>(X), options, batch);
}

}  // namespace demix
