// Averages of weights: what is evaluated and saved in place of these, which a run goes on with.
#include "optimizer/averages.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/train/data_samples.h"
#include "tests/train/plan_command.h"
#include "tests/train/shared_runs.h"
#include "train/session/safetensors.h"

namespace lethe::testing {
namespace {

using Words = std::vector<std::string>;

class AveragedRun : public PlanCommand {
 protected:
  Ended run(const std::string& into, Words more) const {
    more.insert(more.begin(), {"--save", path(into), "--ema", "0.75"});
    return run_train(small(more));
  }
  std::vector<float> values(const std::string& file, const std::string& name) const {
    SafetensorsReader reader(path(file));
    const std::vector<std::byte> bytes = reader.read(*reader.find(name));
    const auto* const first = reinterpret_cast<const float*>(bytes.data());
    return {first, first + bytes.size() / sizeof(float)};
  }
};

TEST_F(AveragedRun, FollowsTheWeightsAndRunningStatistics) {
  ASSERT_EQ(run("run", {"--steps", "4", "--save-every", "1", "--keep", "9"}).code, 0);
  for (const char* name : {"conv1.weight", "logits.bias", "bn1.running_var"})
    for (int step = 2; step <= 4; ++step) {
      const auto in = [&](int of, const char* file) {
        return values(message("run/step-00000", of, '/', file, ".safetensors"), name);
      };
      const std::vector<float> before = in(step - 1, "weights"), after = in(step, "weights"),
                               weight = values(message("run/step-00000", step, "/optimizer.safetensors"),
                                               message(name, "@trained"));
      EXPECT_NE(after, weight) << name;
      for (std::size_t i = 0; i < after.size(); ++i)
        ASSERT_NEAR(after[i], 0.75 * before[i] + 0.25 * weight[i], 1e-6) << name << ", step " << step;
    }
}

// Training itself knows nothing of them.
TEST_F(AveragedRun, TrainsAsWithout) {
  ASSERT_EQ(run("with", {"--steps", "3"}).code, 0);
  ASSERT_EQ(run("without", {"--steps", "3", "--ema", "0"}).code, 0);
  EXPECT_EQ(values("with/optimizer.safetensors", "conv1.weight@trained"),
            values("without/weights.safetensors", "conv1.weight"));
  EXPECT_EQ(json({"--ema", "0.75"})["bytes"]["params"].get<int>() - json({})["bytes"]["params"].get<int>(),
            4 * (756 + 16));
}

TEST_F(AveragedRun, HasTheSameBitsAndTheBytesOfItsPlanUnderAllMemorySettings) {
  std::string first;
  for (const char* memopt : {"none", "level=1,release,inplace", "level=2", "level=3"}) {
    const Ended ended = run(memopt, {"--steps", "5", "--optimizer", "adamw", "--memopt", memopt});
    ASSERT_EQ(ended.code, 0) << ended.err;
    EXPECT_NE(ended.out.find("bytes, as predicted"), std::string::npos) << ended.out;
    if (first.empty()) first = checkpoint_bytes(memopt);
    EXPECT_TRUE(checkpoint_bytes(memopt) == first) << memopt;
  }
}

TEST_F(AveragedRun, GoesOnToTheBitAndWithOthersFrozen) {
  ASSERT_EQ(run("whole", {"--steps", "8"}).code, 0);
  ASSERT_EQ(run("parts", {"--steps", "8", "--save-every", "4", "--keep", "9"}).code, 0);
  std::filesystem::remove_all(path("parts/step-000008"));
  std::filesystem::remove(path("parts/latest"));
  const Ended rest = run_train({"--resume", path("parts"), "--threads", "1", "--ema", ".750"});
  ASSERT_EQ(rest.code, 0) << rest.err;
  EXPECT_TRUE(checkpoint_bytes("parts") == checkpoint_bytes("whole"));
  const std::vector<float> trained = values("whole/optimizer.safetensors", "conv1.weight@trained");
  const Words go_on = {"--resume", path("whole"), "--threads", "1"};
  const auto with = [&](Words more) {
    more.insert(more.begin(), go_on.begin(), go_on.end());
    return more;
  };
  const Ended other = run_train(with({"--steps", "9", "--ema", "0.5"}));
  EXPECT_EQ(other.code, 2);
  EXPECT_NE(other.err.find("--ema: the run in"), std::string::npos) << other.err;
  ASSERT_EQ(run_train(with({"--steps", "10", "--freeze", "conv1.*,bn1.*"})).code, 0);
  EXPECT_EQ(values("whole/weights.safetensors", "conv1.weight"), trained);
  ASSERT_EQ(run_train(with({"--steps", "12", "--freeze", "none"})).code, 0);
  EXPECT_NE(values("whole/optimizer.safetensors", "conv1.weight@trained"), trained);
}

TEST_F(AveragedRun, IsEvaluatedAsWhoeverTakesItsWeightsEvaluates) {
  const Ended trained = run("run", {"--steps", "6", "--log-json", path("log")});
  ASSERT_EQ(trained.code, 0) << trained.err;
  const auto scores =
      nlohmann::json::parse(run_train({"eval", "--weights", path("run/latest"), "--format", "json"}).out);
  std::string last;
  std::ifstream records(path("log"));
  for (std::string line; std::getline(records, line);)
    if (line.find("\"eval\"") != std::string::npos) last = line;
  ASSERT_NE(last, "");
  EXPECT_EQ(scores.at("accuracy"), nlohmann::json::parse(last).at("acc"));
  EXPECT_NEAR(scores.at("loss").get<double>(), nlohmann::json::parse(last).at("loss").get<double>(), 1e-12);
  EXPECT_EQ(run_train(small({"--ema", "1"})).code, 2);
}

TEST(Averages, AreTheSameOnRanksInAllStages) {
  SessionSetting setting = sharing("resnet20", 8, 4, "adamw");
  setting.program.update.ema = 0.9;
  const TemporaryFolder folder;
  const std::string whole = folder.text() + "/whole", shares = folder.text() + "/shares";
  train_to(4, setting, whole, 1, 0);
  for (const int zero : {0, 1, 2, 3}) {
    const std::string run = folder.text() + message("/", zero);
    train_to(4, setting, run, 2, zero);
    EXPECT_TRUE(saved_in(run) == saved_in(whole)) << zero;
  }
  train_to(2, setting, shares, 4, 3, true);
  train_to(4, setting, shares, 2, 1);
  EXPECT_TRUE(saved_in(shares) == saved_in(whole));
}

}  // namespace
}  // namespace lethe::testing
