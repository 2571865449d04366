// `train bench --count` and `train plan --roofline`, for GPUs that are not there.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "kernels/cuda/device.h"
#include "tests/train/run_fixture.h"
#include "train/report/step_report.h"

namespace lethe::testing {
namespace {

TEST(CountReport, AddsUpAndTakesTheLongerOfOperationsAndBytes) {
  const StepCount count{
      .rows = {{.op = "conv2d",
                .implementation = "cuDNN",
                .calls = 2,
                .launches = 2,
                .flops = 3e9,
                .bytes = 4e6,
                .own_bytes = 1e6},
               {.op = "relu", .implementation = "own", .calls = 1, .launches = 1, .bytes = 5e6, .own_bytes = 5e6}}};
  const auto json = nlohmann::json::parse(count_as("json", "net", count, Roof{.flops = 1e12, .bytes = 1e9}));
  EXPECT_EQ(json["launches"], 3);
  EXPECT_EQ(json["bytes"], 9e6);
  EXPECT_EQ(json["own_bytes"], 6e6);
  EXPECT_DOUBLE_EQ(json["rows"][0]["least_ms"], 4) << "its bytes";
  EXPECT_DOUBLE_EQ(json["least_ms"], 9);
  const auto computing = nlohmann::json::parse(count_as("json", "net", count, Roof{.flops = 1e9, .bytes = 1e9}));
  EXPECT_DOUBLE_EQ(computing["rows"][0]["least_ms"], 3000) << "its operations";
  EXPECT_FALSE(nlohmann::json::parse(count_as("json", "net", count, {})).contains("least_ms"));
  EXPECT_EQ(count_as("csv", "net", count, {}).substr(0, 70),
            "op,implementation,calls,launches,gflop,mb,own_mb\nconv2d,\"cuDNN\",2,2,3,");
  EXPECT_NE(count_as("text", "net", count, {}).find("net: 3 launches a step, 9.0 MB moved, 6.0 of them by own kernels"),
            std::string::npos);
}

class CountCommand : public RunTest {
 protected:
  void SetUp() override {
    if (!has_cuda()) GTEST_SKIP() << "CUDA is not in this build";
    RunTest::SetUp();
  }
  nlohmann::json count(const std::vector<std::string>& more) const {
    std::vector<std::string> args = {"bench",    "--model", path("small.json"), "--count",
                                     "--device", "h200",    "--format",         "json"};
    args.insert(args.end(), more.begin(), more.end());
    const Ended ended = run_train(args);
    EXPECT_EQ(ended.code, 0) << ended.err;
    return nlohmann::json::parse(ended.out);
  }
  /// The sum over the rows of an op, whoever computes it.
  static double sum_of(const nlohmann::json& counted, const std::string& op, const char* what) {
    double sum = 0;
    for (const auto& row : counted["rows"])
      if (row["op"] == op) sum += row[what].get<double>();
    return sum;
  }
};

TEST_F(CountCommand, CountsEachOpsLaunchesAndBytes) {
  const nlohmann::json counted = count({"--batch", "64"});
  EXPECT_EQ(sum_of(counted, "conv2d", "calls"), 1);
  EXPECT_EQ(sum_of(counted, "momentum", "calls"), 6);
  EXPECT_LT(sum_of(counted, "momentum", "launches"), 6) << "done together";
  EXPECT_EQ(sum_of(counted, "batch_norm", "launches"), 2) << "statistics, and the pass over the tensor";
  const double tensor = 64 * 8 * 8 * 8 * 4e-6, channels = 8 * 4e-6;
  EXPECT_NEAR(sum_of(counted, "batch_norm", "mb"), 3 * tensor + 4 * channels, 1e-9) << "x twice, y once, and channels";
  EXPECT_NEAR(sum_of(counted, "batch_norm_grad", "mb"), 5 * tensor + 5 * channels, 1e-9) << "x and dy twice, dx once";
}

TEST_F(CountCommand, KernelsThatAskForSharedMemoryNeedNoGpu) {
  const Ended ended =
      run_train({"bench", "--count", "--model", "gpt2", "--batch", "1", "--set", "layers=1", "--set", "length=64",
                 "--set", "heads=6", "--dtype", "bf16", "--device", "h200", "--format", "json"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(sum_of(nlohmann::json::parse(ended.out), "attention_grad", "launches"), 3) << "heads of 128 numbers";
}

TEST_F(CountCommand, ARooflineIsOfThePlannedProgramOnThatGpu) {
  const auto least = [&](const std::vector<std::string>& more) {
    std::vector<std::string> args = {"plan", "--model", "resnet20", "--batch", "128", "--roofline", "--json"};
    args.insert(args.end(), more.begin(), more.end());
    const Ended ended = run_train(args);
    EXPECT_EQ(ended.code, 0) << ended.err;
    return nlohmann::json::parse(ended.out)["least_ms"].get<double>();
  };
  const double f32 = least({"--device", "h200"});
  EXPECT_LT(least({"--device", "h200", "--dtype", "bf16"}), f32);
  EXPECT_GT(least({"--device", "a100"}), f32);
  EXPECT_LT(least({"--device", "h200", "--eval"}), f32);
}

TEST_F(CountCommand, NeedsAGpuThatItKnows) {
  const Ended cpu = run_train({"bench", "--model", path("small.json"), "--count"});
  EXPECT_EQ(cpu.code, 2);
  EXPECT_NE(cpu.err.find("--count counts what a GPU launches; name one with --device"), std::string::npos) << cpu.err;
  const Ended dump = run_train({"device", "--dump", "--device", "h200", "--out", path("gpu.json")});
  ASSERT_EQ(dump.code, 0) << dump.err;
  std::string description = bytes_in(path("gpu.json"));
  const std::size_t name = description.find("NVIDIA H200");
  ASSERT_NE(name, std::string::npos);
  std::ofstream(path("gpu.json")) << description.replace(name, 11, "NVIDIA X");
  const Ended unknown = run_train({"plan", "--model", path("small.json"), "--roofline", "--device", path("gpu.json")});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_NE(unknown.err.find("--roofline: what NVIDIA X does at best is not known; it is of a100, h100, h200, l40s"),
            std::string::npos)
      << unknown.err;
}

}  // namespace
}  // namespace lethe::testing
