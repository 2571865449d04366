// Which symbol follows, of what a network says of each.
#pragma once
#include <cstdint>
#include <span>

namespace lethe {

struct Sampling {
  double temperature = 1;  // logits are divided by it; 0: the likeliest symbol, always
  std::int64_t top_k = 0;  // only the so many likeliest; 0: all
  double top_p = 1;        // only the fewest of the likeliest whose probabilities add up to at least so much
  std::uint64_t seed = 0;
};

/// Draws the symbol that stands at `position`: a function of its arguments alone. Of equally likely ones those with the
/// lower number come first. Fails with Exit::Numeric if there is NaN among the logits or the largest is infinite.
std::int32_t draw(std::span<const double> logits, const Sampling& sampling, std::int64_t position);

}  // namespace lethe
