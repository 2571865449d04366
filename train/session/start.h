// Where a run starts: anew, from given weights, or from a checkpoint.
#pragma once
#include <map>
#include <optional>
#include <string>

#include "train/data/class_balance.h"
#include "train/data/dataset.h"
#include "train/session/checkpoint.h"
#include "train/session/weights_setting.h"

namespace lethe {

struct Start {
  std::string checkpoint = {};  // "" if the run starts anew
  RunState state = {};          // of the checkpoint
  std::string save = {};        // where this run saves; "" nowhere
  bool moves = false;           // whether that is another directory than the checkpoint's run has
};

/// The directory where a run that `resume` means saves on; "" if it begins anew or saves elsewhere. Reads no file of
/// it.
std::string goes_on_in(const std::string& save, const std::string& resume);

/// Finds the checkpoint of the run in the directory `resume` ("auto": in `save`, if there is one; "": none). A resumed
/// run goes on saving where it was, unless `save` names a directory. Fails if a new run would write into the directory
/// of another.
Start find_start(const std::string& save, const std::string& resume);

/// Fails if the checkpoint is of another network, or if its batch, seed or dtype are others than those of `options`
/// (by the names that RunState::options has). `id`: network_id of what is to be trained.
void check_fits(const Start& start, const std::map<std::string, std::string>& options, const std::string& network,
                const std::string& id);

/// Initial values of all parameters by the seed, then those of the checkpoint, or those that `weights` means, if it
/// has a path (read_weights). Gives what checkpoints need not hold, if `weights` asks for that: what is frozen, and as
/// a file has it. Of a run that begins there must be something, unless nothing is frozen.
std::vector<WeightsElsewhere> fill_store(const Start& start, std::uint64_t seed, const WeightsSetting& weights,
                                         const Network& network, Store& store, const Notify& notify = {});

/// What the setting says of each class, with `data` to count it by, into the network's State (values_of()).
void fill_class_weights(const ClassWeights& weights, const Samples& data, const Network& network, Store& store);

/// A run as it was saved.
struct SavedRun {
  std::string checkpoint = {};
  RunState state = {};
};
/// The weights file that `path` means: the file itself, or the best or else the newest of a checkpoint directory, of
/// which it is the index if that is in shares; of another directory a library's.
std::string weights_file(const std::string& path);
/// The run that saved the weights which `path` means: what stands beside them. None if nothing does, or if `path` is
/// empty. Fails (Exit::Data) if there are no weights there.
std::optional<SavedRun> run_of_weights(const std::string& path);
/// RunState::options, with the network file that the checkpoint holds as the model.
std::map<std::string, std::string> options_in(const std::string& checkpoint, const RunState& state);

/// Reads the weights that the setting's path means: those of the file itself, or of the best or else the newest
/// checkpoint of a directory, or those of a library in one (library_weights.h); then its adapter. `notify`, if it is
/// one, hears what load_weights() has to say. Fails as that does, and (Exit::Data) where the run beside them says that
/// they were others. Gives the files from which each came that is not made anew, as yet without SHA-256.
std::vector<WeightsElsewhere> read_weights(const WeightsSetting& weights, Store& store, const Network& network,
                                           const Notify& notify = {});

}  // namespace lethe
