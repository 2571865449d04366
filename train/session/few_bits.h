// Trained parameters, states of the optimizer and sums of gradients in fewer bits than f32, as a program is asked for
// them.
#pragma once
#include "train/session/settings.h"

namespace lethe {

/// Fails for what does not go together, a loss scale of another dtype than f16 among it.
void check_few_bits(const ProgramSetting& setting);
/// Sets BuildOptions::param_dtype and keep_f32; gives whether the network, as it is without, is to be built again.
/// Fails for a pattern of `keep_f32` that means no parameter.
bool choose_bits(BuildOptions& options, const Network& network, const NetworkSetting& setting);
/// Whether gradients of parameters of two axes or more stay in 16 bits (append_backward).
bool keeps_gradients_narrow(const NetworkSetting& setting);
/// The optimizer's settings, with what it must know of parameters that stay in f32 and of rounding.
OptimizerSettings rule_of(const ProgramSetting& setting, const Network& network);

}  // namespace lethe
