#include "train/data/named_samples.h"

#include "framework/error.h"

namespace lethe {
namespace {

class NamedSamplesReader final : public SampleReader {
 public:
  explicit NamedSamplesReader(const NamedSamples& data) : data_(data) {}
  void read(Split split, std::int64_t index, std::int64_t, std::byte* sample, std::int32_t* labels) override {
    data_.read(split, index, sample, labels);
  }

 private:
  const NamedSamples& data_;
};

}  // namespace

NamedSamples::NamedSamples(std::string name, const Network& network, const FedInputs& fed)
    : name_(std::move(name)), labels_(fed.labels == kNone ? 0 : fed.rows) {
  for (const VarId id : fed.inputs) {
    const Var& var = network.program.vars[id];
    inputs_.push_back({.name = var.name, .bytes = bytes_of(var) / var.shape[0]});
  }
}

std::int64_t NamedSamples::sample_bytes(DType) const {
  std::int64_t bytes = 0;
  for (const SampleInput& input : inputs_) bytes += input.bytes;
  return bytes;
}

std::unique_ptr<SampleReader> NamedSamples::reader(const ReadOptions& options) const {
  check(options.augment == Augmentation{}, name(),
        ": gives numbers by name, which are not augmented; `augment` none takes them as they are");
  return std::make_unique<NamedSamplesReader>(*this);
}

}  // namespace lethe
