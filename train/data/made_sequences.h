// The sequences that need no files: made when they are read, each a function of (seed, split, index).
#pragma once
#include "train/data/data_spec.h"
#include "train/data/sequences.h"

namespace lethe {

inline constexpr SampleCounts kSequenceCounts{8000, 800};

/// Sentences of a small grammar, in which verbs agree with their subjects; each character is to be followed by the
/// next.
std::unique_ptr<Sequences> make_sentences(std::int64_t length, std::uint64_t seed, const SampleCounts& counts);

/// A random number of random symbols from 1 on, then zeros up to the length, to be given back as they are.
std::unique_ptr<Sequences> make_copies(std::int64_t length, std::int64_t symbols, std::uint64_t seed,
                                       const SampleCounts& counts);

/// Random symbols and random labels, for timing: nothing can be learned from them.
std::unique_ptr<Sequences> make_noise(std::int64_t length, std::int64_t symbols, std::uint64_t seed,
                                      const SampleCounts& counts);

}  // namespace lethe
