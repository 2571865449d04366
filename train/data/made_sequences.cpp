#include "train/data/made_sequences.h"

#include <algorithm>

#include "framework/error.h"
#include "framework/language/init.h"
#include "framework/random.h"

namespace lethe {
namespace {

/// The stream of one sample.
Random stream_of(const std::string& set, std::uint64_t seed, Split split, std::int64_t index) {
  return Random(seed, hash_of(set) + static_cast<std::uint64_t>(split), static_cast<std::uint64_t>(index));
}

class Copies final : public Sequences {
 public:
  Copies(SequenceInfo info, std::int64_t symbols, std::uint64_t seed)
      : Sequences(std::move(info)), symbols_(symbols), seed_(seed) {}

  void read(Split split, std::int64_t index, std::int32_t* symbols, std::int32_t* labels) const override {
    Random random = stream_of(name(), seed_, split, index);
    const std::int64_t length = info().length, used = 1 + random.below(static_cast<std::uint32_t>(length));
    std::fill(symbols, symbols + length, 0);
    for (std::int64_t t = 0; t < used; ++t)
      symbols[t] = 1 + static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(symbols_ - 1)));
    std::copy(symbols, symbols + length, labels);
  }

 private:
  std::int64_t symbols_;
  std::uint64_t seed_;
};

class Noise final : public Sequences {
 public:
  Noise(SequenceInfo info, std::int64_t symbols, std::uint64_t seed)
      : Sequences(std::move(info)), symbols_(symbols), seed_(seed) {}

  void read(Split split, std::int64_t index, std::int32_t* symbols, std::int32_t* labels) const override {
    Random random = stream_of(name(), seed_, split, index);
    const auto any = [&] { return static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(symbols_))); };
    std::generate(symbols, symbols + info().length, any);
    std::generate(labels, labels + info().length, any);
  }

 private:
  std::int64_t symbols_;
  std::uint64_t seed_;
};

}  // namespace

std::unique_ptr<Sequences> make_copies(std::int64_t length, std::int64_t symbols, std::uint64_t seed,
                                       const SampleCounts& counts) {
  check_as(Exit::Data, symbols > 2, "copy: has at least 2 symbols beside the padding, the network tells ", symbols,
           " apart");
  SequenceInfo info{.name = "copy", .length = length, .sizes = {counts.training, counts.test}};
  return std::make_unique<Copies>(std::move(info), symbols, seed);
}

std::unique_ptr<Sequences> make_noise(std::int64_t length, std::int64_t symbols, std::uint64_t seed,
                                      const SampleCounts& counts) {
  SequenceInfo info{.name = "synthetic", .length = length, .sizes = {counts.training, counts.test}};
  return std::make_unique<Noise>(std::move(info), symbols, seed);
}

}  // namespace lethe
