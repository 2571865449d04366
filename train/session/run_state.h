// state.json of a checkpoint: where a run stands.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "framework/program.h"

namespace lethe {

/// Where a run stands and what it must have in common with the run that goes on.
struct RunState {
  std::string network = {};         // its name
  std::string program = {};         // program_id of it
  std::int64_t epoch = 0;           // whole epochs done
  std::int64_t batch_in_epoch = 0;  // steps done of the next one
  std::int64_t step = 0;            // steps done since the start
  std::uint64_t seed = 0;
  std::int64_t batch = 0;
  double learning_rate = 0;                              // before the schedule
  std::string schedule = {}, optimizer = {}, data = {};  // as text
  double best_accuracy = -1;                             // -1: not yet evaluated
  std::int64_t best_step = 0;
  std::int64_t evaluations_since_best = 0;
  std::vector<std::string> classes = {};            // of images: their names, by label
  std::vector<double> mean = {}, deviation = {};    // of images: what normalises them, by channel
  std::map<std::string, std::string> options = {};  // whatever else the run wants to find again
  bool operator==(const RunState&) const = default;
};

/// 16 hex digits: a hash of the forward program's text, before autodiff and updates are appended.
std::string program_id(const Program& forward);
/// Fails (Exit::Usage) if the checkpoint is of another network than `name` with program `id`; `directory` is for the
/// message.
void check_same_network(const RunState& state, const std::string& directory, const std::string& name,
                        const std::string& id);

/// Writes it as a whole or not at all.
void write_state(const std::string& checkpoint, const RunState& state);
/// Fails (Exit::Data) if it is missing, broken or of another version, or if images cannot be normalised by it.
RunState read_state(const std::string& checkpoint);

}  // namespace lethe
