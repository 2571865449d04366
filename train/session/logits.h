// What a network says of classes, as numbers to read: logits out of the memory of a device, probabilities, the largest,
// and a symbol drawn by them.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "framework/run/executor.h"

namespace lethe {

/// The values of a float var after a step, whatever its dtype; the plan must keep it.
std::vector<double> fetch_numbers(const Executor& executor, const Program& program, VarId var);

/// exp(x) over the sum of all; of log-probabilities that gives probabilities too. With NaN or infinity among them NaN.
std::vector<double> softmax(std::span<const double> logits);

/// How many classes stand before `label`: those with a larger logit, and the lower-numbered ones with an equal one, as
/// the op `accuracy` counts. All classes if there is NaN among the logits or the label is no class.
std::int64_t rank_of(std::int64_t label, std::span<const double> logits);

/// The classes of the `count` largest values in that order; none if there is NaN among the values.
std::vector<std::int64_t> largest(std::span<const double> values, std::int64_t count);

/// How a symbol is drawn from what a network says of each.
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
