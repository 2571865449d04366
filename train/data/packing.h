// Which texts stand together in a window.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace lethe {

/// Puts texts of these lengths, in their order, into windows of `room`, each into the fullest that has room for all of
/// it, and of such ones the first; else into a new one. No text is longer than the room. Gives the window of each.
std::vector<std::int32_t> windows_of_texts(std::span<const std::int32_t> lengths, std::int64_t room);

}  // namespace lethe
