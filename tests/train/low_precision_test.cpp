// Whole runs in bf16 and f16: parameters and statistics stay f32, what is computed is half as large.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kernels/cpu/bf16_units.h"
#include "kernels/provider.h"
#include "tests/support/environment.h"
#include "tests/train/run_fixture.h"
#include "train/session/safetensors.h"

namespace lethe::testing {
namespace {

class LowPrecision : public RunTest {
 protected:
  std::vector<std::string> trained(const std::string& dtype, std::vector<std::string> more) const {
    more.insert(more.begin(), {"--dtype", dtype, "--seed", "5", "--epochs", "4", "--schedule", "constant"});
    return small(more);
  }
};

double last_accuracy(const Ended& run) {
  const std::size_t at = run.out.rfind(" acc ");
  return at == std::string::npos ? -1 : std::stod(run.out.substr(at + 5));
}

TEST_F(LowPrecision, LearnsAsMuchAsF32) {
  const Ended f32 = run_train(trained("f32", {}));
  ASSERT_EQ(f32.code, 0) << f32.err;
  for (const char* dtype : {"bf16", "f16"}) {
    const Ended low = run_train(trained(dtype, {}));
    ASSERT_EQ(low.code, 0) << low.err;
    EXPECT_NEAR(last_accuracy(low), last_accuracy(f32), 0.15) << dtype;
    EXPECT_NE(low.out.find("as predicted"), std::string::npos) << low.out;
  }
}

TEST_F(LowPrecision, SaysWhereItSavesNoTime) {
  const auto says_so = [&](const std::string& dtype) {
    const Ended run = run_train(trained(dtype, {"--epochs", "1"}));
    EXPECT_EQ(run.code, 0) << run.err;
    return run.err.find(dtype + " saves memory but no time here") != std::string::npos;
  };
  EXPECT_FALSE(says_so("f32"));
  EXPECT_TRUE(says_so("f16"));
  EXPECT_EQ(says_so("bf16"), !multiplies_on_cpu(DType::bf16) && !has_amx());
}

TEST_F(LowPrecision, SettingsAndResumingChangeNoBit) {
  for (const std::string dtype : {"bf16", "f16"}) {
    const std::string plain = dtype + "plain", arena = dtype + "arena", resumed = dtype + "resumed";
    ASSERT_EQ(run_train(trained(dtype, {"--save", path(plain), "--memopt", "none"})).code, 0);
    ASSERT_EQ(run_train(trained(dtype, {"--save", path(arena), "--memopt", "level=2"})).code, 0);
    ASSERT_EQ(run_train(trained(dtype, {"--epochs", "1", "--save", path(resumed)})).code, 0);
    ASSERT_EQ(run_train({"--resume", path(resumed), "--epochs", "4"}).code, 0);
    EXPECT_TRUE(checkpoint_bytes(arena) == checkpoint_bytes(plain)) << dtype;
    EXPECT_TRUE(checkpoint_bytes(resumed) == checkpoint_bytes(plain)) << dtype;
  }
}

TEST_F(LowPrecision, CheckpointsHoldTheF32Parameters) {
  ASSERT_EQ(run_train(trained("bf16", {"--save", path("run")})).code, 0);
  const Ended evaluated = run_train({"eval", "--weights", path("run"), "--dtype", "f32"});
  EXPECT_EQ(evaluated.code, 0) << evaluated.err;
  ASSERT_EQ(run_train({"export", "--weights", path("run"), "--output", path("w")}).code, 0);
  EXPECT_TRUE(bytes_in(path("w")) == bytes_in(path("run/best/weights.safetensors"))) << "and so do exported files";
}

TEST_F(LowPrecision, AnOverflowIsSaidSkippedAndCounted) {
  const Ended run = run_train(trained("f16", {"--loss-scale", "1e9"}));
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_NE(
      run.err.find("step 1: gradients overflow in f16, the step is skipped (1 so far); the loss scale is now 5e+08"),
      std::string::npos)
      << run.err;
  const Ended never = run_train(
      {"--model", "mlp", "--dtype", "f16", "--loss-scale", "1", "--lr", "1e6", "--steps", "20", "--eval-every", "0"});
  EXPECT_EQ(never.code, 5) << never.err;
  EXPECT_NE(never.err.find("even with a loss scale of 1; try --dtype bf16"), std::string::npos) << never.err;
  const Ended not_f16 = run_train(trained("bf16", {"--loss-scale", "8"}));
  EXPECT_EQ(not_f16.code, 2);
  EXPECT_NE(not_f16.err.find("--loss-scale is for --dtype f16; this is bf16"), std::string::npos) << not_f16.err;
}

TEST_F(LowPrecision, ThePlanShowsCopiesOfParametersByThemselves) {
  const auto planned = [&](const std::string& dtype) {
    const Ended run = run_train({"plan", "--model", "resnet20", "--dtype", dtype, "--memopt", "level=2", "--json"});
    EXPECT_EQ(run.code, 0) << run.err;
    return nlohmann::json::parse(run.out);
  };
  const auto f32 = planned("f32"), bf16 = planned("bf16"), f16 = planned("f16");
  EXPECT_EQ(f32["bytes"]["param_copies"], 0);
  EXPECT_GT(bf16["bytes"]["param_copies"], 0);
  EXPECT_EQ(bf16["bytes"]["params"], f32["bytes"]["params"]);
  EXPECT_EQ(f16["bytes"]["optimizer"].get<std::int64_t>() > bf16["bytes"]["optimizer"].get<std::int64_t>(), true);
  EXPECT_LT(bf16["bytes"]["peak"].get<double>(), 0.6 * f32["bytes"]["peak"].get<double>());
  const Ended text = run_train({"plan", "--model", "resnet20", "--dtype", "bf16"});
  EXPECT_NE(text.out.find("param copies"), std::string::npos) << text.out;
  const Ended wide = run_train({"plan", "--model", "resnet20"});
  EXPECT_EQ(wide.out.find("param copies"), std::string::npos) << wide.out;
}

/// Kept for each trip of the loop, as other values are, they would take more than f32 does.
TEST_F(LowPrecision, CopiesOfParametersAreMadeAgainInBackward) {
  const auto peak = [](const std::string& dtype) {
    const Ended run = run_train({"plan", "--model", "char_lstm", "--dtype", dtype, "--memopt", "level=2", "--json"});
    EXPECT_EQ(run.code, 0) << run.err;
    return nlohmann::json::parse(run.out)["bytes"]["peak"].get<double>();
  };
  EXPECT_LT(peak("bf16"), 0.7 * peak("f32"));
}

/// Nearly all of alexnet is its products' weights, f32 in both. Neither their gradients nor copies of them stand in
/// memory: either would be a hundredth. Which order of the ops is found differs by a few ten thousandths.
TEST_F(LowPrecision, TakesNoMoreThanF32WhereWeightsAreMost) {
  const auto peak = [](const std::string& dtype) {
    const Ended run =
        run_train({"plan", "--model", "alexnet", "--batch", "1", "--dtype", dtype, "--memopt", "level=2", "--json"});
    EXPECT_EQ(run.code, 0) << run.err;
    return nlohmann::json::parse(run.out)["bytes"]["peak"].get<double>();
  };
  EXPECT_LT(peak("bf16"), 1.001 * peak("f32"));
}

/// Besides parameters and momentum, which are f32 in both. At the batches of their recipes.
TEST_F(LowPrecision, ConvolutionalNetworksTakeLittleMoreThanHalf) {
  std::vector<std::string> models = {"lenet", "alexnet", "resnet20", "unet"};
  if (takes_all_networks())
    for (const char* large :
         {"vgg_a", "vgg16", "googlenet", "resnet110", "resnet50", "resnext50", "se_resnext50", "se_resnext152"})
      models.emplace_back(large);
  for (const std::string& model : models) {
    if (model == "lenet" && !has_onednn()) continue;  // convolutions of ours take a megabyte, as much as all else
    const auto beside_parameters = [&](const std::string& dtype) {
      const Ended run =
          run_train({"plan", "--model", model, "--dtype", dtype, "--eval-every", "0", "--threads", "2", "--json"});
      EXPECT_EQ(run.code, 0) << run.err;
      const auto bytes = nlohmann::json::parse(run.out)["bytes"];
      return bytes["peak"].get<double>() - bytes["params"].get<double>() - bytes["optimizer"].get<double>();
    };
    EXPECT_LE(beside_parameters("bf16"), 0.65 * beside_parameters("f32")) << model;
  }
}

TEST_F(LowPrecision, TheListOfDevicesSaysWhatMultiplies) {
  const Ended run = run_train({"device"});
  EXPECT_NE(run.out.find(" threads, " + cpu_provider() + "\n"), std::string::npos) << run.out;
  EXPECT_EQ(run.out.find("widened") == std::string::npos, multiplies_on_cpu(DType::bf16)) << run.out;
  EXPECT_NE(run.out.find(has_onednn() ? "oneDNN " + onednn_version() : "Eigen"), std::string::npos) << run.out;
}

TEST_F(LowPrecision, OptnetsModulesHaveNone) {
  const Ended run = run_train({"count", "--model", "lenet", "--dtype", "bf16"});
  EXPECT_EQ(run.code, 2);
  EXPECT_NE(run.err.find("optnet's modules compute in f32 or f64, not bf16"), std::string::npos) << run.err;
}

}  // namespace
}  // namespace lethe::testing
