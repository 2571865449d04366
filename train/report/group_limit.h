// How much memory the system lets this process take.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace lethe {

/// The least bytes that a control group which this process is in allows, of either version of control groups; none if
/// nothing limits it. `root` is where the system's files begin.
std::optional<std::uint64_t> group_limit(const std::string& root = "");

}  // namespace lethe
