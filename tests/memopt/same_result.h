// Runs a training program under one memory setting and says what came out, to be compared with another setting.
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "memopt/memopt.h"
#include "tests/support/random_program.h"

namespace lethe::testing {

struct Outcome {
  std::vector<std::map<std::string, std::uint64_t>> hashes;  // of what ops wrote, by step
  std::set<std::string> unread;                              // vars that are views here, which nobody reads: no hash
  std::set<std::string> folded_away;                         // masks, sums and casts that passes do without
  std::vector<std::string> losses;                           // by step, in as many digits as tell all apart
  std::map<std::string, std::vector<std::byte>> store;       // params and states at the end
  std::int64_t predicted = 0, taken = 0;                     // bytes: by the plan, at most held of the device
  Bytes bytes;                                               // predicted, by category
};

/// Every setting of --memopt.
const std::vector<std::string>& all_settings();
MemoptOptions options_of(const std::string& memopt, bool skip_grads, const Network& network);

/// What a run begins with: the same for all settings.
struct Given {
  std::map<std::string, std::vector<std::byte>> store;          // params and states
  std::vector<std::map<VarId, std::vector<std::byte>>> inputs;  // by step
};
/// As fill_network has it, the first input changed from step to step.
Given given_to(const Network& network, int steps);

/// A step for each of the given inputs, in checked mode.
Outcome run_under(const TrainingProgram& made, const MemoptOptions& options, const Given& given, int threads = 1);
/// Fails the running test where they differ in any bit.
void expect_same_outcome(const Outcome& outcome, const Outcome& expected);

/// Runs under all settings against none, with and without --skip-grads, and with inputs staged and updates gathered:
/// the same outcome, and no more bytes taken than predicted; as many, but where buffers are released and a block does
/// not run.
void expect_the_same_under_all_settings(const TrainingProgram& made, int steps, int threads = 1);

}  // namespace lethe::testing
