// The order of the ops in which least is alive at once.
#pragma once
#include <optional>

#include "memopt/recompute/tape.h"

namespace lethe {

struct LeastOrder {
  std::optional<Program> program = {};  // with the ops of block 0 in the best order that was found; none: as they stand
  std::int64_t at_least = 0;            // bytes that are alive at once in every order of these ops; 0: not known
};

/// Looks for orders in which fewer than `bytes` are alive at once, or fewer than in the program as it stands. Each op
/// reads what it read before. Work (`looks`, as OrderSearch takes it) and memory are bounded, and no clock is looked
/// at. A program with ops that exchange values between ranks, or with very many ops, is not looked at.
LeastOrder least_order(const Program& program, const Tape& tape, int looks,
                       const std::optional<std::int64_t>& bytes = {});

}  // namespace lethe
