// The same shards give the same bits on however many ranks; each rank takes the bytes that its plan states.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "framework/builder/builder.h"
#include "framework/error.h"
#include "framework/ranks/traffic.h"
#include "tests/support/expect_error.h"
#include "tests/support/random_control.h"
#include "tests/support/random_training.h"
#include "tests/train/emulated_ranks.h"
#include "tests/train/small_networks.h"
#include "train/session/agreement.h"
#include "train/session/programs.h"
#include "train/session/session.h"

namespace lethe::testing {
namespace {

struct Trained {
  std::map<std::string, std::vector<std::byte>> values;
  std::vector<double> losses, accuracies;
  Scores scores;
  bool operator==(const Trained& other) const {
    return values == other.values && losses == other.losses && accuracies == other.accuracies &&
           scores.samples == other.scores.samples && scores.correct == other.scores.correct &&
           scores.loss == other.scores.loss;
  }
};

struct RankEar final : Listener {
  void record(const Record& measured) override {
    losses.push_back(measured.loss);
    accuracies.push_back(measured.accuracy.value_or(-1));
  }
  std::vector<double> losses, accuracies;
};

Trained train(SessionSetting setting, std::shared_ptr<Peers> peers) {
  ProgramSetting whole = setting.program;  // of which nobody has a share
  whole.shards.zero = 0;
  setting.peers = std::move(peers);
  Session session(std::move(setting));
  const std::int64_t predicted = session.plan().bytes.total();
  RankEar ear;
  session.train({.lr = 0.01, .steps = 3, .eval_every = {2, false}, .log_every = 1}, ear);
  EXPECT_LE(session.device().peak(), predicted);
  EXPECT_TRUE(session.plan().at_most || session.device().peak() == predicted) << session.device().peak();
  Trained trained{
      .values = {}, .losses = ear.losses, .accuracies = ear.accuracies, .scores = session.evaluator()->run()};
  for (const Var& var : build_programs(whole).training.vars)
    if (is_persistable(var.kind)) trained.values[var.name] = session.store().read_whole(var);
  EXPECT_EQ(trained.values.size(), session.store().names().size());
  return trained;
}

/// Trains on so many ranks, all of which end with the same.
Trained train_on(std::int64_t ranks, const SessionSetting& setting) {
  std::vector<Trained> all(static_cast<std::size_t>(ranks));
  EmulatedWorld(ranks).run([&](const std::shared_ptr<Peers>& peers) {
    all[static_cast<std::size_t>(peers->rank().number)] = train(setting, peers);
  });
  for (Trained& other : all) {
    // The first rank's share of a state of one value is all of it, so the others are not given it and do not save it.
    if (setting.program.shards.zero > 0) other.values = all[0].values;
    EXPECT_TRUE(other == all[0]);
  }
  return all[0];
}

SessionSetting setting_of(const std::string& model, std::int64_t batch, std::int64_t shards) {
  SessionSetting setting{.device = {.threads = 1}};
  setting.program.network = {.model = model, .batch = batch, .seed = 3};
  setting.program.network.sets = sets_of_small(model);
  setting.program.shards.parts = shards;
  setting.program.memory.levels.seconds = 0.01;  // any arena will do
  setting.data.spec = message(reads_text(model) ? "sentences" : "shapes", ":train=32,test=10");
  return setting;
}

class OnRanks : public ::testing::TestWithParam<const char*> {};

TEST_P(OnRanks, TheSameBits) {
  const SessionSetting setting = setting_of(GetParam(), 8, 8);
  const Trained one = train(setting, nullptr);
  for (const std::int64_t ranks : {2, 4, 8}) EXPECT_TRUE(train_on(ranks, setting) == one) << ranks << " ranks";
}

// Batch norm and its running statistics, loops, branches; attention with dropout and a table that the loss shares.
INSTANTIATE_TEST_SUITE_P(Networks, OnRanks,
                         ::testing::Values("resnet20", "lenet", "char_lstm", "early_exit", "char_gpt"),
                         [](const auto& info) { return std::string(info.param); });

// Elements are dropped by where they stand in the whole batch, and labels weigh by how many of the whole batch count.
TEST(Ranks, DropElementsAndIgnoreLabelsOfTheWholeBatch) {
  SessionSetting setting = setting_of("", 8, 8);
  setting.program.network.build = [](const BuildOptions& options) {
    Builder net(options);
    const VarId image = net.input("image", {16, 16, 1}), label = net.input("label", {}, DType::i32);
    const VarId x = net.layer("dropout", net.layer("fc", image, {{"out", 32}}), {{"p", 0.5}});
    net.loss("cross_entropy", net.layer("fc", x, {{"out", 10}}), label, {.ignore = 3});
    return net.finish();
  };
  const Trained one = train(setting, nullptr);
  for (const char* const text : {"none", "level=2", "level=3"}) {
    setting.program.memory = memory_setting(text, setting.program.memory);
    for (const std::int64_t ranks : {2, 8}) EXPECT_TRUE(train_on(ranks, setting) == one) << text << ", " << ranks;
  }
}

TEST(Ranks, GiveTheSameBitsUnderAllMemorySettings) {
  SessionSetting setting = setting_of("resnet20", 8, 4);
  const Trained one = train(setting, nullptr);
  constexpr std::int64_t kWhole = 1 << 30;
  for (const auto& [text, bucket] : {std::pair{"none", std::int64_t{1}},
                                     {"level=0", kWhole},
                                     {"level=1,release,inplace", 1},
                                     {"level=3", 1},
                                     {"level=3", kWhole}}) {
    setting.program.memory = memory_setting(text, setting.program.memory);
    setting.program.shards.bucket = bucket;
    EXPECT_TRUE(train_on(2, setting) == one) << text << " with buckets of " << bucket;
  }
}

TEST(Ranks, CutShardsIntoMicroBatches) {
  SessionSetting setting = setting_of("lenet", 16, 4);
  setting.program.micro_batch = 1;
  const Trained one = train(setting, nullptr);
  EXPECT_TRUE(train_on(4, setting) == one);
  EXPECT_TRUE(train_on(2, setting) == one);
}

TEST(Ranks, SumInDoublesIfAsked) {
  SessionSetting setting = setting_of("lenet", 16, 8);
  const Trained singles = train(setting, nullptr);
  setting.program.shards.sums = DType::f64;
  const Trained one = train(setting, nullptr);
  EXPECT_FALSE(one == singles);
  for (const char* const text : {"none", "level=3"}) {
    setting.program.memory = memory_setting(text, setting.program.memory);
    for (const std::int64_t ranks : {2, 8}) EXPECT_TRUE(train_on(ranks, setting) == one) << text << ", " << ranks;
  }
}

TEST(Ranks, TakeBatchNormOverAllShardsIfAsked) {
  SessionSetting setting = setting_of("resnet20", 8, 8);
  setting.program.network.sync_bn = true;
  const Trained one = train(setting, nullptr);
  for (const char* const text : {"none", "level=1,release", "level=3"}) {
    setting.program.memory = memory_setting(text, setting.program.memory);
    for (const std::int64_t ranks : {2, 8}) EXPECT_TRUE(train_on(ranks, setting) == one) << text << ", " << ranks;
  }
}

TEST(Ranks, WithBatchNormOverAllShardsTrainAsTheWholeBatchDoes) {
  SessionSetting setting = setting_of("resnet20", 8, 1);
  setting.program.network.dtype = DType::f64;
  const Trained whole = train(setting, nullptr);
  setting.program.shards.parts = 4;
  EXPECT_GT(std::fabs(train(setting, nullptr).losses.back() - whole.losses.back()), 1e-4);
  setting.program.network.sync_bn = true;
  const Trained cut = train_on(2, setting);
  ASSERT_EQ(cut.losses.size(), whole.losses.size());
  for (std::size_t i = 0; i < cut.losses.size(); ++i) EXPECT_NEAR(cut.losses[i], whole.losses[i], 1e-9) << i;
  EXPECT_NEAR(cut.scores.loss, whole.scores.loss, 1e-9);
}

TEST(Ranks, UpdateWholeParametersByAdafactor) {
  SessionSetting setting = setting_of("lenet", 8, 2);
  setting.program.update.rule = optimizer_named("adafactor");
  EXPECT_TRUE(train_on(2, setting) == train(setting, nullptr));
  setting.program.shards = {.parts = 2, .rank = {.number = 0, .of = 2}, .zero = 1};
  EXPECT_NE(error_of([&] { build_programs(setting.program); }).find("goes with `zero` 0"), std::string::npos);
}

/// On as many ranks as one has, and on 2 or 4 with another memory setting and stage of ZeRO for each seed.
void train_random(int seed, std::int64_t shards, Network (*make)(std::uint64_t, const BuildOptions&), bool sync_bn) {
  constexpr const char* kMemory[] = {"none", "level=1,release", "level=2", "level=3"};
  SCOPED_TRACE(seed);
  SessionSetting setting = setting_of("", 8, shards);
  setting.program.network.build = [=](const BuildOptions& options) { return make(seed, options); };
  setting.program.network.sync_bn = sync_bn;
  setting.data.spec = "synthetic:16";
  OptimizerSettings& rule = setting.program.update.rule = random_rule(static_cast<std::uint64_t>(seed));
  const int zero = takes_shares(rule.type) ? seed / 4 % 4 : 0;
  if (zero > 0) rule.min_8bit_size = kLeastInBlocks;
  const Trained one = train(setting, nullptr);
  setting.program.memory = memory_setting(kMemory[seed % 4], setting.program.memory);
  setting.program.shards.zero = zero;
  EXPECT_TRUE(train_on(seed % 2 == 0 ? 2 : 4, setting) == one);
}

constexpr int kEverySettingInEveryStage = 16;

TEST(Ranks, TrainRandomNetworksToTheSameBits) {
  for (const int seed : random_seeds(std::max(random_programs(), kEverySettingInEveryStage)))
    train_random(seed, seed % 2 == 0 ? 4 : 8, random_network, seed % 3 == 0);
}

// Running statistics are of all shards in turn, however often a loop or a branch on any of them has run.
TEST(Ranks, TrainRandomLoopsAndBranchesWithNormsToTheSameBits) {
  for (const int seed : random_seeds(std::max(random_programs() / 2, kEverySettingInEveryStage)))
    train_random(seed, 4, random_control_network, false);
}

TEST(Ranks, CutIntoMicroBatchesThatAreTheShardsOfOthers) {
  SessionSetting setting = setting_of("char_lstm", 8, 8);
  const Trained one = train(setting, nullptr);
  setting.program.shards.parts = 2;
  setting.program.micro_batch = 1;
  EXPECT_TRUE(train_on(2, setting) == one);
}

TEST(Ranks, ThatAreNoPowerOfTwoHaveSubtreesToo) {
  const SessionSetting setting = setting_of("lenet", 12, 6);
  EXPECT_TRUE(train_on(3, setting) == train(setting, nullptr));
}

TEST(Ranks, ClipByTheNormOfTheWholeBatch) {
  SessionSetting setting = setting_of("lenet", 8, 4);
  setting.program.update.rule.clip_norm = 0.01;
  EXPECT_TRUE(train_on(4, setting) == train(setting, nullptr));
}

TEST(Ranks, SendWhatThePlanSays) {
  SessionSetting setting = setting_of("lenet", 16, 8);
  setting.program.evaluated = false;
  for (const std::int64_t ranks : {2, 4}) {
    EmulatedWorld world(ranks);
    std::int64_t planned = 0;
    constexpr std::int64_t kSteps = 3;
    world.run([&](const std::shared_ptr<Peers>& peers) {
      SessionSetting own = setting;
      own.peers = peers;
      Session session(own);
      session.train({.lr = 0.01, .steps = kSteps});
      if (peers->rank().number == 0) planned = traffic_of(session.programs().training).bytes;
    });
    const std::int64_t said = (kSteps + 1) * ranks * (ranks - 1) * std::int64_t{sizeof(StepTotals)};
    const auto rounding = static_cast<double>(kSteps * ranks * 100);  // ranks sum pieces of almost one size
    EXPECT_NEAR(static_cast<double>(world.sent() - said), static_cast<double>(kSteps * ranks * planned), rounding);
  }
}

std::string refused(std::int64_t batch, std::int64_t shards, std::int64_t ranks, std::int64_t micro_batch = 0) {
  SessionSetting setting = setting_of("lenet", batch, shards);
  setting.program.shards.rank = {.number = 0, .of = ranks};
  setting.program.micro_batch = micro_batch;
  return error_of([&] { build_programs(setting.program); });
}

TEST(Ranks, RefuseWhatCannotBeSharedOut) {
  EXPECT_EQ(refused(30, 8, 1), "a batch of 30 cannot be cut into 8 shards; but into 6 and 10");
  EXPECT_EQ(refused(16, 4, 8), "8 ranks are more than 4 shards; try `shards` 8");
  EXPECT_EQ(refused(16, 8, 3), "3 ranks do not divide 8 shards");
  EXPECT_EQ(refused(24, 6, 2), "6 shards on 2 ranks are 3 on each, expected 1, 2, 4, 8...");
  EXPECT_EQ(refused(32, 4, 2, 3), "a shard of 8 cannot be cut into micro-batches of 3; but into those of 2 and of 4");
}

TEST(Ranks, AgreeBeforeTheyBegin) {
  const auto difference = [](const char* other) {
    return error_of([&] {
      EmulatedWorld(3).run([&](const std::shared_ptr<Peers>& peers) {
        check_agreed(*peers, "the plan", "100 bytes");
        check_agreed(*peers, "their options", peers->rank().number == 2 ? other : "lr=1");
      });
    });
  };
  EXPECT_EQ(difference("lr=1"), "(nothing)");
  EXPECT_EQ(difference("lr=2"), "rank 2 and rank 0 differ in their options");
}

}  // namespace
}  // namespace lethe::testing
