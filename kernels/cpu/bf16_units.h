// What the processor multiplies bf16 by.
#pragma once

namespace lethe {

/// Whether the processor multiplies tiles of bf16 (AMX), Linux lets this process use them, and this build can.
bool has_amx();

/// Whether AVX-512's instructions for bf16 multiply half as many numbers in the same time as those for f32. So they do
/// on Intel's processors from Sapphire Rapids on (measured: Emerald Rapids), which have AMX for bf16; but a virtual
/// machine may be without that.
bool has_slow_bf16();

/// Whether AVX-512's products of pairs of bf16 take half of the time of f32's, and this build has them.
bool has_fast_dots();

}  // namespace lethe
