#include "memopt/recompute/nearly_free.h"

#include "memopt/recompute/descent.h"

namespace lethe {
namespace {

/// After so many steps, which take some two seconds, no further target is tried and nothing is kept again.
constexpr double kMostWalked = 2e7;
/// Greedy moves may cost so many times the price: keeping values again may bring it down by half, hardly by more.
constexpr double kBeforePruning = 2;

}  // namespace

std::optional<Rung> nearly_free(const Tape& tape) {
  const std::int64_t least = least_peak(tape);
  const double price = kNearlyFree * tape.seconds;
  Descent descent(tape);
  Rung lowest = descent.rung();
  const std::int64_t kept = lowest.peak;
  const auto is_reached = [&](std::int64_t target) {
    if (target < least || target == lowest.peak || descent.walked() > kMostWalked) return false;
    if (!descent.descend(target, kBeforePruning * price)) return false;
    if (descent.course().seconds > price) descent.prune(target);
    return descent.course().seconds <= price;
  };
  for (const double step : {0.08, 0.02, 0.005}) {  // of the peak; less where that costs too much
    while (is_reached(static_cast<std::int64_t>((1 - step) * static_cast<double>(lowest.peak))))
      lowest = descent.rung();
    descent.begin_with(lowest.choice);
  }
  if (descent.walked() <= kMostWalked) descent.prune(lowest.peak);
  return lowest.peak < kept ? std::optional(descent.rung()) : std::nullopt;
}

}  // namespace lethe
