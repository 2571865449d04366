// Small random networks with loops and branches in each other, up to a depth of four.
#pragma once
#include "tests/support/random_program.h"

namespace lethe::testing {

/// The same for the same seed. All of it is smooth but for the conditions.
TrainingProgram random_control_program(std::uint64_t seed, DType dtype = DType::f64);

/// Of images, with norms, some of them in loops and branches: they need a batch of 2. Without its backward.
Network random_control_network(std::uint64_t seed, const BuildOptions& options);

/// Without its backward, which may be refused: arrays are read as a whole here and there, and written again.
Network random_rewriting_network(std::uint64_t seed);

}  // namespace lethe::testing
