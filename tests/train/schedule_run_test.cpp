// Runs whose learning rate follows a course: of older versions, and resumed for more epochs.
#include <gtest/gtest.h>

#include <regex>

#include "optimizer/schedule.h"
#include "tests/train/data_samples.h"
#include "tests/train/run_fixture.h"
#include "tests/train/shared_runs.h"
#include "train/session/run_state.h"

namespace lethe::testing {
namespace {

namespace fs = std::filesystem;

/// The state of a checkpoint as a version wrote it whose +warmup multiplied the curve.
void make_old(const std::string& checkpoint) {
  std::string text = bytes_in(checkpoint + "/state.json");
  text = std::regex_replace(text, std::regex("\\*warmup"), "+warmup");
  text = std::regex_replace(text, std::regex("  \"schedule_form\": 2,\n"), "");
  text = std::regex_replace(text, std::regex(",\n  \"checksum\": [0-9]+"), "");
  std::ofstream(checkpoint + "/state.json") << text;
}

class ScheduleOfRun : public RunTest {
 protected:
  /// 20 steps; and, in `NAME_half`, what a kill after the first 10 leaves.
  void run(const std::string& name, const std::string& schedule, std::vector<std::string> more = {}) const {
    more.insert(more.end(), {"--save", path(name), "--steps", "20", "--save-every", "10", "--eval-every", "0", "--keep",
                             "9", "--schedule", schedule});
    const Ended ended = run_train(small(more));
    ASSERT_EQ(ended.code, 0) << ended.err;
    const std::string half = path(name + "_half");
    fs::copy(path(name), half, fs::copy_options::recursive | fs::copy_options::copy_symlinks);
    fs::remove_all(half + "/step-000020");
    fs::remove(half + "/latest");
    fs::create_symlink("step-000010", half + "/latest");
  }
  Ended resumed(const std::string& name, std::vector<std::string> more = {}) const {
    more.insert(more.end(), {"--resume", path(name), "--threads", "1"});
    return run_train(more);
  }
};

TEST_F(ScheduleOfRun, OfAnOlderVersionGoesOnWithTheRatesThatItBeganWith) {
  std::string of_network = kSmallNetwork;
  of_network.replace(of_network.find("cosine"), 6, "one-cycle+warmup@15");
  std::ofstream(path("small.json")) << of_network;
  for (const std::string name : {"cosine", "one-cycle"}) {
    run(name, name + "*warmup@15");
    make_old(path(name + "_half/step-000010"));
    for (const std::vector<std::string>& more : {std::vector<std::string>{}, {"--schedule", name + "+warmup@15"}}) {
      fs::remove_all(home_ / "old");
      fs::copy(path(name + "_half"), home_ / "old", fs::copy_options::recursive | fs::copy_options::copy_symlinks);
      const Ended old = resumed("old", more);
      ASSERT_EQ(old.code, 0) << old.err;
      EXPECT_PRED2(says, old.err, ", " + name + "*warmup@15, seed");
      EXPECT_EQ(checkpoint_bytes("old"), checkpoint_bytes(name));
      EXPECT_EQ(read_state(path("old/latest")).schedule, name + "*warmup@15") << "and keeps it";
    }
  }
}

TEST_F(ScheduleOfRun, OfThisVersionGoesOnWithTheCurveAfterTheWarmup) {
  run("run", "cosine+warmup@15");
  ASSERT_EQ(resumed("run_half").code, 0);
  EXPECT_EQ(checkpoint_bytes("run_half"), checkpoint_bytes("run"));
  run("old", "cosine*warmup@15");
  EXPECT_NE(checkpoint_bytes("old"), checkpoint_bytes("run"));
}

TEST_F(ScheduleOfRun, StateOfAnOlderVersionIsReadAsItWasMeant) {
  const auto read_again = [&](const std::string& schedule, bool old) {
    write_state(home_.string(), {.schedule = schedule, .options = {{"schedule", schedule}}});
    if (old) make_old(home_.string());
    const RunState state = read_state(home_.string());
    EXPECT_EQ(state.options.at("schedule"), state.schedule);
    return state.schedule;
  };
  EXPECT_EQ(read_again("one-cycle+warmup@5e", true), "one-cycle*warmup@5e");
  EXPECT_EQ(read_again("poly^0.9", true), "poly^0.9");
  EXPECT_EQ(read_again("poly+warmup@5%x0.1", false), "poly+warmup@5%x0.1");
}

TEST_F(ScheduleOfRun, SaysThatMoreEpochsMoveTheRate) {
  const std::string moved = "the learning rate goes from ";
  for (const std::string schedule : {"one-cycle", "cosine", "multistep@5x0.1"}) {
    const auto of_epochs = [&](const char* epochs, std::vector<std::string> more = {}) {
      more.insert(more.end(), {"--save", path(schedule), "--resume", "auto", "--epochs", epochs});
      const Ended ended = run_train(small(more));
      EXPECT_EQ(ended.code, 0) << ended.err;
      return ended.err;
    };
    EXPECT_FALSE(says(of_epochs("1", {"--schedule", schedule}), moved));
    const std::string on = of_epochs("2"), even = of_epochs("3", {"--schedule", "constant"});
    EXPECT_FALSE(says(even, moved)) << even;
    if (schedule[0] == 'm') {
      EXPECT_FALSE(says(on, moved)) << "it counts steps, not the run\n" << on;
      continue;
    }
    const Schedule curve = parse_schedule(schedule);
    EXPECT_PRED2(says, on,
                 message(moved, curve.at(9, {.total = 10, .per_epoch = 10}, 0.05), " to ",
                         curve.at(10, {.total = 20, .per_epoch = 10}, 0.05), ", since ", schedule,
                         " spans 20 steps now, not 10; --schedule constant --lr X goes on evenly, --weights " +
                             path(schedule + "/step-000010") + " starts a new run from here"));
  }
}

TEST_F(ScheduleOfRun, OfSomeParametersIsTheirOwnAndIsKept) {
  const std::string rates = "logits.*=2x,conv1.weight=0.001,bn1.*=0.5x";
  run("all", "cosine");
  run("own", "cosine", {"--lr-of", rates});
  EXPECT_NE(checkpoint_bytes("own"), checkpoint_bytes("all"));
  std::string of_network = kSmallNetwork;
  const std::string train = R"("train": {)";
  std::ofstream(path("small.json")) << of_network.replace(of_network.find(train), train.size(),
                                                          train + R"("lr_of": ")" + rates + R"(", )");
  for (const char* memory : {"none", "level=1", "level=3"}) {
    run(memory, "cosine", {"--memopt", memory});
    EXPECT_EQ(checkpoint_bytes(memory), checkpoint_bytes("own")) << memory << ", by the network's file";
  }
  const Ended kept = resumed("own_half");
  ASSERT_EQ(kept.code, 0) << kept.err;
  EXPECT_EQ(kept.err.find("note: the run had"), std::string::npos) << kept.err;
  EXPECT_EQ(checkpoint_bytes("own_half"), checkpoint_bytes("own"));
  const Ended changed = resumed("all_half", {"--lr-of", "logits.*=2x"});
  ASSERT_EQ(changed.code, 0) << changed.err;
  EXPECT_PRED2(says, changed.err, "note: the run had no --lr-of; it goes on with --lr-of logits.*=2x");
  EXPECT_NE(checkpoint_bytes("all_half"), checkpoint_bytes("all"));
  run("taken_back", "cosine", {"--lr-of", "none"});
  EXPECT_EQ(checkpoint_bytes("taken_back"), checkpoint_bytes("all")) << "takes back what the network's file says";
  const Ended frozen = resumed("taken_back_half", {"--lr-of", rates, "--freeze", "conv1.*"});
  EXPECT_EQ(frozen.code, 2);
  EXPECT_PRED2(says, frozen.err, "--lr-of: 'conv1.weight' means no parameter that is trained");
  const Ended wrong = resumed("all_half", {"--lr-of", "logit.*=2x"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_PRED2(says, wrong.err, "--lr-of: no parameter is called 'logit.*'; did you mean 'logits.*'?");
}

TEST_F(ScheduleOfRun, FallsByLayerAsTheFileOrTheCommandLineSaysAndIsKept) {
  std::string of_network = kSmallNetwork;
  const std::string train = R"("train": {)";
  of_network.replace(of_network.find(train), train.size(), R"("depth": ["conv{i}.*"], )" + train);
  std::ofstream(path("small.json")) << of_network;
  run("flat", "cosine");
  run("falls", "cosine", {"--layer-decay", "0.5"});
  EXPECT_NE(checkpoint_bytes("falls"), checkpoint_bytes("flat"));
  run("factor", "cosine", {"--lr-of", "conv1.*=0.5x"});
  EXPECT_EQ(checkpoint_bytes("falls"), checkpoint_bytes("factor")) << "one block, and all other parameters of the head";
  std::ofstream(path("small.json")) << of_network.replace(of_network.find(train), train.size(),
                                                          train + R"("layer_decay": 0.5, )");
  run("by_file", "cosine");
  EXPECT_EQ(checkpoint_bytes("by_file"), checkpoint_bytes("falls"));
  for (const std::string name : {"falls_half", "by_file_half"}) {
    const Ended kept = resumed(name);
    ASSERT_EQ(kept.code, 0) << kept.err;
    EXPECT_EQ(checkpoint_bytes(name), checkpoint_bytes("falls")) << name;
  }
}

TEST_F(ScheduleOfRun, OfSomeParametersIsTheirOwnOnRanksOfAnyStage) {
  for (const char* optimizer : {"momentum", "adamw"}) {
    SessionSetting setting = sharing("resnet20", 4, 2, optimizer);
    const std::string plain = path(message(optimizer, "_plain")), one = path(message(optimizer, "_own"));
    train_to(2, setting, plain, 1, 0);
    setting.program.update.rates = {.of = "*.weight=0.3x,logits.*=3x"};
    train_to(2, setting, one, 1, 0);
    EXPECT_NE(saved_in(one), saved_in(plain));
    for (const int zero : {0, 1, 2, 3}) {
      const std::string two = path(message(optimizer, zero));
      train_to(2, setting, two, 2, zero);
      EXPECT_EQ(saved_in(two), saved_in(one)) << optimizer << ", stage " << zero;
    }
  }
}

TEST_F(ScheduleOfRun, IsSilentWhereTheRateHardlyMoves) {
  run("run", "cosine");
  EXPECT_FALSE(says(resumed("run_half").err, "the learning rate goes"));
  run("early", "cosine@1000");
  EXPECT_FALSE(says(resumed("early_half", {"--steps", "40"}).err, "the learning rate goes"));
}

}  // namespace
}  // namespace lethe::testing
