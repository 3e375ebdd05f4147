#include "methods/networks.hpp"

#include "demix/local_network.hpp"
#include "demix/natural_network.hpp"
#include "demix/sm_ica_network.hpp"
#include "demix/stream_separator.hpp"
#include "methods/recursive_fobi.hpp"

namespace demix {
namespace {

class Published final : public OnlineSeparator {
 public:
  Published(Index inputs, Index outputs, const SmIcaNetworkOptions& options)
      : network_(inputs, outputs, options) {}

  bool step(const Vector<double>& x, Vector<double>& y) override {
    network_.step(x, y);
    return network_.status() == NetworkStatus::ok;
  }
  Matrix<double> unmixing() const override { return network_.unmixing(); }
  std::string failure() const override {
    return network_.status() == NetworkStatus::ok ? "" : describe(network_.status());
  }
  void note(NetworkTrace& trace) const override { network_.note(trace); }

 private:
  SmIcaNetwork<double> network_;
};

class Natural final : public OnlineSeparator {
 public:
  Natural(Index inputs, const NaturalNetworkOptions& options) : network_(inputs, options) {}

  bool step(const Vector<double>& x, Vector<double>& y) override {
    network_.step(x, y);
    return true;
  }
  void finish() override {
    network_.refresh();
    if (network_.rank() > 0) return;
    failure_ = "it saw " + std::to_string(network_.frames()) + " frames and needs " +
               std::to_string(network_.warm_up()) + " to begin; take more `passes`, or use fobi";
  }
  Matrix<double> unmixing() const override {
    if (network_.rank() == 0) return Matrix<double>::Zero(network_.outputs(), network_.inputs());
    return network_.unmixing();
  }
  std::string failure() const override { return failure_; }
  void note(NetworkTrace& trace) const override { network_.note(trace); }

 private:
  NaturalNetwork<double> network_;
  std::string failure_;
};

class Local final : public OnlineSeparator {
 public:
  Local(Index inputs, const LocalNetworkOptions& options) : network_(inputs, options) {}

  bool step(const Vector<double>& x, Vector<double>& y) override {
    network_.step(x, y);
    return true;
  }
  void finish() override {
    if (network_.learning()) return;
    failure_ = network_.frames() < network_.warm_up()
                   ? "it saw " + std::to_string(network_.frames()) + " frames and needs " +
                         std::to_string(network_.warm_up()) + " to begin; take more `passes`, or use fobi"
                   : "its inputs depend on each other; have them whitened first";
  }
  Matrix<double> unmixing() const override { return network_.unmixing(); }
  std::string failure() const override { return failure_; }
  void note(NetworkTrace& trace) const override { network_.note(trace); }

 private:
  LocalNetwork network_;
  std::string failure_;
};

class Stream final : public OnlineSeparator {
 public:
  Stream(Index inputs, const StreamOptions& options) : stream_(inputs, options) {}

  bool step(const Vector<double>& x, Vector<double>& y) override {
    stream_.step(x, y);
    return true;
  }
  void finish() override { stream_.finish(); }
  Matrix<double> unmixing() const override { return stream_.unmixing(); }

 private:
  StreamSeparator<double> stream_;
};

}  // namespace

std::unique_ptr<OnlineSeparator> make_sm_ica(Index inputs, Index outputs, const MethodOptions& o) {
  Vector<double> lambda2;
  if (!o.lambda.empty()) lambda2 = lambda2_from_table(o.lambda, o.reading);
  if (o.form == "published") {
    SmIcaNetworkOptions options;
    options.seed = o.seed;
    options.eta = *o.eta;
    options.tau = *o.tau;
    options.lambda2 = lambda2;
    options.weight = o.weight.value_or(Weight::square);
    options.dynamics = o.dynamics.value_or(options.dynamics);
    options.autapses = o.autapses.value_or(options.autapses);
    return std::make_unique<Published>(inputs, outputs, options);
  }
  if (o.form == "local") {
    if (outputs < inputs) {
      throw NeedsWhitening("sm-ica in its form local has as many outputs as inputs; to get " +
                           std::to_string(outputs) + " components out of " + std::to_string(inputs) +
                           " channels have them whitened first, which reduces them");
    }
    return std::make_unique<Local>(
        inputs,
        LocalNetworkOptions{.lambda2 = lambda2, .weight = o.weight.value_or(Weight::square), .seed = o.seed});
  }
  NaturalNetworkOptions options;
  options.seed = o.seed;
  options.components = outputs;
  options.lambda2 = lambda2;
  options.weight = o.weight.value_or(Weight::square);
  return std::make_unique<Natural>(inputs, options);
}

std::unique_ptr<OnlineSeparator> make_stream(Index inputs, Index outputs, const MethodOptions& o) {
  StreamOptions options;
  options.seed = o.seed;
  options.components = outputs;
  return std::make_unique<Stream>(inputs, options);
}

std::unique_ptr<OnlineSeparator> make_recursive_fobi(Index inputs, Index outputs, const MethodOptions&) {
  return std::make_unique<RecursiveFobi>(inputs, outputs);
}

}  // namespace demix
