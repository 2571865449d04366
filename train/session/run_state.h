// state.json of a checkpoint: where a run stands, and beside it network/FILE, the network file as it was when the run
// began.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "framework/language/program.h"
#include "models/network.h"
#include "train/data/samples.h"
#include "train/session/elsewhere.h"

namespace lethe {

inline constexpr double kNotEvaluated = -1;  // no measure of an evaluation

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
  double best_score = kNotEvaluated;                     // of whatever the run chooses the best checkpoint by
  std::int64_t best_step = 0;
  std::int64_t evaluations_since_best = 0;
  Meaning meaning = {};                             // of the data
  std::map<std::string, std::string> options = {};  // whatever else the run wants to find again
  std::vector<std::string> frozen = {};             // parameters that are, by name; of a saved state
  std::vector<WeightsElsewhere> elsewhere = {};     // weights that the checkpoint does not hold
  NetworkFile file = {};  // of the network; nothing if it was built without one, or by an older version
  std::map<std::string, std::uint32_t> checksums = {};  // CRC-32 of other files of the checkpoint, by name
  bool operator==(const RunState&) const = default;
};

/// 16 hex digits: a hash of the forward program's text, before autodiff and updates are appended.
std::string program_id(const Program& forward);
/// Fails (Exit::Usage) if the checkpoint is of another network than `name` with program `id`; `directory` is for the
/// message.
void check_same_network(const RunState& state, const std::string& directory, const std::string& name,
                        const std::string& id);

inline constexpr const char* kNetworkFolder = "network";  // of a checkpoint
/// The name by which load_network() finds the file that the checkpoint holds; "" if it holds none.
std::string network_in(const std::string& checkpoint, const RunState& state);

/// Writes each of the two files as a whole or not at all, state.json last.
void write_state(const std::string& checkpoint, const RunState& state);
/// Fails (Exit::Data) if a file is missing, broken or not what its checksum says, if state.json is of another version,
/// or if images cannot be normalised by it.
RunState read_state(const std::string& checkpoint);
/// Fails (Exit::Data), naming the file, unless it is what the state's checksum says, as far as that has one.
void check_unchanged(const std::string& checkpoint, const RunState& state, const std::string& name);

}  // namespace lethe
