// The program on a simulated GPU: what must hold on a real one, at every pace.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "kernels/gemm/coded_gemm.h"
#include "tests/support/environment.h"
#include "tests/train/run_fixture.h"

namespace lethe::testing {
namespace {

class SimulatedTraining : public RunTest {
 protected:
  std::vector<std::string> on_gpu(std::vector<std::string> more) const {
    more.insert(more.end(), {"--device", "cuda", "--epochs", "1", "--deterministic"});
    return small(more);
  }
  /// Parameters and states after a run with an evaluation in between.
  std::string trained(std::vector<std::string> more) const {
    more.insert(more.end(), {"--save", path("run"), "--eval-every", "4"});
    const Ended ended = run_train(on_gpu(more));
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_NE(ended.out.find("as predicted"), std::string::npos) << ended.out;
    EXPECT_EQ(ended.err.find("launch by launch"), std::string::npos) << ended.err;
    const std::string bytes = checkpoint_bytes("run/latest");
    std::filesystem::remove_all(path("run"));
    return bytes;
  }
  static std::string evaluation_in(const std::string& out) {
    const std::size_t at = out.find("eval step");
    return at == std::string::npos ? "" : out.substr(at, out.find('\n', at) - at);
  }
  std::string error_of(int code, const std::vector<std::string>& args) const {
    const Ended ended = run_train(args);
    EXPECT_EQ(ended.code, code) << ended.err;
    return ended.err;
  }
};

TEST_F(SimulatedTraining, GivesTheSameBitsUnderAllSettingsAtEveryPaceRecordedOrNot) {
  const std::string expected = trained({"--memopt", "none"});
  EXPECT_GT(expected.size(), 1000U);
  for (const char* const setting : {"level=0", "level=1", "level=1,release", "level=1,inplace", "level=2", "level=3"})
    EXPECT_EQ(trained({"--memopt", setting}) == expected, true) << setting;
  EXPECT_EQ(trained({"--eager"}) == expected, true) << "launch by launch";
  for (const char* const pace : {"early", "1", "2", "3"}) {
    const Environment set("SIMULATED_GPU_PACE", pace);
    EXPECT_EQ(trained({}) == expected, true) << "pace " << pace;
    EXPECT_EQ(trained({"--memopt", "level=1,release"}) == expected, true) << "with release, pace " << pace;
  }
}

TEST_F(SimulatedTraining, TrainsAsTheCpuDoes) {
  const std::vector<std::string> common = {"--dtype", "f64", "--epochs", "3"};
  std::vector<std::string> cuda = common;
  cuda.insert(cuda.end(), {"--device", "cuda"});
  const std::string expected = evaluation_in(run_train(small(common)).out);
  EXPECT_NE(expected, "");
  EXPECT_EQ(evaluation_in(run_train(small(cuda)).out), expected);
}

TEST_F(SimulatedTraining, RecordsUnlessToldNotToOrRefused) {
  const Environment set("SIMULATED_GPU_TELL", "1");
  const auto graphs_in = [](const std::string& err) { return err.find("simulated GPU: a graph") != std::string::npos; };
  const std::string metrics = path("metrics.csv");
  const auto last_column = [&] {
    const std::string rows = bytes_in(metrics), row = rows.substr(0, rows.find('\n', rows.find('\n') + 1));
    return row.substr(row.rfind(',') + 1);
  };
  EXPECT_TRUE(graphs_in(run_train(on_gpu({"--metrics", metrics})).err));
  EXPECT_EQ(last_column(), "1");
  EXPECT_FALSE(graphs_in(run_train(on_gpu({"--eager"})).err));
  const Environment refuse("SIMULATED_GPU_NO_RECORDING", "1");
  const Ended refused = run_train(on_gpu({"--metrics", metrics}));
  EXPECT_EQ(last_column(), "0");
  EXPECT_EQ(refused.code, 0) << refused.err;
  EXPECT_FALSE(graphs_in(refused.err));
  EXPECT_NE(refused.err.find("steps are run launch by launch"), std::string::npos) << refused.err;
}

TEST_F(SimulatedTraining, LaunchesWhatIsCountedBeforehand) {
  const std::vector<std::string> common = {"--model", path("small.json"), "--batch", "64", "--device", "cuda"};
  std::vector<std::string> bench = {"bench", "--count", "--format", "json"},
                           train = {"--steps", "3", "--eval-every", "0"};
  bench.insert(bench.end(), common.begin(), common.end());
  train.insert(train.end(), common.begin(), common.end());
  const Ended counted = run_train(bench);
  ASSERT_EQ(counted.code, 0) << counted.err;
  const Environment set("SIMULATED_GPU_TELL", "1");
  const Ended trained = run_train(train);
  ASSERT_EQ(trained.code, 0) << trained.err;
  std::int64_t launches = 0;  // in the second step and in the third, which are replayed
  const std::string word = "a graph of ";
  for (std::size_t at = 0; (at = trained.err.find(word, at)) != std::string::npos; at += word.size())
    launches += std::stoll(trained.err.substr(at + word.size()));
  EXPECT_GT(launches, 0) << trained.err;
  EXPECT_EQ(2 * nlohmann::json::parse(counted.out)["launches"].get<std::int64_t>(), launches) << counted.out;
}

TEST_F(SimulatedTraining, TrainsInLowPrecisionWithItsBytesPredicted) {
  for (const char* const dtype : {"bf16", "f16"})
    EXPECT_EQ(trained({"--dtype", dtype}) == trained({"--dtype", dtype, "--memopt", "none"}), true) << dtype;
}

TEST_F(SimulatedTraining, WhatALibraryFailsAtIsMadeUpForInOneLineEach) {
  // In f64, where rounding does not show, also where our own code computes instead.
  const auto run = [&](const std::string& line) {
    const Ended ended = run_train(on_gpu({"--dtype", "f64"}));
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_NE(ended.err.find(line), std::string::npos) << ended.err;
    EXPECT_NE(ended.out.find("as predicted"), std::string::npos) << ended.out;
    return evaluation_in(ended.out);
  };
  const std::string expected = run("");
  EXPECT_EQ(expected.rfind("eval step", 0), 0U);
  const std::pair<const char*, const char*> cases[] = {
      {"heuristics", "cuDNN has no engine for a convolution of [16,8,8,3] by 8 filters"},
      {"every finalize", "cuDNN has no engine for a convolution of [16,8,8,3] by 8 filters"},
      {"no algorithm", "cuBLASLt has no algorithm (CUBLAS_STATUS_NOT_SUPPORTED) for a product of"},
      {"every product", "a slow one of our own takes its place"}};
  for (const auto& [point, line] : cases) {
    SCOPED_TRACE(point);
    const Environment set("SIMULATED_GPU_FAILS", point);
    EXPECT_EQ(run(line), expected);
  }
}

TEST_F(SimulatedTraining, WhereAnotherEngineOrAlgorithmServesTheBitsAreTheSame) {
  const auto run = [&](const std::string& line) {
    const Ended ended = run_train(on_gpu({"--save", path("run")}));
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_NE(ended.err.find(line), std::string::npos) << ended.err;
    EXPECT_NE(ended.out.find("as predicted"), std::string::npos) << ended.out;
    const std::string bytes = checkpoint_bytes("run/latest");
    std::filesystem::remove_all(path("run"));
    return bytes;
  };
  const std::string expected = run("");
  EXPECT_GT(expected.size(), 1000U);
  const std::pair<const char*, const char*> cases[] = {
      {"finalize", "simulated GPU: fails at finalize"},
      {"execute", "failed (CUDNN_STATUS_EXECUTION_FAILED) for a convolution of [16,8,8,3] by 8 filters"},
      {"product", "cuBLASLt: algorithm 1 of 2 failed (CUBLAS_STATUS_EXECUTION_FAILED) for a product of"}};
  for (const auto& [point, line] : cases) {
    SCOPED_TRACE(point);
    const Environment set("SIMULATED_GPU_FAILS", point), tell("SIMULATED_GPU_TELL", "1");
    EXPECT_EQ(run(line) == expected, true);
  }
}

TEST_F(SimulatedTraining, ABiasThatCublasLtDoesNotAddIsAddedAfter) {
  const std::string expected = evaluation_in(run_train(on_gpu({})).out);
  const Environment set("SIMULATED_GPU_FAILS", "no bias"), tell("SIMULATED_GPU_TELL", "1");
  const Ended apart = run_train(on_gpu({}));
  EXPECT_NE(apart.err.find("simulated GPU: fails at no bias"), std::string::npos) << apart.err;
  EXPECT_EQ(apart.err.find("cuBLASLt"), std::string::npos) << apart.err;
  EXPECT_EQ(evaluation_in(apart.out), expected) << "to the digits shown: the sum is rounded before the bias comes";
}

/// Products give gradients of biases and of gelu on the way, and norms sums.
constexpr const char* kResidualPerceptron = R"({
  "version": 1, "name": "small",
  "inputs": {"image": {"shape": [3, 8, 8]}, "label": {"shape": [], "dtype": "i32"}},
  "layers": [{"op": "fc", "out": 32, "name": "a"}, {"op": "gelu", "approximate": "tanh"},
             {"op": "fc", "out": 32, "name": "b"},
             {"op": "add", "in": ["a", "b"], "name": "c"}, {"op": "layer_norm"}, {"op": "fc", "out": 32},
             {"op": "gelu", "approximate": "tanh"}, {"op": "fc", "out": 32, "name": "d"},
             {"op": "add", "in": ["c", "d"]}, {"op": "rms_norm"}, {"op": "fc", "out": 4, "name": "logits"}],
  "loss": [{"op": "cross_entropy", "in": "logits", "target": "label"}],
  "train": {"batch": 16, "epochs": 3, "lr": 0.05, "optimizer": "momentum"}
})";

