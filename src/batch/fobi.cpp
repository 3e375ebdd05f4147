#include "demix/fobi.hpp"

#include "batch/frame.hpp"

namespace demix {

Model fobi(const Recording& X, const FobiOptions& options) {
  const ProgressCallback& progress = options.progress;
  const Whitening white = prepare(X, options.whitening, progress);             // h = P (x - mean)
  const Eigenpairs eig = fobi_eigenpairs(X, white, options.weight, progress);  // C_z = U D U^T
  Model model =
      finish(X, white, eig.vectors.transpose(),  // y = U^T h
             {Finish::ByWeight{options.weight, eig.values, options.crosstalk}, options.order, progress});
  model.method = "fobi";
  model.options["weight"] = weight_name(options.weight);
  return model;
}

Model fobi(const Frames<float>& X, const FobiOptions& options) {
  return fobi(MatrixRecording<float>(X), options);
}
Model fobi(const Frames<double>& X, const FobiOptions& options) {
  return fobi(MatrixRecording<double>(X), options);
}

}  // namespace demix
