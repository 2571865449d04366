// A training run on disk, to go on from:
//
//   DIR/step-000400/weights.safetensors    parameters and running statistics
//   DIR/step-000400/optimizer.safetensors  momentum and the like, step counter
//   DIR/step-000400/state.json             where the run stands, and checksums of the other files
//   DIR/step-000400/network/FILE           the network file as it was when the run began
//   DIR/latest -> step-000400              the newest checkpoint
//   DIR/best -> step-000200                the best by evaluation
//   DIR/weights.safetensors -> latest/weights.safetensors, and likewise the others: DIR reads as a checkpoint
//
// With --checkpoint sharded the first two are shares.json and a file of each rank (share_files.h).
//
// A checkpoint is written under DIR/.new-step-000400, brought to disk, renamed; then `latest` is replaced by one rename
// of a link made aside. So whenever the process dies, `latest` names a whole checkpoint, the old or the new one. What a
// broken save has left, the next one removes.
#pragma once
#include <filesystem>
#include <map>
#include <string>

#include "framework/builder/builder.h"
#include "framework/run/store.h"
#include "train/session/run_state.h"

namespace lethe {

/// Saves checkpoints in one directory.
class Checkpoints {
 public:
  /// Makes the directory; fails (Exit::Usage) if nothing can be written there. `keep`: how many of the newest stay,
  /// at least 1; the best stays beside them. `sharded`: each rank writes its share, all of them into this directory.
  Checkpoints(std::string directory, int keep, bool sharded = false);
  /// For a rank other than the first, which alone writes whole tensors: save() gives that one this rank's shares.
  Checkpoints() = default;
  /// Saves the store, which all ranks do together; `best` also points DIR/best at it. Gives the checkpoint's directory.
  /// A failure (a full disk: Exit::Data; weights that are not finite: Exit::Numeric) leaves the checkpoints that were
  /// there.
  std::string save(const RunState& state, const Store& store, const Network& network, bool best = false);

 private:
  void write(const std::string& path, const RunState& state, const Store& store, const Network& network) const;
  /// Writes what each rank has its part in: all but the state of the run. Gives checksums by file.
  std::map<std::string, std::uint32_t> write_tensors(const std::string& path, const RunState& state, const Store& store,
                                                     const Network& network) const;
  void prune() const;

  std::string directory_ = {};  // "": another rank's
  int keep_ = 1;
  bool sharded_ = false;
};

bool is_checkpoint(const std::filesystem::path& directory);
/// The newest checkpoint in `directory` (which may be a checkpoint itself), or "" if there is none.
std::string find_latest(const std::string& directory);
/// The same; fails (Exit::Data) if there is none.
std::string checkpoint_in(const std::string& directory);

/// Reads weights and optimizer states into the store, which must have all vars already (Store::add). Fails (Exit::Data)
/// on a file that is not what the state of the checkpoint says. Gives lines for the user (Loaded).
std::vector<std::string> load_checkpoint(const std::string& checkpoint, const RunState& state, Store& store,
                                         const Network& network);

}  // namespace lethe
