// Counter-based randomness: Philox-4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011).
// A value is a function of (seed, stream, step, element): nothing is stored, and a recomputed dropout is the same.
#pragma once
#include <array>
#include <cstdint>

namespace lethe {

struct Philox4 {
  std::uint32_t word[4];
};

/// constexpr, so that device code can call it too.
constexpr Philox4 philox(std::uint64_t key, std::uint64_t counter_high, std::uint64_t counter_low) {
  std::uint32_t k0 = static_cast<std::uint32_t>(key), k1 = static_cast<std::uint32_t>(key >> 32);
  std::uint32_t a = static_cast<std::uint32_t>(counter_low), b = static_cast<std::uint32_t>(counter_low >> 32);
  std::uint32_t c = static_cast<std::uint32_t>(counter_high), d = static_cast<std::uint32_t>(counter_high >> 32);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p = std::uint64_t{0xD2511F53u} * a, q = std::uint64_t{0xCD9E8D57u} * c;
    const std::uint32_t next_a = static_cast<std::uint32_t>(q >> 32) ^ b ^ k0;
    const std::uint32_t next_c = static_cast<std::uint32_t>(p >> 32) ^ d ^ k1;
    a = next_a;
    b = static_cast<std::uint32_t>(q);
    c = next_c;
    d = static_cast<std::uint32_t>(p);
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return {{a, b, c, d}};
}

/// Key of a stream of its own: the finalizer of SplitMix64 over seed and stream.
constexpr std::uint64_t stream_key(std::uint64_t seed, std::uint64_t stream) {
  std::uint64_t z = seed * 0x9E3779B97F4A7C15ull + stream + 0x9E3779B97F4A7C15ull;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

/// In [0, 1), 53 bits.
constexpr double uniform_of(std::uint32_t high, std::uint32_t low) {
  return static_cast<double>((std::uint64_t{high} << 21) ^ (low >> 11)) * 0x1p-53;
}

/// In [0, 1), 24 bits.
constexpr float uniform_of(std::uint32_t word) { return static_cast<float>(word >> 8) * 0x1p-24f; }

/// In [0, 1), 24 bits: element `index` of a stream at a step.
constexpr float uniform_at(std::uint64_t key, std::uint64_t step, std::uint64_t index) {
  return uniform_of(philox(key, step, index / 4).word[index % 4]);
}

/// A sequential stream over the same generator, for host code (shuffles, augmentation, figures).
class Random {
 public:
  explicit Random(std::uint64_t seed, std::uint64_t stream = 0, std::uint64_t step = 0)
      : key_(stream_key(seed, stream)), step_(step) {}
  std::uint32_t next() {
    if (used_ == 4) {
      block_ = philox(key_, step_, counter_++);
      used_ = 0;
    }
    return block_.word[used_++];
  }
  double uniform() {
    const std::uint32_t high = next(), low = next();
    return uniform_of(high, low);
  }
  /// In [0, bound), without bias.
  std::uint32_t below(std::uint32_t bound) {
    const std::uint32_t reject = (0u - bound) % bound;
    for (;;)
      if (const std::uint32_t r = next(); r >= reject) return r % bound;
  }

 private:
  std::uint64_t key_, step_, counter_ = 0;
  Philox4 block_{};
  int used_ = 4;
};

}  // namespace lethe
