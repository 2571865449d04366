#include "train/session/checkpoint.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <fstream>

#include "framework/random.h"
#include "tests/train/data_samples.h"
#include "tests/train/file_limit.h"
#include "tests/train/run_samples.h"
#include "tests/train/train_process.h"
#include "train/session/atomic_file.h"

namespace lethe::testing {
namespace {

namespace fs = std::filesystem;

class CheckpointTest : public ::testing::Test {
 protected:
  std::string directory() const { return folder_.text() + "/run"; }
  fs::path path(const std::string& name) const { return fs::path(directory()) / name; }
  std::string save(std::int64_t step, bool best = false, int keep = 2) {
    run_.fill(step);
    return Checkpoints(directory(), keep).save(run_.state(step), run_.store, run_.network, best);
  }
  /// The step of the newest checkpoint, after checking that all three files are of that step.
  std::int64_t loaded_step() {
    const std::string checkpoint = checkpoint_in(directory());
    const std::int64_t step = read_state(checkpoint).step;
    run_.fill(-1);
    RunState state = read_state(checkpoint);
    load_checkpoint(checkpoint, state, run_.store, run_.network);
    EXPECT_TRUE(run_.holds(step)) << step;
    EXPECT_EQ(state.checksums.size(), 3U);
    state.checksums.clear();
    EXPECT_EQ(state, run_.state(step));
    return step;
  }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& entry : fs::directory_iterator(directory())) all.push_back(entry.path().filename().string());
    std::sort(all.begin(), all.end());
    return all;
  }

  TemporaryFolder folder_;
  SmallRun run_;
};

TEST_F(CheckpointTest, ComesBackWhole) {
  EXPECT_EQ(save(400), path("step-000400"));
  EXPECT_EQ(loaded_step(), 400);
}

TEST_F(CheckpointTest, DirectoryReadsAsTheNewestCheckpoint) {
  save(1);
  save(2);
  EXPECT_EQ(read_state(directory()).step, 2);
  load_checkpoint(directory(), read_state(directory()), run_.store, run_.network);
  EXPECT_TRUE(run_.holds(2));
}

TEST_F(CheckpointTest, CheckpointItselfMayBeNamed) {
  const std::string first = save(1);
  save(2);
  EXPECT_EQ(find_latest(first), first);
}

TEST_F(CheckpointTest, KeepsTheNewestAndTheBest) {
  for (int step = 1; step <= 6; ++step) save(step, step == 2);
  EXPECT_EQ(names(), (std::vector<std::string>{"best", "latest", "network", "optimizer.safetensors", "state.json",
                                               "step-000002", "step-000005", "step-000006", "weights.safetensors"}));
  EXPECT_EQ(read_state(path("best").string()).step, 2);
  EXPECT_EQ(loaded_step(), 6);
}

TEST_F(CheckpointTest, SavingAStepAgainNeverTouchesTheOneInUse) {
  const std::string first = save(5);
  const std::string again = save(5);
  EXPECT_NE(first, again);
  EXPECT_EQ(loaded_step(), 5);
}

TEST_F(CheckpointTest, NewRunInAnOldDirectoryIsTheLatest) {
  save(1000);
  save(1);
  EXPECT_EQ(loaded_step(), 1);
  save(2);
  save(3);
  EXPECT_FALSE(fs::exists(path("step-001000")));
}

TEST_F(CheckpointTest, DirectoryMayMove) {
  save(7);
  fs::rename(directory(), folder_.text() + "/elsewhere");
  EXPECT_EQ(read_state(checkpoint_in(folder_.text() + "/elsewhere")).step, 7);
}

TEST_F(CheckpointTest, NothingThereIsToldApart) {
  EXPECT_EQ(find_latest(directory()), "");
  EXPECT_EQ(error_from([&] { checkpoint_in(directory()); }), message("'", directory(), "' holds no checkpoint"));
  fs::create_directory(directory());
  EXPECT_EQ(find_latest(directory()), "");
}

