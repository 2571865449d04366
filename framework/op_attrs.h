// Attributes that passes set on ops of any type.
#pragma once

namespace lethe {

/// "relu". Set by fuse_activations, after autodiff: gradient rules know nothing of it.
inline constexpr const char* kActivation = "activation";
/// Set by widen_outputs, of an op that widens: output 0 is of wide_of the inputs' dtype.
inline constexpr const char* kWideOutput = "wide_output";
/// Set by in_parts, of an op that draws: where the elements begin in those of the whole batch; 0 if absent.
inline constexpr const char* kFirstElement = "first_element";

}  // namespace lethe