TEST_F(SimulatedTraining, WhatIsDoneOnTheWayIsTheSameUnderAllSettings) {
  std::ofstream(path("small.json")) << kResidualPerceptron;
  const Ended plan =
      run_train({"plan", "--model", path("small.json"), "--device", "cuda", "--dtype", "bf16", "--print-log"});
  for (const char* const made : {"fuse_products: 66 ops -> 61 ops", "join_sums: 60 ops -> 58 ops"})
    EXPECT_NE(plan.out.find(made), std::string::npos) << plan.out;
  for (const char* const dtype : {"f32", "bf16", "f16"}) {
    SCOPED_TRACE(dtype);
    const std::string expected = trained({"--dtype", dtype, "--memopt", "none"});
    for (const char* const setting : {"level=0", "level=1", "level=2", "level=3"})
      EXPECT_EQ(trained({"--dtype", dtype, "--memopt", setting}) == expected, true) << setting;
    EXPECT_EQ(trained({"--dtype", dtype, "--skip-grads"}) == expected, true) << "with gradients kept";
  }
}

/// Widths of whole groups, biases, a relu and a head; weights that a product decodes forward and for its gradient.
constexpr const char* kFrozenPerceptron = R"({
  "version": 1, "name": "small",
  "inputs": {"image": {"shape": [1, 8, 8]}, "label": {"shape": [], "dtype": "i32"}},
  "layers": [{"op": "fc", "out": 64, "name": "first"}, {"op": "relu"}, {"op": "fc", "out": 64, "name": "second"},
             {"op": "gelu"}, {"op": "fc", "out": 64, "bias": false, "name": "third"}],
  "loss": [{"op": "linear_cross_entropy", "in": "third", "target": "label", "out": 4, "name": "head"}],
  "train": {"batch": 80, "epochs": 3, "lr": 0.002, "optimizer": "momentum"}
})";

