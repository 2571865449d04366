// f32 by bf16's instructions: x is the sum of two bf16 numbers, high + low, but for 2^-18 of it, and x y that of high
// high, high low and low high. All three are one product that is three times as deep, with sums in f32.
#pragma once
#include <cstdint>
#include <memory>

#include "framework/kernel.h"

namespace lethe {

/// Shorter sums are not computed so. The error of three products is 4.5e-6 of a result, however long the sum is; that
/// of f32's own grows with the root of its terms, so that from 256 on the first is at most twenty times the second.
inline constexpr std::int64_t kShortestSum = 256;

/// How a factor lies in memory: rows of `width` numbers that are summed over, each of which becomes three.
struct FactorRows {
  std::int64_t rows, width;
};

/// The kernel of f32 factors a and b that `deep` is of bf16 ones, of rows high, high, low for a and high, low, high for
/// b, with an f32 result. What is infinite may become NaN. Workspace: both factors, 6 bytes a number, and that of
/// `deep`.
std::unique_ptr<Kernel> prepare_three_products(FactorRows a, FactorRows b, std::unique_ptr<Kernel> deep);

}  // namespace lethe