TEST_F(CheckpointTest, FullDiskLeavesTheOldCheckpoint) {
  save(1, true);
  const std::vector<std::string> before = names();
  const auto largest = static_cast<rlim_t>(fs::file_size(path("weights.safetensors")));
  int failures = 0;
  for (rlim_t limit = 0; limit < largest; limit += 64) {
    const std::string error = error_from([&] {
      const FileLimit full(limit);
      save(2, true);
    });
    EXPECT_PRED2(says, error, "cannot write '");
    EXPECT_EQ(loaded_step(), 1);
    EXPECT_EQ(names(), before);
    ++failures;
  }
  EXPECT_GT(failures, 5);
  save(2);
  EXPECT_EQ(loaded_step(), 2);
}

TEST_F(CheckpointTest, SaveBrokenOffAtAnyPointLeavesAWholeCheckpoint) {
  save(1);
  // while files are written
  fs::create_directory(path(".new-step-000002"));
  std::ofstream(path(".new-step-000002") / "weights.safetensors") << "half";
  EXPECT_EQ(loaded_step(), 1);
  // all written and renamed, `latest` not yet replaced
  fs::copy(path("step-000001"), path("step-000002"));
  EXPECT_EQ(loaded_step(), 1);
  // the new link made, not yet renamed
  fs::create_symlink("step-000002", path(".new-latest"));
  EXPECT_EQ(loaded_step(), 1);
  // an old checkpoint half removed
  fs::create_directory(path(".old-step-000000"));
  std::ofstream(path(".old-step-000000") / "state.json") << "{}";
  EXPECT_EQ(loaded_step(), 1);
  // the next save puts all in order
  save(2);
  EXPECT_EQ(loaded_step(), 2);
  EXPECT_EQ(names(), (std::vector<std::string>{"latest", "network", "optimizer.safetensors", "state.json",
                                               "step-000001", "step-000002", "weights.safetensors"}));
}

TEST_F(CheckpointTest, FirstSaveBrokenOffBeforeItsLinkIsFound) {
  save(3);
  fs::remove(path("latest"));
  EXPECT_EQ(loaded_step(), 3);
}

TEST_F(CheckpointTest, TheOnlyCheckpointIsNeverRemovedForOneOfItsName) {
  const std::string only = save(3);
  fs::remove(path("latest"));
  const FileLimit full(0);
  error_from([&] { save(3); });
  EXPECT_TRUE(fs::exists(only));
  EXPECT_EQ(loaded_step(), 3);
}

TEST_F(CheckpointTest, AFailedSaveLeavesAnUnusedOneOfItsNameToo) {
  const std::string unused = save(3);
  save(2);
  const FileLimit full(0);
  error_from([&] { save(3); });
  EXPECT_TRUE(fs::exists(unused + "/weights.safetensors"));
}

TEST_F(CheckpointTest, WeightsThatAreNotFiniteAreNotSaved) {
  save(1, true);
  const std::vector<std::string> before = names();
  for (const char* name : {"fc.weight", "bn.running_mean"})
    for (const float bad : {std::nanf(""), HUGE_VALF, -HUGE_VALF}) {
      run_.fill(2);
      std::vector<float> values = run_.floats(name);
      values.back() = bad;
      run_.store.write(name, values.data(), static_cast<std::int64_t>(values.size() * sizeof(float)));
      const std::string error = error_from(
          [&] { Checkpoints(directory(), 2).save(run_.state(2), run_.store, run_.network, true); }, Exit::Numeric);
      EXPECT_PRED2(says, error, message("'", name, "' holds values that are not finite after step 2"));
      EXPECT_EQ(names(), before);
      EXPECT_EQ(loaded_step(), 1);
    }
}

