#include "train/data/made_numbers.h"

#include <algorithm>
#include <cmath>

#include "framework/error.h"
#include "framework/language/init.h"
#include "framework/random.h"
#include "train/data/write_number.h"

namespace lethe {
namespace {

constexpr SampleCounts kNumberCounts{8000, 800};

/// Numbers of a sample for an input.
struct InputNumbers {
  std::int64_t count = 0;
  DType dtype = DType::f32;
  bool is_target = false;
};

class MadeNumbers final : public NamedSamples {
 public:
  MadeNumbers(const Network& network, const FedInputs& fed, std::uint64_t seed, const SampleCounts& counts)
      : NamedSamples("numbers", network, fed), seed_(seed), counts_(counts), chances_(fed.chances) {
    for (const VarId id : fed.inputs) {
      const Var& var = network.program.vars[id];
      inputs_.push_back({elements(var.shape) / var.shape[0], var.dtype, id == fed.target});
      if (id != fed.target) read_ += inputs_.back().count;
    }
  }
  std::int64_t size(Split split) const override { return split == Split::Train ? counts_.training : counts_.test; }
  void read(Split split, std::int64_t index, std::byte* sample, std::int32_t*) const override {
    const std::uint64_t stream = stream_key(seed_, hash_of("numbers") + static_cast<std::uint64_t>(split));
    std::int64_t before = 0;  // numbers of the inputs before
    for (const InputNumbers& input : inputs_) {
      for (std::int64_t i = 0; i < input.count; ++i, sample += bytes_of(input.dtype))
        write_number(input.is_target ? target(stream, index, i) : number(stream, index, before + i), input.dtype,
                     sample);
      if (!input.is_target) before += input.count;
    }
  }

 private:
  static double number(std::uint64_t stream, std::int64_t row, std::int64_t at) {
    return 2.0 * uniform_at(stream, static_cast<std::uint64_t>(row), static_cast<std::uint64_t>(at)) - 1;
  }
  double target(std::uint64_t stream, std::int64_t index, std::int64_t which) const {
    const std::uint64_t weights = stream_key(seed_, hash_of("weights of numbers"));
    double sum = 0;
    for (std::int64_t i = 0; i < read_; ++i) sum += number(stream, index, i) * number(weights, which, i);
    sum *= 3 / std::sqrt(static_cast<double>(read_));
    return chances_ ? sum > 0 : std::tanh(sum);
  }

  std::uint64_t seed_;
  SampleCounts counts_;
  bool chances_;
  std::vector<InputNumbers> inputs_ = {};
  std::int64_t read_ = 0;  // numbers of a sample but for the target
};

}  // namespace

std::unique_ptr<NamedSamples> make_numbers(const DataSpec& spec, const Network& network, const FedInputs& fed,
                                           std::uint64_t seed) {
  const bool floats =
      std::ranges::all_of(fed.inputs, [&](VarId id) { return is_float(network.program.vars[id].dtype); });
  if (!floats || fed.labels != kNone || fed.target == kNone || fed.inputs.size() < 2)
    spec.reject(message("is made for a network that takes floats and compares with floats; what ", network.name,
                        " takes stands in csv:FILE or npy:NAME=FILE"));
  return std::make_unique<MadeNumbers>(network, fed, seed, spec.counts(kNumberCounts));
}

}  // namespace lethe
