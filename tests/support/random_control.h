// Small random networks with loops and branches in each other, up to a depth of four.
#pragma once
#include "tests/support/random_program.h"

namespace lethe::testing {

/// The same for the same seed. All of it is smooth but for the conditions.
TrainingProgram random_control_program(std::uint64_t seed, DType dtype = DType::f64);

}  // namespace lethe::testing
