// Which samples are held out for evaluation.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace lethe {

/// Whether the sample of that name, or in that row, is held out for evaluation, as `share` of all are, from 0 to 1. A
/// hash of the name decides: the same in every run, whatever the seed, and a sample that is added moves no other.
bool is_held_out(std::string_view name, double share);
bool is_held_out(std::int64_t row, double share);

using RowsOfSplits = std::array<std::vector<std::int32_t>, 2>;
/// Divides the rows 0 to `rows` - 1 into those for training and those that are held out, ascending. Fails (Exit::Data)
/// where either has none; `what` is for the message.
RowsOfSplits divided_rows(std::string_view what, std::int64_t rows, double share);
/// Fails so unless both have one.
void check_divided(std::string_view what, std::int64_t training, std::int64_t held, double share);

}  // namespace lethe
