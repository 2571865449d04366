// What a run leaves of itself while it trains: records, and checkpoints with the state of the run.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "train/options.h"
#include "train/report/metrics.h"
#include "train/session/atomic_file.h"
#include "train/session/checkpoint.h"
#include "train/session/start.h"

namespace lethe {

/// Where records go, beside the directory of --save.
struct RunFiles {
  std::string log_json = {}, metrics = {};
  std::string tensorboard = {};  // a directory of event files
};

/// Of the run that begins there; one that is resumed goes on in them.
std::vector<std::unique_ptr<RecordFile>> open_records(const RunFiles& asked, const Start& start, const Notify& notify);

/// Where the run stands, and what it has to find again. `id`: network_id of the network; `data`: what the data is
/// called if no option says it.
RunState state_of(const Start& start, const Options& options, const Network& network, const std::string& id,
                  const std::string& data, const Meaning& meaning);

/// Null if the run saves nowhere. `leads`: of several ranks this is the first.
std::unique_ptr<Checkpoints> open_checkpoints(const Options& options, const Start& start, bool leads);

/// Of the directory where a run saves that did not go on in it. No other run may have saved there since `start` was
/// found. Null if it saves nowhere.
std::unique_ptr<RunLock> lock_run(const Options& given, const Start& start);

}  // namespace lethe
