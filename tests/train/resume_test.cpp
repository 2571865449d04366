// Runs that stop and go on: by kill, by signal, on a full disk.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iomanip>
#include <map>
#include <sstream>

#include "framework/random.h"
#include "tests/train/run_fixture.h"
#include "train/session/run_state.h"

namespace lethe::testing {
namespace {

class Resume : public RunTest {
 protected:
  bool exists(const std::string& name) const { return std::filesystem::exists(home_ / name); }
  /// kSteps steps, each of them recorded, a checkpoint each 4.
  std::vector<std::string> run_into(const std::string& name) const {
    return small({"--save", path(name), "--save-every", "4", "--steps", std::to_string(kSteps), "--log-every", "1"});
  }
  /// The last step that stands in the metrics of a run under way.
  std::int64_t steps_recorded(const std::string& name) const {
    std::int64_t last = 0;
    std::istringstream rows(bytes_in(path(name + "/metrics.csv")));
    for (std::string row; std::getline(rows, row);) last = std::max<std::int64_t>(last, std::atoll(row.c_str()));
    return last;
  }
  /// The accuracies of the evaluations on stdout, by step.
  static std::map<std::int64_t, double> evaluations(const std::string& out) {
    std::map<std::int64_t, double> by_step;
    std::istringstream lines(out);
    for (std::string line; std::getline(lines, line);) {
      long long step = 0;
      double loss = 0, accuracy = 0;
      if (std::sscanf(line.c_str(), "eval step %lld epoch %*d loss %lf acc %lf", &step, &loss, &accuracy) == 3)
        by_step[step] = accuracy;
    }
    return by_step;
  }
  static constexpr int kSteps = 160;
};

TEST_F(Resume, AfterAKillAtARandomStepIsTheUninterruptedRunToTheBit) {
  ASSERT_EQ(run_train(run_into("whole")).code, 0);
  Random random(1);
  int attempt = 0;
  for (int kills = 0; kills < 3; ++attempt) {
    ASSERT_LT(attempt, 30) << "the runs end before their kill";
    const std::string name = "killed" + std::to_string(attempt);
    const std::int64_t step = 5 + random.below(kSteps / 2);
    SCOPED_TRACE(name + ", to be killed after step " + std::to_string(step));
    TrainProcess process(run_into(name));
    ASSERT_TRUE(TrainProcess::wait_until([&] { return steps_recorded(name) >= step; }));
    process.send(SIGKILL);
    if (process.wait().signal != SIGKILL) continue;  // on a machine too busy to be killed in time
    ++kills;
    const Ended resumed = run_train({"--resume", path(name), "--threads", "1"});
    ASSERT_EQ(resumed.code, 0) << resumed.err;
    EXPECT_NE(resumed.err.find("resumed from " + path(name)), std::string::npos) << resumed.err;
    EXPECT_EQ(checkpoint_bytes(name), checkpoint_bytes("whole")) << resumed.err;
  }
}

TEST_F(Resume, AutoStartsAnewAndThenGoesOn) {
  const auto args = [&](const char* epochs) {
    return small({"--save", path("run"), "--resume", "auto", "--epochs", epochs, "--schedule", "constant"});
  };
  ASSERT_EQ(run_train(args("1")).code, 0);
  const Ended second = run_train(args("2"));
  ASSERT_EQ(second.code, 0) << second.err;
  EXPECT_NE(second.err.find("resumed from"), std::string::npos) << second.err;
  ASSERT_EQ(run_train(small({"--save", path("whole"), "--epochs", "2", "--schedule", "constant"})).code, 0);
  EXPECT_EQ(checkpoint_bytes("run"), checkpoint_bytes("whole"));
}

TEST_F(Resume, AnInterruptFinishesTheStepSavesAndIsNoFailure) {
  const char* endless = "9223372036854775807";
  TrainProcess process(
      small({"--save", path("run"), "--save-every", "0", "--steps", endless, "--log-every", "1", "--eval-every", "0"}));
  ASSERT_TRUE(TrainProcess::wait_until([&] { return steps_recorded("run") >= 3; }));
  process.send(SIGINT);
  const Ended ended = process.wait();
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_NE(ended.err.find("epoch 1/922337203685477581 step 3/10"), std::string::npos) << ended.err;
  EXPECT_NE(ended.err.find("stopped after step"), std::string::npos) << ended.err;
  EXPECT_TRUE(exists("run/weights.safetensors"));
}

TEST_F(Resume, AHangUpSavesAndGoesOn) {
  TrainProcess process(small(
      {"--save", path("run"), "--save-every", "0", "--steps", "1000000", "--log-every", "1", "--eval-every", "0"}));
  ASSERT_TRUE(TrainProcess::wait_until([&] { return steps_recorded("run") >= 3; }));
  EXPECT_FALSE(exists("run/latest"));
  process.send(SIGHUP);
  ASSERT_TRUE(TrainProcess::wait_until([&] { return exists("run/latest"); }));
  const std::string then = bytes_in(path("run/metrics.csv"));
  EXPECT_TRUE(TrainProcess::wait_until([&] { return bytes_in(path("run/metrics.csv")).size() > then.size(); }));
  process.send(SIGKILL);
  EXPECT_EQ(process.wait().signal, SIGKILL);
}

TEST_F(Resume, AFullDiskWhileSavingLeavesTheOldCheckpointWhole) {
  ASSERT_EQ(run_train(small({"--save", path("run"), "--epochs", "1", "--schedule", "constant"})).code, 0);
  const std::string before = checkpoint_bytes("run");
  constexpr std::int64_t kLimit = 2000;  // less than a checkpoint's weights, more than the metrics
  const Ended full =
      TrainProcess({"--resume", path("run"), "--epochs", "2", "--threads", "1", "--quiet"}, {.file = kLimit}).wait();
  EXPECT_EQ(full.code, 4);
  EXPECT_EQ(std::count(full.err.begin(), full.err.end(), '\n'), 1) << full.err;
  EXPECT_EQ(checkpoint_bytes("run"), before);
  EXPECT_EQ(run_train({"--resume", path("run"), "--epochs", "2", "--threads", "1"}).code, 0);
}

TEST_F(Resume, MetricsHaveOneHeaderAfterThreeResumes) {
  for (const char* epochs : {"1", "2", "3", "4"}) {
    const Ended run = run_train(small({"--save", path("run"), "--resume", "auto", "--epochs", epochs}));
    ASSERT_EQ(run.code, 0) << run.err;
  }
  const std::string metrics = bytes_in(path("run/metrics.csv"));
  EXPECT_EQ(metrics.find("step,"), 0U);
  EXPECT_EQ(metrics.find("step,", 1), std::string::npos);
  EXPECT_NE(metrics.find("\n40,4,eval,"), std::string::npos) << metrics;
}

TEST_F(Resume, ACompleteRunTakenUpAgainIsScoredAndRecordsNothingTwice) {
  ASSERT_EQ(run_train(small({"--save", path("run"), "--epochs", "1", "--schedule", "constant"})).code, 0);
  const std::string before = bytes_in(path("run/metrics.csv"));
  const Ended again = run_train({"--resume", path("run"), "--threads", "1"});
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(evaluations(again.out).count(10), 1U) << again.out;
  EXPECT_EQ(bytes_in(path("run/metrics.csv")), before);
}

TEST_F(Resume, ACompleteRunIsSavedAndRecordedInAnotherDirectory) {
  ASSERT_EQ(run_train(small({"--save", path("run"), "--epochs", "1", "--schedule", "constant"})).code, 0);
  const Ended moved = run_train({"--resume", path("run"), "--save", path("on"), "--threads", "1"});
  ASSERT_EQ(moved.code, 0) << moved.err;
  EXPECT_EQ(evaluations(moved.out).count(10), 1U) << moved.out;
  EXPECT_EQ(checkpoint_bytes("on"), checkpoint_bytes("run"));
  EXPECT_EQ(read_state(path("on/best")).step, 10);
  EXPECT_NE(bytes_in(path("on/metrics.csv")).find("\n10,1,eval,"), std::string::npos);
}

TEST_F(Resume, TheBestByEvaluationIsKeptBesideTheNewest) {
  const Ended run = run_train(small({"--save", path("run"), "--keep", "1", "--steps", "60", "--eval-every", "2"}));
  ASSERT_EQ(run.code, 0) << run.err;
  const auto by_step = evaluations(run.out);
  ASSERT_EQ(by_step.size(), 30U) << run.out;
  const auto best = std::max_element(by_step.begin(), by_step.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  ASSERT_NE(best->first, by_step.begin()->first) << "the first evaluation is the best: nothing to tell apart";
  ASSERT_NE(best->first, 60) << "the last evaluation is the best: nothing to tell apart";
  EXPECT_EQ(read_state(path("run/best")).step, best->first) << run.out;
  EXPECT_EQ(read_state(path("run/latest")).step, 60);
  const Ended score = run_train({"eval", "--model", path("small.json"), "--data", "shapes:train=160,test=40",
                                 "--weights", path("run/best/weights.safetensors")});
  std::ostringstream expected;
  expected << std::fixed << std::setprecision(4) << " acc " << best->second << " ";
  EXPECT_NE(score.out.find(expected.str()), std::string::npos) << score.out;
  int checkpoints = 0;
  for (const auto& entry : std::filesystem::directory_iterator(home_ / "run"))
    checkpoints += entry.is_directory() && !entry.is_symlink();
  EXPECT_EQ(checkpoints, 2);
}

TEST_F(Resume, TheBestOfTheLastStepIsKeptWhateverTheIntervals) {
  for (const char* save_every : {"0", "3", "7", "100"})
    for (const char* eval_every : {"4", "7", "100"}) {
      SCOPED_TRACE(std::string("--save-every ") + save_every + " --eval-every " + eval_every);
      const std::string name = std::string("run") + save_every + "_" + eval_every;
      const Ended run = run_train(
          small({"--save", path(name), "--steps", "7", "--save-every", save_every, "--eval-every", eval_every}));
      ASSERT_EQ(run.code, 0) << run.err;
      const auto by_step = evaluations(run.out);
      ASSERT_EQ(by_step.count(7), 1U) << run.out;
      const std::int64_t best = by_step.count(4) != 0 && by_step.at(4) >= by_step.at(7) ? 4 : 7;
      EXPECT_EQ(read_state(path(name + "/best")).step, best) << run.out;
      EXPECT_EQ(read_state(path(name + "/latest")).step, 7);
    }
}

TEST_F(Resume, OfOneCheckpointSavesOnlyWhereToldAndSaysSo) {
  ASSERT_EQ(run_train(small({"--save", path("run"), "--epochs", "1", "--schedule", "constant"})).code, 0);
  const std::string note = "nothing will be saved; --save DIR names where to", one = path("run/step-000010");
  const Ended unsaved = run_train({"--resume", one, "--epochs", "2", "--threads", "1"});
  ASSERT_EQ(unsaved.code, 0) << unsaved.err;
  EXPECT_NE(unsaved.err.find(note), std::string::npos) << unsaved.err;
  EXPECT_FALSE(exists("run/step-000020"));
  const Ended saved = run_train({"--resume", one, "--save", path("on"), "--epochs", "2", "--threads", "1"});
  ASSERT_EQ(saved.code, 0) << saved.err;
  EXPECT_EQ(saved.err.find(note), std::string::npos) << saved.err;
  EXPECT_TRUE(exists("on/step-000020"));
}

}  // namespace
}  // namespace lethe::testing
