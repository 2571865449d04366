// Attributes that passes set on ops of any type.
#pragma once

namespace lethe {

/// "relu". Set by fuse_activations, after autodiff: gradient rules know nothing of it.
inline constexpr const char* kActivation = "activation";
/// Set by fuse_products, of `matmul`: output 1 has the sums of its first factor's columns; it multiplies what it gives
/// by the derivative of gelu, as GPT-2 has it, at input 2.
inline constexpr const char* kSumsOfA = "sums_of_a";
inline constexpr const char* kGeluGrad = "gelu_grad";
/// Set by widen_outputs, of an op that widens: output 0 is of wide_of the inputs' dtype.
inline constexpr const char* kWideOutput = "wide_output";
/// Set by in_parts, of an op that draws: where the elements begin in those of the whole batch; 0 if absent.
inline constexpr const char* kFirstElement = "first_element";
/// Set by append_updates, of updates of the share that one of several ranks has of a parameter: how many there are, and
/// which it is, from 0.
inline constexpr const char* kRanks = "ranks";
inline constexpr const char* kRank = "rank";

}  // namespace lethe
