#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "demix/signal_files.hpp"

/// The ICA that an EEGLAB dataset holds: activations = icaweights icasphere data(icachansind, :).
namespace demix::io {

struct EeglabIca {
  std::optional<Matrix<double>> weights, sphere, inverse, channels;  ///< icaweights, ..., icachansind
};

/// Null if there is none. Throws Error if its parts do not fit.
std::shared_ptr<const Model> model_of(const EeglabIca& ica, const SignalInfo& info, const std::string& file);

/// Of a model of channels that `info` has, data being multiplied by `scale` when they are written; empty
/// matrices if its channels are not there.
EeglabIca eeglab_ica(const Model& model, const SignalInfo& info, const Vector<double>& scale);

}  // namespace demix::io
