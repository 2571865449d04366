// Trained parameters and states of the optimizer in fewer bits than f32, as a program is asked for them.
#pragma once
#include <optional>
#include <set>
#include <string>

#include "train/session/settings.h"

namespace lethe {

/// BuildOptions::param_dtype of a setting's; f32 is what parameters are in by themselves.
std::optional<DType> low_of(const std::optional<DType>& dtype);
/// Fails for what does not go together.
void check_few_bits(const ProgramSetting& setting);
/// The names that the patterns of `keep_f32` mean; fails for a pattern that means none.
std::set<std::string> kept_f32(const Network& network, const std::string& patterns);
/// The optimizer's settings, with what it must know of parameters that stay in f32 and of rounding.
OptimizerSettings rule_in_few_bits(const ProgramSetting& setting, const Network& network);

}  // namespace lethe
