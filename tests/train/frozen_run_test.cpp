// Runs of which some parameters are frozen.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/train/data_samples.h"
#include "tests/train/plan_command.h"
#include "tests/train/shared_runs.h"
#include "train/session/run_state.h"
#include "train/session/safetensors.h"

namespace lethe::testing {
namespace {

class FrozenRun : public PlanCommand {
 protected:
  Ended run(const std::string& into, std::vector<std::string> more) const {
    more.insert(more.begin(), {"--save", path(into), "--memopt", "level=2"});
    return run_train(small(more));
  }
  std::vector<std::string> names_in(const std::string& file) const {
    std::vector<std::string> names;
    const SafetensorsReader reader(path(file));
    for (const TensorEntry& tensor : reader.tensors()) names.push_back(tensor.name);
    std::sort(names.begin(), names.end());
    return names;
  }
  std::vector<std::byte> tensor(const std::string& file, const std::string& name) const {
    SafetensorsReader reader(path(file));
    return reader.read(*reader.find(name));
  }
};

using Names = std::vector<std::string>;

TEST_F(FrozenRun, LeavesParametersAndStatisticsAndHasNoStatesOfThem) {
  ASSERT_EQ(run("a", {"--freeze", "conv1.*,bn1.*", "--steps", "1"}).code, 0);
  const Ended longer = run("b", {"--train-only", "logits.*", "--steps", "7"});
  ASSERT_EQ(longer.code, 0) << longer.err;
  EXPECT_NE(longer.err.find("frozen are 4 of 6 parameters, 240 of 756 numbers"), std::string::npos) << longer.err;
  for (const char* name : {"conv1.weight", "conv1.bias", "bn1.weight", "bn1.bias", "bn1.running_mean"})
    EXPECT_EQ(tensor("a/weights.safetensors", name), tensor("b/weights.safetensors", name)) << name;
  EXPECT_NE(tensor("a/weights.safetensors", "logits.weight"), tensor("b/weights.safetensors", "logits.weight"));
  EXPECT_EQ(names_in("b/optimizer.safetensors"), (Names{"logits.bias@momentum", "logits.weight@momentum", "step"}));
}

TEST_F(FrozenRun, HasTheSameBitsAndTheBytesOfItsPlanUnderAllMemorySettings) {
  const Names how = {"--freeze", "conv1.weight,bn1.*", "--steps", "5", "--optimizer", "adamw", "--clip-norm", "0.1"};
  std::string first;
  for (const char* memopt : {"none", "level=0", "level=1,release,inplace", "level=2", "level=3"}) {
    std::vector<std::string> words = how;
    words.insert(words.end(), {"--memopt", memopt, "--save", path(memopt)});
    const Ended ended = run_train(small(words));
    ASSERT_EQ(ended.code, 0) << ended.err;
    EXPECT_NE(ended.out.find("bytes, as predicted"), std::string::npos) << ended.out;
    if (first.empty()) first = checkpoint_bytes(memopt);
    EXPECT_TRUE(checkpoint_bytes(memopt) == first) << memopt;
  }
}

TEST_F(FrozenRun, PlansWhatFreezingSaves) {
  const Names frozen = {"--train-only", "logits.*"};
  const nlohmann::json with = json(frozen), without = json({});
  EXPECT_EQ(with["bytes"]["frozen"], 4 * 240);
  EXPECT_EQ(without["bytes"]["frozen"], 0);
  EXPECT_EQ(with["unfrozen"]["peak"], without["bytes"]["peak"]);
  EXPECT_EQ(without["unfrozen"], nullptr);
  EXPECT_EQ(with["bytes"]["param_grads"], 4 * 516);
  EXPECT_EQ(with["bytes"]["optimizer"], 4 * 516);
  EXPECT_LT(with["bytes"]["activation_grads"], without["bytes"]["activation_grads"]);
  const Ended text = plan(frozen);
  const std::int64_t saved = without["bytes"]["peak"].get<std::int64_t>() - with["bytes"]["peak"].get<std::int64_t>();
  EXPECT_NE(text.out.find(message("freezing saves ", saved, " bytes")), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("\nfrozen "), std::string::npos) << text.out;
  EXPECT_EQ(plan({}).out.find("frozen"), std::string::npos);
}

TEST_F(FrozenRun, GoesOnWithOthersFrozen) {
  ASSERT_EQ(run("run", {"--freeze", "conv1.*,bn1.*", "--steps", "4"}).code, 0);
  EXPECT_EQ(read_state(path("run/latest")).frozen, (Names{"bn1.bias", "bn1.weight", "conv1.bias", "conv1.weight"}));
  const Ended same = run_train({"--resume", path("run"), "--steps", "6", "--threads", "1"});
  ASSERT_EQ(same.code, 0) << same.err;
  EXPECT_EQ(same.err.find("goes on with"), std::string::npos) << same.err;
  const Ended other =
      run_train({"--resume", path("run"), "--steps", "8", "--threads", "1", "--train-only", "conv1.*,logits.weight"});
  ASSERT_EQ(other.code, 0) << other.err;
  EXPECT_NE(other.err.find(
                "the run goes on with 'logits.bias' frozen, whose states of the optimizer, if any, are dropped, and "
                "'conv1.bias', 'conv1.weight' trained, whose states begin at zero"),
            std::string::npos)
      << other.err;
  EXPECT_EQ(names_in("run/optimizer.safetensors"),
            (Names{"conv1.bias@momentum", "conv1.weight@momentum", "logits.weight@momentum", "step"}));
  const Ended all = run_train({"--resume", path("run"), "--steps", "10", "--threads", "1", "--freeze", "none"});
  ASSERT_EQ(all.code, 0) << all.err;
  EXPECT_EQ(read_state(path("run/latest")).frozen, Names{});
}

// Two runs of 4 and 4 steps are the one of 8.
TEST_F(FrozenRun, GoesOnToTheBit) {
  const Names how = {"--freeze", "bn1.*,conv1.bias", "--optimizer", "adam"};
  const auto with = [&](Names more) {
    more.insert(more.end(), how.begin(), how.end());
    return more;
  };
  ASSERT_EQ(run("whole", with({"--steps", "8"})).code, 0);
  ASSERT_EQ(run("parts", with({"--steps", "8", "--save-every", "4", "--keep", "9"})).code, 0);
  std::filesystem::remove_all(path("parts/step-000008"));
  std::filesystem::remove(path("parts/latest"));
  const Ended rest = run_train({"--resume", path("parts"), "--threads", "1"});
  ASSERT_EQ(rest.code, 0) << rest.err;
  EXPECT_TRUE(checkpoint_bytes("parts") == checkpoint_bytes("whole"));
}

TEST_F(FrozenRun, IsWhatTheNetworkFileSaysUnlessTheCommandLineDoes) {
  std::string text(kSmallNetwork);
  text.insert(text.rfind("\"augment\""), R"("train_only": "logits.*", )");
  std::ofstream(path("small.json")) << text;
  EXPECT_EQ(json({})["bytes"]["frozen"], 4 * 240);
  EXPECT_EQ(json({"--train-only", "*"})["bytes"]["frozen"], 0);
  EXPECT_EQ(json({"--freeze", "bn1.*"})["bytes"]["frozen"], 4 * 16);
  EXPECT_EQ(json({"--freeze", "none"})["bytes"]["frozen"], 0);
}

TEST_F(FrozenRun, SaysWhatIsWrong) {
  const auto error = [&](const Names& words) {
    const Ended ended = plan(words);
    EXPECT_EQ(ended.code, 2);
    return ended.err;
  };
  EXPECT_NE(error({"--freeze", "cnv1.weight"})
                .find("--freeze: no parameter is called 'cnv1.weight'; did you mean 'conv1.weight'?"),
            std::string::npos);
  EXPECT_NE(error({"--freeze", "*"}).find("--freeze: no parameter is left to train"), std::string::npos);
  EXPECT_NE(error({"--freeze", "bn1.*", "--train-only", "logits.*"}).find("excludes"), std::string::npos);
  const auto of_types = [&](const std::string& types) {
    return error({"--freeze", "conv1.*", "--frozen-dtype", types});
  };
  EXPECT_PRED2(says, of_types("logits.*=bf16,*=f16"),
               "--frozen-dtype: 'logits.*=bf16' changes nothing: 'logits.weight' is trained, not frozen");
  EXPECT_PRED2(says, of_types("conv1.bias=bf16"), "'conv1.bias' is no parameter of two axes or more");
  const Ended guest = run_train(small({"--memopt", "optnet=training", "--freeze", "bn1.*", "--steps", "1"}));
  EXPECT_NE(guest.code, 0);
  EXPECT_NE(guest.err.find("--freeze, --train-only, --lora, --ema, mixup and cutmix go with none and the levels"),
            std::string::npos)
      << guest.err;
}

// Of 216 numbers in two axes and 24 in one, the first are in two bytes.
TEST_F(FrozenRun, KeepsMatricesInADtypeOfTheirOwn) {
  const Names how = {"--train-only", "logits.*", "--frozen-dtype", "bf16"};
  EXPECT_EQ(json(how)["bytes"]["frozen"], 2 * 216 + 4 * 24);
  std::string first;
  for (const char* memopt : {"none", "level=1", "level=2", "level=3"}) {
    Names words = {"--memopt", memopt, "--save", path(memopt), "--steps", "3"};
    words.insert(words.end(), how.begin(), how.end());
    const Ended ended = run_train(small(words));
    ASSERT_EQ(ended.code, 0) << ended.err;
    EXPECT_NE(ended.out.find("bytes, as predicted"), std::string::npos) << ended.out;
    if (first.empty()) first = checkpoint_bytes(memopt);
    EXPECT_TRUE(checkpoint_bytes(memopt) == first) << memopt;
  }
  const SafetensorsReader saved(path("none/weights.safetensors"));
  EXPECT_EQ(saved.find("conv1.weight")->dtype, DType::bf16);
  EXPECT_EQ(saved.find("bn1.weight")->dtype, DType::f32);
  const Ended eval = run_train({"eval", "--weights", path("none"), "--threads", "1"});
  ASSERT_EQ(eval.code, 0) << eval.err;
  const Ended again = run_train({"--resume", path("none"), "--threads", "1", "--steps", "4"});
  EXPECT_EQ(again.code, 0) << again.err;
  const Ended nothing = run_train(small({"--frozen-dtype", "bf16", "--steps", "1"}));
  EXPECT_NE(nothing.err.find("--frozen-dtype changes nothing, since no parameter is frozen"), std::string::npos);
  const Names either = {"--train-only", "logits.*", "--frozen-dtype", "conv1.weight=bf16?,logits.weight=f16?"};
  EXPECT_EQ(json(either)["bytes"]["frozen"], 2 * 216 + 4 * 24) << "as of a file that has them so";
}

/// GPT of two layers, its tied table larger than a block of what a product widens, and all but the upper layer frozen.
class FrozenGpt : public FrozenRun {
 protected:
  static Names gpt(Names more) {
    Names words = {"--model", "char_gpt", "--batch", "1", "--threads", "2", "--eval-every", "0"};
    for (const char* var : {"vocab=20000", "width=128", "length=16", "heads=2", "layers=2", "dropout=0"})
      words.insert(words.end(), {"--set", var});
    words.insert(words.end(), {"--train-only", "layer/1/*"});
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  /// What trained.
  std::vector<std::byte> trained(const std::string& into, const Names& more) const {
    Names words = gpt({"--save", path(into), "--steps", "2", "--data", "sentences:train=64,test=4"});
    words.insert(words.end(), more.begin(), more.end());
    const Ended ended = run_train(words);
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_NE(ended.out.find("bytes, as predicted"), std::string::npos) << ended.out;
    std::vector<std::byte> all;
    for (const char* name : {"attention/qkv", "attention/out", "mlp/up", "mlp/down"})
      for (const std::byte b : tensor(into + "/weights.safetensors", message("layer/1/", name, ".weight")))
        all.push_back(b);
    return all;
  }
};

/// Of floats: products of a whole weight have another order of sums.
void expect_near(const std::vector<std::byte>& in_blocks, const std::vector<std::byte>& whole) {
  ASSERT_EQ(in_blocks.size(), whole.size());
  const auto *a = reinterpret_cast<const float*>(in_blocks.data()), *b = reinterpret_cast<const float*>(whole.data());
  for (std::size_t i = 0; i < whole.size() / sizeof(float); ++i) ASSERT_NEAR(a[i], b[i], 1e-4) << i;
}

TEST_F(FrozenGpt, HasTheSameBitsWhereProductsWidenWhatIsFrozen) {
  int runs = 0;
  for (const char* const dtype : {"bf16", "f16", "q4_1", "nf4-dq"}) {
    const std::string start = message("start in ", dtype);
    trained(start, {"--frozen-dtype", dtype});
    const Names from = {"--weights", path(start + "/weights.safetensors"), "--memopt"};
    const auto with = [&](const char* memopt, Names more = {}) {
      more.insert(more.begin(), from.begin(), from.end());
      more.insert(more.begin() + 3, memopt);
      return trained(message("run ", ++runs), more);
    };
    const std::vector<std::byte> kept_low = with("none", {"--frozen-dtype", dtype});
    for (const char* memopt : {"level=1", "level=2", "level=3"})
      EXPECT_TRUE(with(memopt, {"--frozen-dtype", dtype}) == kept_low) << dtype << ", " << memopt;
    expect_near(kept_low, with("none"));
  }
}

TEST_F(FrozenGpt, PlansNoCopyOfWhatIsFrozen) {
  const auto planned = [](const Names& more) {
    Names words = gpt({"--json"});
    words.insert(words.begin(), "plan");
    words.insert(words.end(), more.begin(), more.end());
    const Ended ended = run_train(words);
    EXPECT_EQ(ended.code, 0) << ended.err;
    return nlohmann::json::parse(ended.out);
  };
  const std::int64_t table = std::int64_t{20000} * 128;
  const nlohmann::json low = planned({"--frozen-dtype", "bf16"}), wide = planned({});
  EXPECT_LT(low["arena"], 3 * table) << "a block of the table and the logits of 16 rows, and no copy";
  EXPECT_LT(low["bytes"]["peak"], wide["bytes"]["peak"]);
  EXPECT_EQ(low["bytes"]["frozen"].get<std::int64_t>() + 2 * (table + 16 * 128 + 12 * 128 * 128),
            wide["bytes"]["frozen"].get<std::int64_t>());
}

TEST_F(FrozenRun, ShowsWhatIsFrozen) {
  const Ended shown =
      run_train({"show", "--model", path("small.json"), "--freeze", "conv1.*,bn1.weight", "--threads", "1"});
  ASSERT_EQ(shown.code, 0) << shown.err;
  EXPECT_NE(shown.out.find(" 224 frozen "), std::string::npos) << shown.out;
  EXPECT_NE(shown.out.find(" 16 partly frozen "), std::string::npos) << shown.out;
  EXPECT_NE(shown.out.find("parameters    756\ntrained       524\n"), std::string::npos) << shown.out;
}

/// The bytes that a run on so many ranks saves after three steps.
std::string frozen_and_saved(const SessionSetting& setting, std::int64_t ranks, int zero) {
  const TemporaryFolder folder;
  train_to(3, setting, folder.text() + "/run", ranks, zero);
  return saved_in(folder.text() + "/run");
}

// With batch norm in micro-batches and over all shards, and loss scales; frozen parameters are shared out at stage 3.
TEST(FrozenRanks, SaveTheSameFiles) {
  SessionSetting setting = sharing("resnet20", 8, 4, "adamw");
  setting.program.network.frozen.freeze = "stage1*,*.bias";
  const std::string one = frozen_and_saved(setting, 1, 0);
  for (const int zero : {0, 2, 3}) EXPECT_TRUE(frozen_and_saved(setting, 2, zero) == one) << "stage " << zero;
  setting.program.network.sync_bn = true;
  EXPECT_TRUE(frozen_and_saved(setting, 2, 3) == frozen_and_saved(setting, 1, 0));
  setting = sharing("char_gpt", 8, 4, "adamw");
  setting.program.network.frozen.train_only = "layer*";
  setting.program.network.dtype = DType::f16;
  setting.program.update.rule.clip_norm = 0.01;
  EXPECT_TRUE(frozen_and_saved(setting, 2, 3) == frozen_and_saved(setting, 1, 0));
}

}  // namespace
}  // namespace lethe::testing
