// Runs of several emulated ranks that save checkpoints.
#pragma once
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/train/emulated_ranks.h"
#include "tests/train/small_networks.h"
#include "tests/train/train_process.h"
#include "train/session/checkpoint.h"
#include "train/session/session.h"

namespace lethe::testing {

inline SessionSetting sharing(const std::string& model, std::int64_t batch, std::int64_t shards,
                              const std::string& optimizer = "momentum") {
  SessionSetting setting{.device = {.threads = 1}};
  setting.program.network = {.model = model, .batch = batch, .seed = 3};
  setting.program.network.sets = sets_of_small(model);
  setting.program.shards.parts = shards;
  setting.program.memory.levels.seconds = 0.01;  // any arena will do
  setting.program.update.rule = optimizer_named(optimizer);
  setting.data.spec = message(reads_text(model) ? "sentences" : "shapes", ":train=64,test=11");
  return setting;
}

/// One rank of a run up to that step, from where the checkpoints in `directory` stand, or else from `weights`. The last
/// step of all is saved.
inline void train_to(std::int64_t step, const SessionSetting& setting, const std::string& directory, bool sharded,
                     std::shared_ptr<Peers> peers, const WeightsSetting& weights = {}) {
  SessionSetting own = setting;
  own.peers = peers;
  Session session(own);
  const Start start = find_start(directory, "auto");
  session.fill_from(start, start.checkpoint.empty() ? weights : WeightsSetting{.save_frozen = weights.save_frozen});
  if (peers) peers->gather(std::vector<std::byte>(peers->rank().of).data(), 1);  // all have looked for it
  const bool writes = sharded || !peers || peers->rank().number == 0;
  Checkpoints checkpoints = writes ? Checkpoints(directory, 2, sharded) : Checkpoints();
  Listener silent;
  session.executor();
  if (peers) peers->gather(std::vector<std::byte>(peers->rank().of).data(), 1);  // all have read it
  session.train({.lr = 0.01, .steps = step, .eval_every = {2, false}}, silent, &checkpoints);
  EXPECT_EQ(session.device().peak(), session.plan().bytes.total());
}

/// All of so many ranks, in that stage of ZeRO.
inline void train_to(std::int64_t step, SessionSetting setting, const std::string& directory, std::int64_t ranks,
                     int zero, bool sharded = false, const WeightsSetting& weights = {}) {
  setting.program.shards.zero = zero;
  if (ranks == 1) return train_to(step, setting, directory, sharded, nullptr, weights);
  EmulatedWorld(ranks).run(
      [&](const std::shared_ptr<Peers>& peers) { train_to(step, setting, directory, sharded, peers, weights); });
}

/// The bytes of a file that must be there.
inline std::string bytes_saved_in(const std::string& file) {
  EXPECT_TRUE(std::filesystem::is_regular_file(file)) << file;
  return bytes_in(file);
}

/// The bytes of a run's last checkpoint, which is whole.
inline std::string saved_in(const std::string& directory) {
  return bytes_saved_in(directory + "/weights.safetensors") + bytes_saved_in(directory + "/optimizer.safetensors");
}

}  // namespace lethe::testing
