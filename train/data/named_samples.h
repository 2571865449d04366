// Samples that have a value for each input of a network, by its name.
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "framework/builder/network.h"
#include "train/data/fed_inputs.h"
#include "train/data/samples.h"

namespace lethe {

/// Which share of rows is for tests where nothing says another.
inline constexpr double kTestedShare = 0.1;

class NamedSamples : public Samples {
 public:
  const std::string& name() const override { return name_; }
  std::int64_t sample_bytes(DType dtype) const override;
  std::int64_t labels() const override { return labels_; }
  std::vector<std::string> classes() const override { return {}; }
  std::vector<SampleInput> inputs(DType) const override { return inputs_; }
  /// Fails where images are to be varied.
  std::unique_ptr<SampleReader> reader(const ReadOptions& options) const override;
  /// Writes a sample as the network takes it. Always the same for the same arguments; may be called from several
  /// threads. Fails with Exit::Data if it cannot be read.
  virtual void read(Split split, std::int64_t index, std::byte* sample, std::int32_t* labels) const = 0;

 protected:
  NamedSamples(std::string name, const Network& network, const FedInputs& fed);

 private:
  std::string name_;
  std::int64_t labels_;
  std::vector<SampleInput> inputs_;
};

}  // namespace lethe
