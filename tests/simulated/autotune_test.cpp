// cuDNN's engines chosen by trials on a simulated GPU, which may be slow with the best of each graph.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "framework/error.h"
#include "kernels/conv/conv.h"
#include "kernels/cuda/device.h"
#include "kernels/trials.h"
#include "tests/simulated/gpu.h"
#include "tests/support/environment.h"
#include "tests/support/expect_error.h"
#include "tests/train/data_samples.h"
#include "tests/train/run_fixture.h"

namespace lethe::testing {
namespace {

class GpuAutotune : public RunTest {
 protected:
  Ended train(std::vector<std::string> more = {}) const {
    std::filesystem::remove_all(path("run"));
    more.insert(more.end(), {"--device", "cuda", "--steps", "2", "--save", path("run")});
    const Ended ended = run_train(small(more));
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_PRED2(says, ended.out, "as predicted");
    return ended;
  }
  Ended tuned() const { return train({"--autotune", path("choices.json")}); }
  nlohmann::json file() const { return nlohmann::json::parse(bytes_in(path("choices.json"))); }
  /// The bits that the last run trained.
  std::string trained() const { return checkpoint_bytes("run/latest"); }
};

bool was_timed(const std::string& err) { return says(err, "simulated GPU: a time"); }

TEST_F(GpuAutotune, TheFastestEngineIsKeptAndTakenAgainWithoutATrial) {
  const Environment tell("SIMULATED_GPU_TELL", "1");
  train();
  const std::string expected = trained();
  const auto choices_if_slow_with = [&](const char* engines) {
    std::filesystem::remove(path("choices.json"));
    const Environment slow("SIMULATED_GPU_SLOW", engines);
    EXPECT_TRUE(was_timed(tuned().err));
    EXPECT_EQ(trained() == expected, true) << "simulated engines round alike";
    return file().at("choices");
  };
  const nlohmann::json best = choices_if_slow_with("others"), other = choices_if_slow_with("best");
  EXPECT_EQ(best.size(), 2U) << "the first convolution has no input gradient";
  for (const auto& [what, engine] : other.items()) EXPECT_NE(engine, best.at(what)) << what;
  EXPECT_FALSE(was_timed(tuned().err));
  EXPECT_EQ(file().at("choices"), other);
}

TEST_F(GpuAutotune, ChoicesOfAnotherGpuOrDriverAreMadeAnew) {
  for (const auto& [variable, value, complaint] :
       {std::tuple("SIMULATED_GPU_MODEL", "a100", "it was measured with gpu"),
        {"SIMULATED_GPU_DRIVER", "14000", "it was measured with driver"}}) {
    tuned();
    const nlohmann::json first = file();
    EXPECT_EQ(first.at("gpu"), "NVIDIA H200");
    const Environment another(variable, value), tell("SIMULATED_GPU_TELL", "1");
    const std::string err = tuned().err;
    EXPECT_PRED2(says, err, complaint);
    EXPECT_TRUE(was_timed(err));
    EXPECT_NE(file(), first);
    EXPECT_FALSE(was_timed(tuned().err));
  }
}

TEST_F(GpuAutotune, AnEngineThatFailsInATrialIsNotTaken) {
  const Environment fails("SIMULATED_GPU_FAILS", "execute");
  EXPECT_PRED2(says, train().err, "takes its place");
  EXPECT_FALSE(says(tuned().err, "takes its place"));
}

TEST_F(GpuAutotune, TakesItsMemoryBeforeTheRunAndGivesItBack) {
  const std::unique_ptr<Device> device = open_gpu(0, {.trials = std::make_shared<Trials>()});
  simulated::Gpu& gpu = simulated::Gpu::the();
  const std::int64_t free = gpu.free_bytes();
  gpu.take_allocations();
  const ConvShape shape{
      .batch = 2, .channels = 8, .filters = 8, .in = {6, 6}, .out = {6, 6}, .kernel = {3, 3}, .pad = {1, 1}};
  const auto prepare = [&] { return prepare_conv(ConvPass::GradWeight, shape, {}, DType::f32, device->info()); };
  const auto kernel = prepare();
  EXPECT_GE(gpu.take_allocations().size(), 3U) << "image, response and weight";
  EXPECT_EQ(gpu.free_bytes(), free);
  EXPECT_EQ(prepare()->workspace_bytes(), kernel->workspace_bytes());
  EXPECT_TRUE(gpu.take_allocations().empty()) << "it is known by then";
}

TEST_F(GpuAutotune, SaysForWhatItHasNoMemory) {
  const Environment small_gpu("SIMULATED_GPU_MEMORY", "20000");
  const Ended ended = run_train(small({"--device", "cuda", "--autotune", path("choices.json")}));
  EXPECT_EQ(ended.code, 6);
  EXPECT_PRED2(says, ended.err, "no memory to try algorithms for a convolution of [16,8,8,3] by 8 filters");
}

}  // namespace
}  // namespace lethe::testing
