#include "train/report/advice.h"

#include <gtest/gtest.h>

#include <limits>

#include "framework/builder/builder.h"
#include "framework/error.h"
#include "tests/train/data_samples.h"
#include "tests/train/plan_command.h"

namespace lethe::testing {
namespace {

/// Changes of a network of two fully connected layers, whose building `refuses` may throw.
Advised advised(const std::string& optimizer, const std::function<void(const BuildOptions&)>& refuses) {
  ProgramSetting setting;
  setting.network.batch = 2;
  setting.network.build = [=](const BuildOptions& options) {
    refuses(options);
    Builder net(options);
    const VarId x = net.layer("fc", net.input("x", {64}), {{"out", 96}});
    net.loss("cross_entropy", net.layer("fc", x, {{"out", 10}}), net.input("label", {}, DType::i32));
    return net.finish();
  };
  setting.update.name = optimizer;
  setting.update.rule = optimizer_named(optimizer);
  Prepared prepared(DeviceInfo{});
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  return advice_for(setting, build_network(setting.network, true), kMost, {}, prepared, {});
}

std::vector<std::string> changes_of(const Advised& advised) {
  std::vector<std::string> changes;
  for (const Advice& advice : advised.changes) changes.push_back(advice.change);
  return changes;
}

TEST(Advice, KeepsWhatIsRefusedWithTheReason) {
  const Advised all = advised("rmsprop", [](const BuildOptions& options) {
    check(!options.param_dtype, "`param_dtype` does not go here");
    check(options.adapters.empty(), "`lora` does not go here");
  });
  EXPECT_EQ(changes_of(all),
            (std::vector<std::string>{"--optimizer lion", "--optimizer adafactor", "--train-only 'fc2.*'"}));
  ASSERT_EQ(all.refusals.size(), 3U) << "each reason once";
  EXPECT_EQ(all.refusals[0].change, "--state-dtype 8bit");
  EXPECT_PRED2(says, all.refusals[0].reason, "not for rmsprop");
  EXPECT_EQ(all.refusals[1].change, "--param-dtype bf16");
  EXPECT_EQ(all.refusals[1].reason, "`param_dtype` does not go here");
  EXPECT_EQ(all.refusals[2].change, "--lora --lora-targets all-linear");
}

TEST(Advice, FailsAsPlanningDoes) {
  for (const Exit code : {Exit::Internal, Exit::Data, Exit::Device})
    EXPECT_EQ(error_from(
                  [&] {
                    advised("lion",
                            [&](const BuildOptions& options) { check_as(code, !options.param_dtype, "broken"); });
                  },
                  code),
              "broken");
}

using AdvicePlan = PlanCommand;

TEST_F(AdvicePlan, SaysWhatIsNotPossible) {
  const std::vector<std::string> how = {"--advise", "--optimizer", "rmsprop"};
  EXPECT_PRED2(says, plan(how).out, "\n--state-dtype 8bit is not possible: --state-dtype 8bit is for momentum, ");
  const nlohmann::json refused = json(how)["refused"];
  EXPECT_EQ(refused[0]["change"], "--state-dtype 8bit");
  EXPECT_PRED2(says, refused[0]["reason"].get<std::string>(), "--state-dtype 8bit is for momentum, ");
  EXPECT_TRUE(json({})["refused"].is_null());
}

}  // namespace
}  // namespace lethe::testing
