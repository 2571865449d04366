// Ranks that share out states, gradients and parameters end with the bits of one rank that has all of them, take the
// bytes that are planned, and save what any number of ranks goes on from.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "framework/error.h"
#include "framework/language/op_def.h"
#include "framework/language/op_facts.h"
#include "framework/language/verify.h"
#include "framework/ranks/traffic.h"
#include "framework/run/prepared.h"
#include "tests/support/expect_error.h"
#include "tests/train/data_samples.h"
#include "tests/train/shared_runs.h"
#include "train/session/agreement.h"

namespace lethe::testing {
namespace {

/// The bytes that it saves after three steps.
std::string saved_by(const SessionSetting& setting, std::int64_t ranks, int zero) {
  const TemporaryFolder folder;
  train_to(3, setting, folder.text() + "/run", ranks, zero);
  return saved_in(folder.text() + "/run");
}

struct ShareCase {
  const char* model;
  const char* optimizer;
};
class ZeroOf : public ::testing::TestWithParam<ShareCase> {};

TEST_P(ZeroOf, SavesTheSameFiles) {
  const SessionSetting setting = sharing(GetParam().model, 8, 4, GetParam().optimizer);
  const std::string one = saved_by(setting, 1, 0);
  for (const int zero : {1, 2, 3})
    for (const std::int64_t ranks : {2, 4})
      EXPECT_TRUE(saved_by(setting, ranks, zero) == one) << ranks << " ranks, stage " << zero;
}

// Batch norm, loops, branches, attention with dropout and a shared table; one state, two with a counter, none.
INSTANTIATE_TEST_SUITE_P(Networks, ZeroOf,
                         ::testing::Values(ShareCase{"resnet20", "adamw"}, ShareCase{"char_lstm", "momentum"},
                                           ShareCase{"lenet", "sgd"}, ShareCase{"early_exit", "rmsprop"},
                                           ShareCase{"char_gpt", "adamw"}),
                         [](const auto& info) { return std::string(info.param.model); });

TEST(Zero, GivesTheSameBitsUnderAllMemorySettings) {
  SessionSetting setting = sharing("lenet", 8, 4);
  const std::string one = saved_by(setting, 1, 0);
  for (const char* const text : {"none", "level=0", "level=1,release,inplace", "level=3"})
    for (const int zero : {1, 2, 3}) {
      setting.program.memory = memory_setting(text, setting.program.memory);
      setting.program.shards.bucket = zero == 2 ? 1 : 100000;
      EXPECT_TRUE(saved_by(setting, 2, zero) == one) << text << ", stage " << zero;
    }
}

// Level 3 computes forward ops once more, for as few bytes as it can or for a budget, but neither begins nor waits for
// an exchange again.
TEST(Zero, ExchangesNothingAgainForWhatIsComputedAgain) {
  SessionSetting setting = sharing("resnet20", 8, 4);
  const std::string one = saved_by(setting, 1, 0);
  const auto on_first_rank = [&](const char* level) {
    setting.program.memory = memory_setting(level, setting.program.memory);
    SessionSetting own = setting;
    own.program.shards.rank = {.number = 0, .of = 2};
    own.program.shards.zero = 3;
    return std::make_unique<Session>(own);
  };
  const std::int64_t most = on_first_rank("level=2")->plan().bytes.total();
  const auto expect_no_more_exchanged = [&] {
    const std::unique_ptr<Session> session = on_first_rank("level=3");
    const Planned& planned = session->plan().training;
    EXPECT_GT(planned.recomputed->overhead, 0);
    EXPECT_EQ(traffic_of(planned.program).exchanges, traffic_of(session->programs().training).exchanges);
    EXPECT_EQ(error_of([&] { verify(planned.program); }), "(nothing)");
    EXPECT_TRUE(saved_by(setting, 2, 3) == one);
    return *planned.recomputed;
  };
  const Recomputed least = expect_no_more_exchanged();
  setting.program.memory.levels.budget = (most + *least.least_feasible) / 2;
  EXPECT_LT(expect_no_more_exchanged().overhead, least.overhead);
}

// Passes check what they make of a program in debug builds alone.
TEST(Zero, PlansProgramsThatKeepAllRules) {
  SessionSetting setting = sharing("lenet", 8, 4, "adam");
  for (const char* const text : {"none", "level=1,release,inplace", "level=2", "level=3"})
    for (const int zero : {0, 1, 2, 3}) {
      setting.program.memory = memory_setting(text, setting.program.memory);
      setting.program.shards = {.parts = 4, .rank = {.number = 1, .of = 2}, .zero = zero};
      Session session(setting);
      for (const Planned* const planned : {&session.plan().training, &session.plan().evaluation})
        EXPECT_EQ(error_of([&] { verify(planned->program); }), "(nothing)") << text << ", stage " << zero;
    }
}

// A parameter of 10 elements on 3 ranks has shares of 4, 4 and 2.
TEST(Zero, SharesAmongRanksThatDivideNoParameter) {
  const SessionSetting setting = sharing("lenet", 12, 6);
  const std::string one = saved_by(setting, 1, 0);
  for (const int zero : {1, 2, 3}) EXPECT_TRUE(saved_by(setting, 3, zero) == one) << "stage " << zero;
}

TEST(Zero, GoesOnWithOtherRanksInAnotherStage) {
  const SessionSetting setting = sharing("resnet20", 8, 4, "adam");
  const TemporaryFolder folder;
  const std::string whole = folder.text() + "/whole", parts = folder.text() + "/parts";
  train_to(8, setting, whole, 1, 0);
  train_to(2, setting, parts, 4, 3);
  train_to(4, setting, parts, 1, 0);
  train_to(6, setting, parts, 2, 1);
  train_to(8, setting, parts, 4, 2);
  EXPECT_TRUE(saved_in(parts) == saved_in(whole));
}

// Chunks whose squares are summed know nothing of shares.
TEST(Zero, ClipsByTheNormOfWholeGradients) {
  SessionSetting setting = sharing("lenet", 8, 4);
  setting.program.update.rule.clip_norm = 0.01;
  const std::string one = saved_by(setting, 1, 0);
  for (const int zero : {1, 2, 3}) EXPECT_TRUE(saved_by(setting, 4, zero) == one) << "stage " << zero;
}

TEST(Zero, ScalesTheLossAndSkipsStepsAsOneRankDoes) {
  SessionSetting setting = sharing("lenet", 8, 4);
  setting.program.network.dtype = DType::f16;
  setting.program.update.loss_scale = 1e8;  // the first steps overflow
  const std::string one = saved_by(setting, 1, 0);
  for (const int zero : {1, 3}) EXPECT_TRUE(saved_by(setting, 2, zero) == one) << "stage " << zero;
}

/// The plan of one of so many ranks, each of which has one shard.
Plans plan_of(const std::string& model, std::int64_t ranks, int zero, std::int64_t rank = 0) {
  SessionSetting setting = sharing(model, ranks, ranks, "adam");
  setting.program.network.sets = {};
  setting.program.evaluated = false;
  setting.program.shards.rank = {.number = rank, .of = ranks};
  setting.program.shards.zero = zero;
  Session session(std::move(setting));
  return session.plan();
}

// Ranks compare that before the first step.
TEST(Zero, ExchangesInTheSameOrderOnAllRanks) {
  const auto order_of = [](int zero, std::int64_t rank) {
    return exchanges_of(plan_of("lenet", 3, zero, rank).training.program);
  };
  const std::string order = order_of(3, 0);
  EXPECT_NE(order.find("all_gather_start"), std::string::npos) << order;
  EXPECT_EQ(order, order_of(3, 2));
  EXPECT_NE(order, order_of(2, 0));
}

/// Bytes of parameters, of the gradients by which they are updated, and of the states of these updates.
struct Held {
  std::int64_t params = 0, gradients = 0, states = 0;
};
Held held_by(const Plans& plans) {
  const Program& program = plans.training.program;
  Held held{.params = plans.bytes.params};
  for (const Op& op : program.blocks[0].ops) {
    const int gradient = op_def(op.type).gradient;
    if (gradient < 0) continue;
    held.gradients += bytes_of(program.vars[op.in[gradient]]);
    for (std::size_t slot = 1; slot < op.out.size(); ++slot) held.states += bytes_of(program.vars[op.out[slot]]);
  }
  return held;
}

TEST(Zero, LeavesEachRankItsShare) {
  const Held one = held_by(plan_of("resnet20", 1, 0));
  EXPECT_EQ(one.states, 2 * one.params);
  for (const std::int64_t ranks : {2, 3, 8}) {
    const double share = 1 / static_cast<double>(ranks) + 0.02;  // shares are numbers of blocks
    const auto most = [&](std::int64_t bytes) { return static_cast<double>(bytes) * share; };
    for (const int zero : {1, 2, 3}) {
      const Held held = held_by(plan_of("resnet20", ranks, zero));
      SCOPED_TRACE(message(ranks, " ranks, stage ", zero));
      EXPECT_LE(held.states, most(one.states));
      EXPECT_LE(held.gradients, zero < 2 ? one.gradients : most(one.gradients));
      EXPECT_LE(held.params, zero < 3 ? one.params : most(one.params));
    }
  }
}

// In the program as it runs, with all that memory passes have done to it.
TEST(Zero, GathersParametersWhileTheLayerBeforeIsComputed) {
  for (const char* const model : {"resnet20", "lenet", "char_lstm"}) {
    const Program program = plan_of(model, 2, 3).training.program;
    const std::vector<Op>& ops = program.blocks[0].ops;
    std::map<VarId, std::size_t> started;
    std::int64_t gathers = 0, exposed = 0;  // those during which nothing is computed
    for (std::size_t i = 0; i < ops.size(); ++i) {
      if (ops[i].type == kAllGatherStart && ops[i].attrs.has("shape")) started[ops[i].out[0]] = i;
      if (ops[i].type != kAllGatherWait || started.count(ops[i].in[0]) == 0) continue;
      ++gathers;
      exposed += std::none_of(ops.begin() + started[ops[i].in[0]], ops.begin() + i, [](const Op& op) {
        return op.type != kAllGatherStart && op.type != kAllGatherWait && !runs_nothing(op);
      });
    }
    EXPECT_GE(gathers, 4) << model;
    EXPECT_EQ(exposed, 1) << model << ": the first of the step alone";
  }
}

TEST(Zero, SendsWhatThePlanSays) {
  SessionSetting setting = sharing("lenet", 16, 8);
  setting.program.evaluated = false;
  for (const int zero : {1, 2, 3}) {
    constexpr std::int64_t kSteps = 3, kRanks = 4;
    EmulatedWorld world(kRanks);
    std::int64_t planned = 0;
    setting.program.shards.zero = zero;
    world.run([&](const std::shared_ptr<Peers>& peers) {
      SessionSetting own = setting;
      own.peers = peers;
      Session session(own);
      session.train({.lr = 0.01, .steps = kSteps});
      if (peers->rank().number == 0) planned = traffic_of(session.programs().training).bytes;
    });
    const std::int64_t said = (kSteps + 1) * kRanks * (kRanks - 1) * std::int64_t{sizeof(StepTotals)};
    const auto rounding = static_cast<double>(kSteps * kRanks * 4 * 1024);  // the last shares are shorter by blocks
    EXPECT_NEAR(static_cast<double>(world.sent() - said), static_cast<double>(kSteps * kRanks * planned), rounding);
  }
}

}  // namespace
}  // namespace lethe::testing
