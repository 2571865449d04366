// Checkpoints of which each rank writes its share are read by any number of ranks, and refused unless they are whole.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "framework/error.h"
#include "tests/support/expect_error.h"
#include "tests/train/data_samples.h"
#include "tests/train/shared_runs.h"
#include "train/session/share_files.h"

namespace lethe::testing {
namespace {

namespace fs = std::filesystem;

TEST(ShardedCheckpoint, IsGoneOnFromByOtherRanksInOtherStages) {
  const SessionSetting setting = sharing("resnet20", 8, 4, "adam");
  const TemporaryFolder folder;
  const std::string whole = folder.text() + "/whole", shares = folder.text() + "/shares";
  train_to(8, setting, whole, 1, 0);
  train_to(2, setting, shares, 4, 3, true);
  EXPECT_TRUE(fs::exists(shares + "/latest/rank-3-of-4.safetensors"));
  EXPECT_FALSE(fs::exists(shares + "/weights.safetensors"));
  train_to(4, setting, shares, 2, 1, true);
  EXPECT_TRUE(fs::exists(shares + "/shares.json"));
  train_to(6, setting, shares, 1, 0, true);
  EXPECT_TRUE(fs::exists(shares + "/latest/rank-0-of-1.safetensors"));
  train_to(8, setting, shares, 4, 2);
  EXPECT_FALSE(fs::exists(fs::symlink_status(shares + "/shares.json")));
  EXPECT_TRUE(saved_in(shares) == saved_in(whole));
}

TEST(ShardedCheckpoint, IsTheSameInAllStages) {
  const SessionSetting setting = sharing("lenet", 6, 6);
  const TemporaryFolder folder;
  const auto saved = [&](int zero) {
    const std::string run = folder.text() + message("/", zero);
    train_to(1, setting, run, 3, zero, true);
    std::string all = bytes_saved_in(run + "/latest/shares.json");
    for (int rank = 0; rank < 3; ++rank)
      all += bytes_saved_in(message(run, "/latest/rank-", rank, "-of-3.safetensors"));
    return all;
  };
  const std::string first = saved(0);
  for (const int zero : {1, 2, 3}) EXPECT_TRUE(saved(zero) == first) << zero;
}

/// On six ranks a column of lenet's first kernel, [6,5,5,1], has as many numbers as a share of the kernel.
TEST(ShardedCheckpoint, TakesNoColumnOfAdafactorForAShare) {
  const SessionSetting setting = sharing("lenet", 6, 6, "adafactor");
  const TemporaryFolder folder;
  train_to(4, setting, folder.text() + "/one", 1, 0);
  for (const bool sharded : {false, true}) {
    const std::string run = folder.text() + message("/", sharded);
    train_to(2, setting, run, 6, 0, sharded);
    train_to(4, setting, run, 1, 0);
    EXPECT_TRUE(saved_in(run) == saved_in(folder.text() + "/one")) << sharded;
  }
}

/// A run of two ranks with checkpoints of steps 1 and 2.
class DamagedShares : public ::testing::Test {
 protected:
  DamagedShares() {
    train_to(1, setting_, run_, 2, 3, true);
    train_to(2, setting_, run_, 2, 3, true);
  }
  std::string of(int step, const std::string& name) const { return message(run_, "/step-00000", step, "/", name); }
  /// As if nothing were known of the checkpoint but its shares.
  void load_step_2(Session& session) const {
    load_checkpoint(run_ + "/step-000002", {}, session.store(), session.network());
  }
  /// The message on the checkpoint of step 2.
  std::string complaint() const {
    Session session(setting_);
    return error_from([&] { load_step_2(session); });
  }

  const SessionSetting setting_ = sharing("lenet", 8, 4);
  const TemporaryFolder folder_;
  const std::string run_ = folder_.text() + "/run", second_ = of(2, "rank-1-of-2.safetensors");
};

TEST_F(DamagedShares, AreRefused) {
  const std::string good = bytes_saved_in(second_);
  fs::remove(second_);
  EXPECT_EQ(complaint(), second_ + ": cannot be opened as a file");
  std::ofstream(second_, std::ios::binary) << good.substr(0, good.size() - 4);
  EXPECT_PRED2(says, complaint(), second_ + ": ");
  EXPECT_PRED2(says, complaint(), "the file is truncated");
  fs::copy_file(of(1, "rank-1-of-2.safetensors"), second_, fs::copy_options::overwrite_existing);
  EXPECT_EQ(complaint(), second_ + ": is of another checkpoint than shares.json, which is of step 2");
  fs::copy_file(of(2, "rank-0-of-2.safetensors"), second_, fs::copy_options::overwrite_existing);
  EXPECT_PRED2(says, complaint(), "rank-1-of-2.safetensors: is of another checkpoint");
  for (const std::size_t at : {good.size() - 1, good.size() / 2}) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 1);
    std::ofstream(second_, std::ios::binary) << bad;
    EXPECT_PRED2(says, complaint(), "is not what shares.json says: the file is damaged, or of another checkpoint");
  }
  std::ofstream(second_, std::ios::binary) << good;
  EXPECT_EQ(error_of([&] {
              Session session(setting_);
              load_step_2(session);
            }),
            "(nothing)");
}

TEST_F(DamagedShares, MayHaveABadIndex) {
  const std::string index = of(2, "shares.json"), good = bytes_saved_in(index);
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string bad = good;
    bad.replace(bad.find(from), from.size(), to);
    std::ofstream(index) << bad;
    return complaint();
  };
  EXPECT_PRED2(says, changed("\"version\": 2", "\"version\": 7"), "is of version 7, this program reads version 2");
  EXPECT_PRED2(says, changed("\"ranks\": 2", "\"ranks\": 4"), "has 2 checksums, expected one of each of 4 ranks");
  EXPECT_PRED2(says, changed("\"f32\"", "\"f99\""), "unknown dtype 'f99'");
  EXPECT_PRED2(says, changed("conv1.weight", "conv7.weight"), "tensor 'conv7.weight' is missing");
  EXPECT_PRED2(says, changed("\"step\": 2", "\"step\": 3"), "is of another checkpoint");
  EXPECT_PRED2(says, changed("{", ""), "shares.json:");
}

// A save that ended before its last moment leaves no checkpoint.
TEST_F(DamagedShares, AreNoCheckpointWithoutItsState) {
  for (const char* const name : {"/.new-step-000003", "/step-000003"}) {
    fs::copy(run_ + "/step-000002", run_ + name, fs::copy_options::recursive);
    fs::remove(run_ + name + "/state.json");
  }
  fs::remove(run_ + "/latest");
  fs::create_directory_symlink("step-000003", run_ + "/latest");
  EXPECT_EQ(find_latest(run_), run_ + "/step-000002");
  train_to(3, setting_, run_, 4, 1, true);
  EXPECT_EQ(find_latest(run_), run_ + "/step-000003");
  EXPECT_FALSE(fs::exists(run_ + "/.new-step-000003"));
}

}  // namespace
}  // namespace lethe::testing