TEST_F(CheckpointTest, KilledAtRandomMomentsItLosesNothing) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  save(0);
  const std::chrono::duration<double, std::micro> one_save = Clock::now() - start;
  std::int64_t last = 0;
  Random random(11);
  for (int round = 0; round < 15; ++round) {
    const fs::path before = fs::read_symlink(path("latest"));
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0)
      for (std::int64_t step = last + 1;; ++step) save(step, step % 3 == 0);
    const bool saved = TrainProcess::wait_until([&] { return fs::read_symlink(path("latest")) != before; });
    usleep(static_cast<useconds_t>(3 * random.uniform() * one_save.count()));
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(saved && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    const std::int64_t step = loaded_step();
    EXPECT_GT(step, last);
    last = step;
  }
}

TEST_F(CheckpointTest, RefusesTheRunOfAnotherNetwork) {
  const RunState state = run_.state(1);
  EXPECT_EQ(error_from([&] { check_same_network(state, "runs/a", "lenet", state.program); }, Exit::Usage),
            "'runs/a' holds a run of network 'small', not of 'lenet'");
  Program wider = run_.network.program;
  wider.vars[0].shape[0] = 3;
  EXPECT_EQ(error_from([&] { check_same_network(state, "runs/a", "small", program_id(wider)); }, Exit::Usage),
            "'runs/a' holds a run of another 'small': its layers, batch, dtype or seed differ from what is asked for");
  check_same_network(state, "runs/a", "small", program_id(run_.network.program));
}

TEST_F(CheckpointTest, BrokenStateIsRefused) {
  const auto refusal_of = [&](const std::string& content) {
    folder_.write("state.json", content);
    return error_from([&] { read_state(folder_.text()); });
  };
  EXPECT_PRED2(says, refusal_of("{\"version\": 1,"), "state.json:1:15: syntax error");
  EXPECT_PRED2(says, refusal_of("{\"version\": 1e400}"), "state.json:1:13: the number 1e400 is too large");
  EXPECT_PRED2(says, refusal_of(std::string(100000, '[')), "state.json:1:102: nested deeper than 100");
  EXPECT_PRED2(says, refusal_of("[1]"), "state.json:1:1: found [1], expected an object with 'version'");
  EXPECT_PRED2(says, refusal_of("{}"), "'version' is missing");
  EXPECT_PRED2(says, refusal_of("{\"version\": 2}"), "is of version 2, this program reads version 1");
  EXPECT_PRED2(says, refusal_of("{\"version\": 1, \"network\": 3}"), "'network' is 3, which is not of the right type");
  EXPECT_PRED2(says, refusal_of("{\"version\": 1}"), "'network' is missing");
  for (const char* deviation : {"[0.5,0]", "[-1]"}) {
    RunState state = run_.state(1);
    state.meaning.mean = state.meaning.deviation = {0.5};
    write_state(folder_.text(), state);
    std::string text = bytes_in(folder_.text() + "/state.json");
    const std::size_t at = text.find('[', text.find("\"deviation\""));
    text.replace(at, text.find(']', at) + 1 - at, deviation);
    EXPECT_PRED2(says, refusal_of(text), "'deviation' has a number that is not finite and above 0");
  }
  folder_.remove("state.json");
  EXPECT_PRED2(says, error_from([&] { read_state(folder_.text()); }), "state.json: cannot be opened");
}

TEST_F(CheckpointTest, UnwritableDirectoryIsRefusedAtOnce) {
  folder_.write("file", std::string("no directory"));
  const std::string below = folder_.text() + "/file/run";
  EXPECT_EQ(error_from([&] { Checkpoints(below, 2); }, Exit::Usage),
            message("cannot make directory '", below, "': Not a directory"));
  EXPECT_EQ(error_from([&] { check_writable("/proc/self"); }, Exit::Usage),
            "cannot write in directory '/proc/self': No such file or directory");
  error_from([&] { Checkpoints(directory(), 0); }, Exit::Usage);
}

}  // namespace
}  // namespace lethe::testing
