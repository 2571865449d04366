// Runs that train adapters.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/train/data_samples.h"
#include "tests/train/plan_command.h"
#include "tests/train/shared_runs.h"
#include "train/session/run_state.h"
#include "train/session/safetensors.h"

namespace lethe::testing {
namespace {

using LoraWords = std::vector<std::string>;

const LoraWords kAdapters = {"--lora", "r=2,alpha=4,dropout=0.3", "--lora-targets", "conv1,logits"};

LoraWords with_more(LoraWords words, const LoraWords& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

class LoraRun : public PlanCommand {
 protected:
  void SetUp() override {
    PlanCommand::SetUp();
    ASSERT_EQ(run_train(small({"--save", path("base"), "--steps", "2", "--seed", "7"})).code, 0);
    ASSERT_EQ(run_train({"export", "--weights", path("base"), "--output", path("w.safetensors")}).code, 0);
  }
  Ended run(const std::string& into, const LoraWords& more) const {
    return run_train(
        small(with_more({"--save", path(into), "--weights", path("w.safetensors")}, with_more(kAdapters, more))));
  }
  LoraWords names_in(const std::string& file) const {
    LoraWords names;
    const SafetensorsReader reader(path(file));
    for (const TensorEntry& tensor : reader.tensors()) names.push_back(tensor.name);
    std::ranges::sort(names);
    return names;
  }
  std::vector<std::byte> tensor(const std::string& file, const std::string& name) const {
    SafetensorsReader reader(path(file));
    return reader.read(*reader.find(name));
  }
  std::string evaluated(const std::string& run) const {
    const Ended ended = run_train({"eval", "--weights", path(run), "--threads", "1", "--format", "json"});
    EXPECT_EQ(ended.code, 0) << ended.err;
    return ended.out.substr(0, ended.out.find("\"ms"));
  }
};

TEST_F(LoraRun, TrainsAdaptersAloneAndHasTheSameBitsAndTheBytesOfItsPlan) {
  std::string first;
  for (const char* memopt : {"none", "level=0", "level=1,release,inplace", "level=2", "level=3"}) {
    const Ended ended = run(memopt, {"--memopt", memopt, "--steps", "5", "--clip-norm", "0.1", "--optimizer", "adamw",
                                     "--save-frozen", "yes"});
    ASSERT_EQ(ended.code, 0) << ended.err;
    EXPECT_PRED2(says, ended.out, "bytes, as predicted");
    EXPECT_PRED2(says, ended.err, "adapters of 334 numbers train beside 'conv1', 'logits'");
    EXPECT_PRED2(says, ended.err, "frozen are 6 of 10 parameters, 756 of 1,090 numbers");
    if (first.empty()) first = checkpoint_bytes(memopt);
    EXPECT_TRUE(checkpoint_bytes(memopt) == first) << memopt;
  }
  for (const char* name : {"conv1.weight", "bn1.bias", "bn1.running_mean", "logits.weight"})
    EXPECT_EQ(tensor("none/weights.safetensors", name), tensor("w.safetensors", name)) << name;
  EXPECT_EQ(names_in("none/optimizer.safetensors").size(), 2U * 4 + 1) << "two moments of each, and the step";
  EXPECT_EQ(SafetensorsReader(path("none/weights.safetensors")).find("conv1.lora_A")->shape, (Shape{2, 3, 3, 3}));
}

TEST_F(LoraRun, GoesOnToTheBitAndIsEvaluatedWithWhatItKeeps) {
  ASSERT_EQ(run("whole", {"--steps", "6", "--lora-train", "bn1.*"}).code, 0);
  ASSERT_EQ(run("parts", {"--steps", "6", "--lora-train", "bn1.*", "--save-every", "3", "--keep", "9"}).code, 0);
  std::filesystem::remove_all(path("parts/step-000006"));
  std::filesystem::remove(path("parts/latest"));
  const Ended rest = run_train({"--resume", path("parts"), "--threads", "1", "--lora", "dropout=0.30,alpha=4,r=2"});
  ASSERT_EQ(rest.code, 0) << rest.err;
  EXPECT_TRUE(checkpoint_bytes("parts") == checkpoint_bytes("whole"));
  EXPECT_NE(tensor("whole/weights.safetensors", "bn1.bias"), tensor("w.safetensors", "bn1.bias"));
  EXPECT_EQ(evaluated("whole"), evaluated("parts"));
  EXPECT_NE(evaluated("whole"), evaluated("base"));
  const Ended shown = run_train({"show", "--weights", path("whole"), "--threads", "1"});
  EXPECT_PRED2(says, shown.out, "logits.lora");
  const Ended other = run_train({"--resume", path("parts"), "--threads", "1", "--lora", "r=3"});
  EXPECT_EQ(other.code, 2);
  EXPECT_PRED2(says, other.err, "has r=2,alpha=4,dropout=0.3, not r=3,alpha=8; it cannot go on with another");
}

TEST_F(LoraRun, NeedNotSaveItsBase) {
  ASSERT_EQ(run("yes", {"--steps", "3", "--save-frozen", "yes"}).code, 0);
  ASSERT_EQ(run("no", {"--steps", "3"}).code, 0);
  EXPECT_EQ(names_in("no/weights.safetensors"),
            (LoraWords{"conv1.lora_A", "conv1.lora_B", "logits.lora_A", "logits.lora_B"}));
  EXPECT_EQ(evaluated("no"), evaluated("yes"));
  const LoraWords of_run = {"--save", path("of_run"), "--weights", path("base"), "--steps", "3"};
  ASSERT_EQ(run_train(small(with_more(of_run, kAdapters))).code, 0);
  std::filesystem::remove_all(path("base"));
  EXPECT_EQ(evaluated("of_run"), evaluated("yes")) << "a checkpoint may go, so that its weights are saved";
}

TEST_F(LoraRun, HasABaseInFewerBits) {
  std::string first;
  for (const char* memopt : {"none", "level=2", "level=3"}) {
    const Ended ended =
        run(memopt, {"--memopt", memopt, "--steps", "3", "--frozen-dtype", "bf16", "--save-frozen", "yes"});
    ASSERT_EQ(ended.code, 0) << ended.err;
    EXPECT_PRED2(says, ended.out, "bytes, as predicted");
    if (first.empty()) first = checkpoint_bytes(memopt);
    EXPECT_TRUE(checkpoint_bytes(memopt) == first) << memopt;
  }
  const SafetensorsReader saved(path("none/weights.safetensors"));
  EXPECT_EQ(saved.find("conv1.weight")->dtype, DType::bf16);
  EXPECT_EQ(saved.find("conv1.lora_A")->dtype, DType::f32);
  EXPECT_EQ(run_train({"eval", "--weights", path("none"), "--threads", "1"}).code, 0);
}

TEST_F(LoraRun, PlansWhatItSaves) {
  const nlohmann::json with = json(kAdapters), without = json({});
  EXPECT_EQ(with["bytes"]["param_grads"], 4 * 334);
  EXPECT_EQ(with["bytes"]["optimizer"], 4 * 334);
  EXPECT_EQ(with["bytes"]["frozen"], 4 * 756);
  EXPECT_EQ(with["unfrozen"]["peak"], without["bytes"]["peak"]);
  EXPECT_PRED2(says, plan(kAdapters).out, "LoRA saves ");
}

TEST_F(LoraRun, SaysWhatIsWrong) {
  const auto error = [&](const LoraWords& words) {
    const Ended ended = plan(words);
    EXPECT_EQ(ended.code, 2) << ended.out;
    return ended.err;
  };
  EXPECT_PRED2(says, error({"--lora", "r=2"}), "--lora-targets has to name them, as all-linear");
  EXPECT_PRED2(says, error({"--lora", "r=0"}), "r: must be at least 1, not 0");
  EXPECT_PRED2(says, error({"--lora", "rank=4"}), "'rank=4' is unknown");
  EXPECT_PRED2(says, error({"--lora", "r=4,r=8"}), "says r twice");
  EXPECT_PRED2(says, error({"--lora", "r=2", "--lora-targets", "cnv1"}),
               "--lora-targets: no layer is called 'cnv1'; did you mean 'conv1'?");
  EXPECT_PRED2(says, error({"--lora", "r=2", "--lora-targets", "conv1=x"}), "expected NAME, NAME=RANK");
  EXPECT_PRED2(says, error({"--lora", "r=2", "--lora-targets", "conv1", "--lora-train", "nb1.*"}),
               "--lora-train: no parameter is called 'nb1.*'; did you mean 'bn1.*'?");
  EXPECT_PRED2(says, error({"--lora", "r=2", "--freeze", "bn1.*"}), "xcludes");
  EXPECT_PRED2(says, error({"--lora-targets", "conv1"}), "--lora-targets and --lora-train need --lora");
}

/// The bytes that a run on so many ranks saves after three steps.
std::string adapted_and_saved(const SessionSetting& setting, std::int64_t ranks, int zero) {
  const TemporaryFolder folder;
  train_to(3, setting, folder.text() + "/run", ranks, zero);
  return saved_in(folder.text() + "/run");
}

// Adapters by rows of a fused weight, and of a table; in f16 with copies of them.
TEST(LoraRanks, SaveTheSameFiles) {
  SessionSetting setting = sharing("llama", 8, 4, "adamw");
  LoraSetting& lora = setting.program.network.lora;
  lora = {.rank = 2, .dropout = 0.2, .targets = {{.pattern = "q_proj"}, {.pattern = "v_proj", .rank = 3}}};
  const std::string one = adapted_and_saved(setting, 1, 0);
  for (const int zero : {0, 2, 3}) EXPECT_TRUE(adapted_and_saved(setting, 2, zero) == one) << "stage " << zero;
  lora = {.rank = 2, .targets = {{.pattern = "all-linear"}, {.pattern = "embed_tokens"}}, .train = "norm.weight"};
  setting.program.network.dtype = DType::f16;
  setting.program.update.rule.clip_norm = 0.01;
  EXPECT_TRUE(adapted_and_saved(setting, 2, 3) == adapted_and_saved(setting, 1, 0));
}

}  // namespace
}  // namespace lethe::testing
