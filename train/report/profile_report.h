// How `train bench --profile` is written.
#pragma once
#include <string>

#include "train/search/step_profile.h"

namespace lethe {

/// `title`: of the program. `form`: text, md, csv or json, which has {"title","ms","peak":{"gflops","gb_per_s"},
/// "rows":[{"op","implementation","calls","ms","share","gflop","gflops","of_peak","mb","gb_per_s","of_copy"}]}: of a
/// step; shares of 1, rates a second.
std::string profile_as(const std::string& form, const std::string& title, const StepProfile& profile);

}  // namespace lethe