TEST_F(SimulatedTraining, ProductsThatDecodeTheirWeightGiveTheSameBitsUnderAllSettings) {
  std::ofstream(path("small.json")) << kFrozenPerceptron;
  const GemmShape forward{.m = 80, .n = 64, .k = 64, .transpose_b = true, .epilogue = {.bias = true}};
  ASSERT_TRUE(is_coded_product(forward, DType::bf16, DeviceKind::Cuda));
  ASSERT_TRUE(is_coded_product({.m = 80, .n = 64, .k = 64}, DType::f16, DeviceKind::Cuda));
  for (const auto& [dtype, frozen] : {std::pair{"bf16", "nf4"}, {"f16", "q8_0"}}) {
    SCOPED_TRACE(message(frozen, " in ", dtype));
    const std::string types = message("second.weight=", frozen, ",third.weight=", frozen, ",head.weight=", frozen);
    const std::vector<std::string> common = {"--dtype", dtype, "--frozen-dtype", types,
                                             "--lora",  "r=2", "--lora-targets", "second,third"};
    const auto with = [&](std::vector<std::string> more) {
      more.insert(more.end(), common.begin(), common.end());
      return trained(more);
    };
    const std::string expected = with({"--memopt", "none"});
    for (const char* const setting : {"level=1", "level=2"})
      EXPECT_EQ(with({"--memopt", setting}) == expected, true) << setting;
  }
}

