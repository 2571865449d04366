// How `train bench --profile`, `train bench --count` and `train plan --roofline` are written.
#pragma once
#include <optional>
#include <string>

#include "train/search/step_count.h"
#include "train/search/step_profile.h"
#include "train/session/device.h"

namespace lethe {

/// `title`: of the program. `form`: text, md, csv or json, which has {"title","ms","peak":{"gflops","gb_per_s"},
/// "rows":[{"op","implementation","calls","ms","share","gflop","gflops","of_peak","mb","gb_per_s","of_copy"}]}: of a
/// step; shares of 1, rates a second.
std::string profile_as(const std::string& form, const std::string& title, const StepProfile& profile);

/// The roof over a step: what the GPU does at best in a second.
struct Roof {
  double flops = 0, bytes = 0;
};

/// `title`: of the program. `form`: text, md, csv or json, which has {"title","launches","own_bytes","bytes",
/// "rows":[{"op","implementation","calls","launches","gflop","mb","own_mb"}]}. With `roof` also "least_ms", in all and
/// of each row: the longer of its operations and its bytes at the roof's rates.
std::string count_as(const std::string& form, const std::string& title, const StepCount& count,
                     const std::optional<Roof>& roof);

}  // namespace lethe
