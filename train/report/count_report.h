// How `train bench --count` and `train plan --roofline` are written.
#pragma once
#include <optional>
#include <string>

#include "train/search/step_count.h"
#include "train/session/device.h"

namespace lethe {

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
