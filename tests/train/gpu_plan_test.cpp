// Planning for a GPU that is not there.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "framework/language/block_formats.h"
#include "framework/language/core_ops.h"
#include "framework/language/op_def.h"
#include "framework/language/weight_blocks.h"
#include "kernels/conv/conv.h"
#include "kernels/cuda/device.h"
#include "models/network.h"
#include "tests/support/expect_error.h"
#include "tests/train/run_fixture.h"
#include "train/recipe.h"
#include "train/report/plan_report.h"
#include "train/search/what_fits.h"
#include "train/session/device.h"

namespace lethe::testing {
namespace {

class GpuPlan : public RunTest {
 protected:
  void SetUp() override {
    if (!has_cuda()) GTEST_SKIP() << "CUDA is not in this build";
    RunTest::SetUp();
  }

  std::string write(const nlohmann::json& description) const {
    std::ofstream(path("gpu.json")) << description.dump();
    return path("gpu.json");
  }
  DeviceInfo info(const std::string& device) const { return device_info({.name = device}); }
  nlohmann::json plan(std::vector<std::string> more) const {
    more.insert(more.begin(), {"plan", "--model", path("small.json"), "--json"});
    const Ended ended = run_train(more);
    EXPECT_EQ(ended.code, 0) << ended.err;
    return nlohmann::json::parse(ended.out);
  }
  /// A plan of more than the GPU has.
  std::vector<std::string> too_large() const {
    return {"plan", "--model", path("small.json"), "--device", "rtx4090,memory=64MiB", "--batch", "20000"};
  }
};

TEST_F(GpuPlan, IsOfThatGpuAndSaysThatItIsPredicted) {
  for (const std::string& name : described_gpus()) {
    const nlohmann::json json = plan({"--device", name, "--batch", "64"});
    EXPECT_NE(json["device"].get<std::string>().find("NVIDIA"), std::string::npos) << name;
    EXPECT_GE(json["bytes"]["workspace"], 32 << 20) << "a product's alone is that much";
    EXPECT_TRUE(json["certified"].get<bool>());
  }
  const Ended text = run_train({"plan", "--model", path("small.json"), "--device", "h200"});
  EXPECT_NE(text.out.find("on NVIDIA H200 by description: predicted"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("outside our control"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("inputs of the next step are copied from op "), std::string::npos) << text.out;
}

/// How often updates are launched if those that stand side by side and join are done in one.
int update_launches(const Program& program, Prepared& prepared) {
  int launches = 0;
  const Op* first = nullptr;
  for (const Op& op : program.blocks[0].ops) {
    const bool updates = op_def(op.type).updates;
    if (updates && first && prepared.kernel(program, *first).groups_with(prepared.kernel(program, op))) continue;
    launches += updates ? 1 : 0;
    first = updates ? &op : nullptr;
  }
  return launches;
}

TEST_F(GpuPlan, SmallUpdatesAreGatheredIntoFewLaunchesForNoByte) {
  const Options options =
      decided(parse_options({"plan", "--model", "resnet110", "--batch", "128", "--device", "h200"}));
  const Programs programs = build_programs(options.program);
  Prepared prepared(device_info(options.device));
  const Planned gathered = planned_program(options.program, prepared);
  MemoptOptions apart = suited(training_memopt(options.program.memory, programs.network), prepared.device());
  apart.gather = false;
  const Planned early = plan_memory(programs.training, prepared, apart);
  EXPECT_EQ(gathered.plan.bytes, early.plan.bytes);
  EXPECT_GT(update_launches(early.program, prepared), 300);
  EXPECT_LT(update_launches(gathered.program, prepared), 10) << "of 440 updates";
}

bool is_product_by_blocks(const Program& program, const Op& op) {
  return (op.type == "fc" || op.type == "matmul") && std::ranges::any_of(op.in, [&](VarId v) {
           return v != kNone && program.vars[v].kind == Kind::Param && is_in_blocks(program.vars[v].dtype);
         });
}

/// Two weights have more elements than are widened at a time.
TEST_F(GpuPlan, ProductsReadFrozenWeightsInBlocksThemselves) {
  const Options options =
      decided(parse_options({"plan", "--model", "char_gpt", "--set", "layers=1,width=4096,heads=32,length=16,dropout=0",
                             "--batch", "1", "--lora", "--lora-targets", "all-linear", "--frozen-dtype", "nf4-dq",
                             "--device", "h100", "--memopt", "level=2"}));
  const Programs programs = build_programs(options.program);
  Prepared prepared(device_info(options.device));
  const MemoptOptions level2 = training_memopt(options.program.memory, programs.network);
  const Planned fused = plan_memory(programs.training, prepared, level2);
  Program copied = programs.training;  // without the attribute that lets a product do so for the same bits
  for (Op& op : copied.blocks[0].ops) op.attrs.set(kWeightBlocks, false);
  const Planned by_copies = plan_memory(copied, prepared, level2);
  const auto fused_ops = [](const Program& program) {
    return std::ranges::count_if(program.blocks[0].ops,
                                 [&](const Op& op) { return is_product_by_blocks(program, op); });
  };
  EXPECT_GE(fused_ops(fused.program), 4 + 3) << "forward, and for the gradients of what adapters lead to";
  EXPECT_EQ(fused_ops(by_copies.program), 0);
  EXPECT_LT(fused.plan.bytes.total(), by_copies.plan.bytes.total());
}

TEST_F(GpuPlan, AConvolutionTakesNoMoreThanItsLimit) {
  const auto largest = [](const std::string& limit) {
    const Options options = decided(parse_options(
        {"plan", "--model", "resnet20", "--device", "h200", "--batch", "256", "--workspace-limit", limit}));
    Prepared prepared(device_info(options.device));
    const Program program = build_programs(options.program).training;
    std::int64_t most = 0;
    for (const Op& op : program.blocks[0].ops)
      if (op.type.rfind("conv2d", 0) == 0) most = std::max(most, prepared.workspace_bytes(program, op));
    return most;
  };
  EXPECT_GT(largest("256MiB"), 8 << 20);
  EXPECT_LE(largest("8MiB"), 8 << 20);
}

TEST_F(GpuPlan, WhatIsMoreThanTheGpuHasEndsWithRemedies) {
  const Ended ended = run_train(too_large());
  EXPECT_EQ(ended.code, 3);
  EXPECT_NE(ended.err.find("more than the memory of NVIDIA GeForce RTX 4090"), std::string::npos) << ended.err;
  EXPECT_NE(ended.out.find("the largest that fits"), std::string::npos) << ended.out;
}

TEST_F(GpuPlan, AutoAndThePlansAdviceAreOneNumber) {
  const std::string gpu = "rtx4090,memory=64MiB";
  const Ended found = run_train({"plan", "--model", path("small.json"), "--device", gpu, "--batch", "auto", "--json"});
  ASSERT_EQ(found.code, 0) << found.err;
  const nlohmann::json figures = nlohmann::json::parse(found.out);
  const std::int64_t batch = figures["batch"];
  EXPECT_LE(figures["bytes"]["peak"], 64 << 20);
  const Ended asked =
      run_train({"plan", "--model", path("small.json"), "--device", gpu, "--batch", std::to_string(4 * batch)});
  EXPECT_EQ(asked.code, 3);
  EXPECT_NE(asked.out.find(message("--batch ", batch, "  ")), std::string::npos) << batch << "\n" << asked.out;
  EXPECT_EQ(
      run_train({"plan", "--model", path("small.json"), "--device", gpu, "--batch", std::to_string(batch + 1)}).code,
      3);
}

TEST_F(GpuPlan, AutoPlansAtThePriceThatItWasFoundFor) {
  const Ended found = run_train({"plan", "--model", "resnet20", "--set", "n=1", "--device", "rtx4090,memory=128MiB",
                                 "--memopt", "level=3", "--batch", "auto", "--json"});
  ASSERT_EQ(found.code, 0) << found.err;
  const nlohmann::json figures = nlohmann::json::parse(found.out);
  EXPECT_GT(figures["overhead"], 0);
  EXPECT_LE(figures["overhead"], kOverheadOfAuto) << found.err;
}

TEST_F(GpuPlan, AnotherSizeOfMemoryStandsAfterTheName) {
  ASSERT_EQ(run_train({"device", "--dump", "--device", "rtx4090,memory=12GiB", "--out", path("small_gpu.json")}).code,
            0);
  const DeviceInfo less = info(path("small_gpu.json")), whole = info("rtx4090");
  EXPECT_EQ(less.memory, std::int64_t{12} << 30);
  EXPECT_EQ(less.name, whole.name);
  EXPECT_EQ(device_info({.name = path("small_gpu.json"), .memory = 5000}).memory, 5000);
  const auto complaint = [](const std::string& device) {
    return run_train({"plan", "--model", "lenet", "--device", device}).err;
  };
  EXPECT_NE(complaint("rtx4090,ram=2GiB").find("has 'ram=2GiB' after the name; expected memory=SIZE"),
            std::string::npos);
  EXPECT_NE(complaint("rtx4090,memory=much").find("--device: 'much' is no size"), std::string::npos);
  EXPECT_NE(complaint("cpu,memory=2GiB").find("memory=SIZE is of a GPU by description, not of cpu"), std::string::npos);
  for (const auto& [wrong, meant] :
       {std::pair("h10", "h100"), {"rtx-3090", "rtx3090"}, {"RTX5090", "rtx5090"}, {"l40", "l40s"}})
    EXPECT_NE(complaint(wrong).find(message("did you mean '", meant, "'")), std::string::npos) << complaint(wrong);
}

TEST_F(GpuPlan, ABudgetBeyondTheGpuIsNoLicence) {
  std::vector<std::string> more = too_large(), less = too_large();
  more.insert(more.end(), {"--memory-budget", "1000GiB"});
  less.insert(less.end(), {"--memory-budget", "1MiB"});
  EXPECT_TRUE(run_train(more).err.find("more than the memory of NVIDIA") != std::string::npos);
  EXPECT_TRUE(run_train(less).err.find("more than the --memory-budget") != std::string::npos);
}

TEST_F(GpuPlan, TheDumpOfADescriptionCanBePlannedFor) {
  ASSERT_EQ(run_train({"device", "--dump", "--device", "h200", "--out", path("h200.json")}).code, 0);
  EXPECT_EQ(plan({"--device", path("h200.json")})["device"], "NVIDIA H200");
}

TEST_F(GpuPlan, ADescriptionFromAFileIsThatOfTheSameGpuByName) {
  const auto description = nlohmann::json::parse(info("a100").properties);
  const std::string file = write(description);
  EXPECT_EQ(plan({"--device", file})["bytes"], plan({"--device", "a100"})["bytes"]);
}

TEST_F(GpuPlan, AFileThatDescribesNoGpuIsRefused) {
  const auto description = nlohmann::json::parse(info("a100").properties);
  EXPECT_TRUE(fails_with("no file", [&] { info(path("absent.json")); }));
  std::ofstream(path("text.json")) << "not JSON";
  EXPECT_TRUE(fails_with("text.json:1:2: syntax error", [&] { info(path("text.json")); }));
  std::ofstream(path("deep.json")) << R"({"maxGridSize":)" << std::string(200000, '[') << std::string(200000, ']')
                                   << "}";
  EXPECT_TRUE(fails_with("nested deeper than 100", [&] { info(path("deep.json")); }));
  nlohmann::json lacks = description;
  lacks.erase("deviceVer");
  EXPECT_TRUE(fails_with("'deviceVer' is missing", [&] { info(write(lacks)); }));
  nlohmann::json wrong = description;
  wrong["totalGlobalMem"] = "much";
  EXPECT_TRUE(fails_with("'totalGlobalMem' is \"much\"", [&] { info(write(wrong)); }));
  wrong["totalGlobalMem"] = std::uint64_t{1} << 63;
  EXPECT_TRUE(fails_with("'totalGlobalMem' is 9223372036854775808", [&] { info(write(wrong)); }));
  std::ofstream(path("large.json")) << "{\"totalGlobalMem\":\n 1e400}";
  EXPECT_TRUE(fails_with("large.json:2:2: the number 1e400 is too large", [&] { info(path("large.json")); }));
}

TEST(Devices, AreListedWithAndWithoutAGpu) {
  const Ended ended = run_train({"device"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(ended.out.rfind("cpu: ", 0), 0U) << ended.out;
  EXPECT_NE(ended.out.find("to plan for: a100, h100, h200, l40s, rtx3060, rtx3090, rtx4090, rtx5090"),
            std::string::npos)
      << ended.out;
  EXPECT_EQ(run_train({"device", "--out", "file"}).code, 2);
}

}  // namespace
}  // namespace lethe::testing