TEST_F(SimulatedTraining, SumsThatCublasLtDoesNotGiveOnTheWayHaveTheSameBits) {
  const std::string expected = trained({"--dtype", "bf16"});
  const Environment set("SIMULATED_GPU_FAILS", "no gradients"), tell("SIMULATED_GPU_TELL", "1");
  EXPECT_NE(run_train(on_gpu({"--dtype", "bf16"})).err.find("simulated GPU: fails at no gradients"), std::string::npos);
  EXPECT_EQ(trained({"--dtype", "bf16"}) == expected, true) << "both are sums in double of 16 numbers, rounded once";
}

TEST_F(SimulatedTraining, GradientsThatCublasLtDoesNotGiveOnTheWayAreMadeAfter) {
  std::ofstream(path("small.json")) << kResidualPerceptron;
  const auto loss = [&] {
    const Ended ended = run_train(on_gpu({"--dtype", "bf16"}));
    EXPECT_EQ(ended.code, 0) << ended.err;
    const std::string line = evaluation_in(ended.out), word = "loss ";
    const std::size_t at = line.find(word);
    EXPECT_NE(at, std::string::npos) << line;
    return std::pair(at == std::string::npos ? 0 : std::stod(line.substr(at + word.size())), ended.err);
  };
  const Environment tell("SIMULATED_GPU_TELL", "1");
  const double expected = loss().first;
  EXPECT_GT(expected, 0);
  for (const char* const point : {"no gradients", "every product"}) {
    const Environment set("SIMULATED_GPU_FAILS", point);
    const auto [made, said] = loss();
    EXPECT_NE(said.find("simulated GPU: fails at " + std::string(point)), std::string::npos) << said;
    EXPECT_NEAR(made, expected, 0.01 * expected) << point << ": rounded more often, in bf16";
  }
}

TEST_F(SimulatedTraining, EndsInCudnnsWordsWhereEveryEngineFails) {
  const Environment set("SIMULATED_GPU_FAILS", "every execute");
  EXPECT_NE(error_of(6, on_gpu({})).find("cuDNN: run: CUDNN_STATUS_EXECUTION_FAILED"), std::string::npos);
}

TEST_F(SimulatedTraining, IsPlannedForWithoutBeingTrainedOn) {
  const Ended plan = run_train({"plan", "--model", path("small.json"), "--device", "cuda"});
  EXPECT_EQ(plan.code, 0) << plan.err;
  EXPECT_NE(plan.out.find("level=2"), std::string::npos) << plan.out;
}

TEST_F(SimulatedTraining, WhatAGpuLacksIsOneLine) {
  const auto line_with = [&](const char* variable, const char* value, int code, const std::string& expected) {
    const Environment set(variable, value);
    const std::string error = error_of(code, on_gpu({}));
    EXPECT_NE(error.find(expected), std::string::npos) << error;
    if (code == 6) {
      EXPECT_EQ(std::count(error.begin(), error.end(), '\n'), 1) << error;
    }
  };
  line_with("SIMULATED_GPU_DRIVER", "0", 6, "this machine has no NVIDIA driver");
  line_with("SIMULATED_GPU_DRIVER", "12010", 6, "the driver serves CUDA 12.1, this program needs");
  line_with("SIMULATED_GPU_COUNT", "0", 6, "this machine has no GPU");
  line_with("SIMULATED_GPU_MEMORY", "1000000", 3, "bytes");
  EXPECT_NE(error_of(6, small({"--device", "cuda:1"})).find("this machine has 1 GPU, cuda:0"), std::string::npos);
}

}  // namespace
}  // namespace lethe::testing
