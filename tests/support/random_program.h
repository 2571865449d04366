// Small random networks with their backward: convolutions, norms, pools, dropout, joins of branches, vars and
// parameters with several readers, now and then a head without logits.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "framework/autodiff/autodiff.h"
#include "framework/builder/builder.h"
#include "optimizer/optimizer.h"
#include "tests/support/interpreter.h"

namespace lethe::testing {

struct TrainingProgram {
  Network network;  // `network.program` holds the backward too
  std::vector<ParamGrad> grads;
};

/// The same for the same seed, but for a norm where a channel of the batch has one value alone. A third of them have
/// frozen parameters, and a third, if not of f64, parameters in bf16 (random_training.h).
Network random_network(std::uint64_t seed, const BuildOptions& options);
/// The same for the same seed.
TrainingProgram random_program(std::uint64_t seed, DType dtype = DType::f64);
/// Without a relu after many a layer, at whose kinks differences give no gradient.
TrainingProgram random_smooth_program(std::uint64_t seed);
/// How many a test takes: the environment variable LETHE_RANDOM_PROGRAMS, else 60, or 20 under AddressSanitizer.
int random_programs();
/// Seeds of so many: from the environment variable LETHE_FIRST_SEED on, else from 0.
std::vector<int> random_seeds(int programs = random_programs());

/// Appends the backward of the network's loss, `narrow` as append_backward has it; the updates of an optimizer, its
/// learning rate being one more input.
TrainingProgram with_backward(Network network, bool narrow = false);
TrainingProgram with_updates(TrainingProgram made, const std::string& optimizer);
TrainingProgram with_updates(TrainingProgram made, const OptimizerSettings& rule);
/// Initial values for all Params and States, as a Store has them; random ones for all inputs.
void fill_network(const Network& network, Interpreter& values);

}  // namespace lethe::testing
