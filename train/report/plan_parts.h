// Whose the activations of a network of sequences are: attention's, the head's or those of all else.
#pragma once
#include <array>
#include <string_view>

#include "memopt/memory_map.h"

namespace lethe {

enum class Part : std::uint8_t {
  Attention,  // what ops of attention read and write, and their workspaces: packed rows, outputs, logarithms of sums
  Head,       // the same of the ops of the loss: their rows, the logits if there are any, losses
  Others
};
inline constexpr std::size_t kParts = 3;
/// "attention".
std::string_view name_of(Part part);

using BytesByPart = std::array<std::int64_t, kParts>;  // of activations, their gradients and workspaces

struct PlanParts {
  BytesByPart peak = {};  // in memory then
  BytesByPart kept = {};  // by the forward ops for those of backward; nothing of evaluation
};
/// `peak`: of `planned`.
PlanParts parts_of(const Planned& planned, const Peak& peak);

}  // namespace lethe
