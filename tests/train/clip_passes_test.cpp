// Runs whose gradients are made in two passes, and plans that take them or name what else is less.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/train/data_samples.h"
#include "tests/train/plan_command.h"

namespace lethe::testing {
namespace {

using PassWords = std::vector<std::string>;

class ClipPasses : public PlanCommand {
 protected:
  Ended run(const std::string& into, PassWords more) const {
    std::filesystem::remove_all(path(into));
    more.insert(more.end(), {"--save", path(into), "--steps", "6", "--clip-norm", "0.05"});
    return run_train(small(more));
  }
  /// The same bits as one pass under every setting, and the bytes that were predicted.
  void expect_the_same(const PassWords& how) const {
    const auto with = [&](PassWords more) {
      more.insert(more.end(), how.begin(), how.end());
      return more;
    };
    ASSERT_EQ(run("once", with({"--memopt", "none"})).code, 0);
    const std::string once = checkpoint_bytes("once");
    for (const char* memopt : {"none", "level=0", "level=1,release,inplace", "level=2", "level=3"}) {
      const Ended ended = run(memopt, with({"--memopt", memopt, "--clip-passes", "2"}));
      ASSERT_EQ(ended.code, 0) << ended.err;
      EXPECT_PRED2(says, ended.out, "backward in two passes, the first for the norm of all gradients") << memopt;
      EXPECT_PRED2(says, ended.out, "bytes, as predicted") << memopt;
      EXPECT_TRUE(checkpoint_bytes(memopt) == once) << memopt;
    }
  }
};

TEST_F(ClipPasses, GiveTheSameBits) {
  for (const char* optimizer : {"adamw", "lion", "momentum"})
    expect_the_same({"--optimizer", optimizer, "--ema", "0.9"});
}

TEST_F(ClipPasses, GiveTheSameBitsBesideAdapters) {
  expect_the_same({"--lora", "r=2,dropout=0.3", "--lora-targets", "conv1", "--lora-train", "logits.*"});
}

TEST_F(ClipPasses, GiveTheSameBitsOfLowStatesAndParameters) {
  expect_the_same({"--optimizer", "adamw", "--state-dtype", "8bit", "--param-dtype", "bf16"});
}

TEST_F(ClipPasses, SkipTheSameStepsOfF16) {
  expect_the_same({"--dtype", "f16", "--loss-scale", "1e9"});
  const Ended clipped = run("said", {"--dtype", "f16", "--loss-scale", "1e9", "--clip-passes", "2"});
  EXPECT_PRED2(says, clipped.err + clipped.out, "skipped") << clipped.out;
}

TEST_F(ClipPasses, AreRefusedByName) {
  const auto refused = [&](PassWords more, const char* words) {
    more.insert(more.end(), {"--clip-passes", "2", "--steps", "1"});
    const Ended ended = run_train(small(more));
    EXPECT_EQ(ended.code, 2) << words;
    EXPECT_PRED2(says, ended.err, words);
  };
  refused({}, "--clip-passes 2 needs --clip-norm or --dtype f16: no update waits for all gradients");
  refused({"--clip-norm", "1", "--micro-batch", "8"}, "--clip-passes 2 is for a batch in one part");
  refused({"--clip-norm", "1", "--skip-grads"}, "--clip-passes 2 goes without --skip-grads");
  refused({"--clip-norm", "1", "--memopt", "optnet=training"}, "--clip-passes go with none and the levels");
  EXPECT_PRED2(says, plan({"--eval", "--clip-passes", "2"}).err, "--clip-passes: evaluation has no gradients");
}

class GptPlan : public RunTest {
 protected:
  nlohmann::json plan(PassWords more, int code = 0) const {
    more.insert(more.begin(), {"plan", "--model", "gpt2", "--set", "vocab=96,length=8,width=96,layers=3,heads=2",
                               "--batch", "1", "--threads", "1", "--json"});
    const Ended ended = run_train(more);
    EXPECT_EQ(ended.code, code) << ended.err;
    said_ = ended.err;
    return nlohmann::json::parse(ended.out);
  }
  mutable std::string said_;
};

TEST_F(GptPlan, TakesTwoPassesByItselfWhereABudgetNeedsThem) {
  const nlohmann::json level2 = plan({}), twice = plan({"--clip-passes", "2"});
  const std::int64_t once = level2["bytes"]["peak"], bytes = twice["bytes"]["peak"];
  EXPECT_EQ(level2["clip_passes"], 1);
  EXPECT_EQ(twice["clip_passes"], 2);
  EXPECT_GT(twice["overhead"].get<double>(), 0.2);
  EXPECT_GT(twice["recomputed"]["flops"].get<std::int64_t>(), 0);
  ASSERT_LT(bytes, once - level2["bytes"]["param_grads"].get<std::int64_t>() / 2);
  const std::string budget = std::to_string(bytes);
  const nlohmann::json within = plan({"--memory-budget", budget});
  EXPECT_EQ(within["clip_passes"], 2);
  EXPECT_LE(within["bytes"]["peak"], bytes);
  plan({"--memory-budget", budget, "--clip-passes", "1"}, 3);
  EXPECT_PRED2(says, said_, "--clip-passes 2 fits") << "of what is the least change";
  EXPECT_EQ(plan({"--memory-budget", std::to_string(once)})["clip_passes"], 1) << "one pass fits";
}

TEST_F(GptPlan, AdvisesTheLeastChangeFirst) {
  EXPECT_TRUE(plan({})["advice"].is_null());
  const nlohmann::json report = plan({"--advise"}), advice = report["advice"];
  PassWords changes;
  for (const nlohmann::json& row : advice) {
    changes.push_back(row["change"]);
    EXPECT_LT(row["bytes"], report["bytes"]["peak"]) << row;
    EXPECT_TRUE(row["fits"]) << "there is no budget";
  }
  EXPECT_EQ(changes, (PassWords{"--clip-passes 2", "--state-dtype 8bit", "--param-dtype bf16",
                                "--param-dtype bf16 --state-dtype 8bit", "--optimizer lion", "--optimizer adafactor",
                                "--lora", "--lora --frozen-dtype nf4-dq", "--train-only 'norm.*'"}));
  EXPECT_EQ(plan({"--state-dtype", "8bit"})["bytes"]["peak"], advice[1]["bytes"]);
  EXPECT_EQ(plan({"--optimizer", "lion"})["bytes"]["peak"], advice[4]["bytes"]);
  EXPECT_EQ(plan({"--lora", "--frozen-dtype", "nf4-dq"})["bytes"]["peak"], advice[7]["bytes"]);
}

}  // namespace
}  // namespace lethe::testing
