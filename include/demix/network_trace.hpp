#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "demix/types.hpp"

/// A network while it learns: its weights and activities at every stride-th frame, in bounded memory. When
/// there is no more room, every second row is dropped and the stride is doubled.
namespace demix {

/// A network at one frame, which it has learned from.
struct NetworkMoment {
  Matrix<double> W;      ///< feedforward weights, outputs x inputs (with natural steps of whitened inputs)
  Matrix<double> M;      ///< lateral weights, outputs x outputs
  Vector<double> c, y;   ///< dendritic currents and outputs
  double modulator = 0;  ///< w(||y||^2), what multiplies c/lambda^2 in the rule of W
};

/// Share of the outputs whose feedforward synapses learn as Hebb says (LTP): where
/// (lambda_i^2 y_i - w c_i) y_i > 0, input and output that go together are tied more strongly. Of the others
/// (LTD) less.
double share_of_ltp(const Vector<double>& lambda2, const Vector<double>& y, const Vector<double>& c,
                    double modulator);

class NetworkTrace {
 public:
  struct Row {
    std::int64_t frame = 0;  ///< from 1
    NetworkMoment moment;
    double ltp = 0;  ///< share of LTP, mean over the frames from this one to the next row
  };

  /// `first`: the number of the first frame, if others came before.
  explicit NetworkTrace(std::int64_t first = 1, std::size_t most_bytes = std::size_t{32} << 20)
      : most_bytes_(most_bytes), next_(first) {}

  /// One frame. `ltp` of nothing: the network has not begun to learn. If the number of outputs has changed,
  /// the network has begun anew, and so does the trace.
  void add(std::optional<double> ltp, const std::function<NetworkMoment()>& moment);

  std::int64_t stride() const { return stride_; }
  std::vector<Row> rows() const;

 private:
  struct Noted {
    Row row;
    double sum = 0;  // of the shares of LTP
    std::int64_t frames = 0;
  };
  void thin_out();

  std::size_t most_bytes_;
  std::size_t most_rows_ = 0;
  std::int64_t next_;
  std::int64_t start_ = 0;  // the frame of the first row
  std::int64_t stride_ = 1;
  std::vector<Noted> noted_;
};

}  // namespace demix
