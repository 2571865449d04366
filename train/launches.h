// `train bench --count` and `train plan --roofline`.
#pragma once
#include <string>

#include "train/options.h"

namespace lethe {

/// Writes what a step launches and moves on a GPU, and for --roofline the least time that takes; `option` is the one
/// that asks, for messages. Gives the exit code.
int write_count(const Options& given, const std::string& option, const std::string& format);

}  // namespace lethe
