// Commands that take weights ask the run beside them for what the command line leaves open.
#include <gtest/gtest.h>

#include "tests/train/data_samples.h"
#include "tests/train/run_fixture.h"
#include "train/session/safetensors.h"
#include "train/session/start.h"
#include "train/session/stored_tensor.h"
#include "train/weights_recipe.h"

namespace lethe::testing {
namespace {

class WeightsOfRun : public RunTest {
 protected:
  /// The last line that an evaluation printed, from its loss on.
  static std::string scores_in(const std::string& out) { return out.substr(out.rfind("loss "), out.rfind('\n')); }
  /// Two epochs in f64, with another seed and batch than the network's; the last evaluation is of what is saved last.
  Ended trained() const {
    return run_train(small({"--save", path("run"), "--epochs", "2", "--seed", "5", "--batch", "20", "--dtype", "f64"}));
  }
};

TEST_F(WeightsOfRun, EvaluationScoresAsTheRunDid) {
  const Ended run = trained();
  ASSERT_EQ(run.code, 0) << run.err;
  const std::string last = run.out.substr(0, run.out.rfind("memory taken"));
  for (const char* weights : {"run/latest", "run/weights.safetensors", "run/step-000016"}) {
    const Ended eval = run_train({"eval", "--weights", path(weights), "--threads", "1"});
    ASSERT_EQ(eval.code, 0) << eval.err;
    EXPECT_EQ(scores_in(eval.out), scores_in(last)) << weights;
  }
  const Ended best = run_train({"eval", "--weights", path("run"), "--threads", "1"});
  ASSERT_EQ(best.code, 0) << best.err;
  const Ended named =
      run_train(small({"eval", "--weights", path("run/best"), "--seed", "5", "--batch", "20", "--dtype", "f64"}));
  EXPECT_EQ(best.out, named.out) << named.err;
}

TEST_F(WeightsOfRun, TheCommandLineComesFirst) {
  ASSERT_EQ(trained().code, 0);
  const auto decided_for = [&](std::vector<std::string> args) {
    args.insert(args.begin(), {"eval", "--weights", path("run")});
    const Options given = parse_options(args);
    return decided_by_run(given, run_of_weights(given.checkpoints.weights.path));
  };
  const Options all = decided_for({});
  EXPECT_EQ(all.program.network.model, path("run/best/network/small.json"));
  EXPECT_EQ(all.data.spec, "shapes:train=160,test=40");
  EXPECT_EQ(all.program.network.dtype, DType::f64);
  EXPECT_EQ(all.program.network.batch, 20);
  EXPECT_EQ(all.program.network.seed, 5U);
  const Options some = decided_for({"--dtype", "f32", "--data", "shapes", "--batch", "3", "--seed", "9"});
  EXPECT_EQ(some.program.network.model, path("run/best/network/small.json"));
  EXPECT_EQ(some.data.spec, "shapes");
  EXPECT_EQ(some.program.network.dtype, DType::f32);
  EXPECT_EQ(some.program.network.batch, 3);
  EXPECT_EQ(some.program.network.seed, 9U);
}

TEST_F(WeightsOfRun, ExportWritesTheBestOfTheRun) {
  ASSERT_EQ(trained().code, 0);
  const Ended ended = run_train({"export", "--weights", path("run"), "--output", path("w")});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(bytes_in(path("w")), bytes_in(path("run/best/weights.safetensors")));
}

TEST_F(WeightsOfRun, ExportRoundsTheRunsNumbersOnceToTheTypeThatIsAskedFor) {
  ASSERT_EQ(trained().code, 0);
  SafetensorsReader doubles(path("run/best/weights.safetensors"));
  for (const DType dtype : {DType::bf16, DType::f16, DType::f32, DType::f64}) {
    const Ended ended =
        run_train({"export", "--weights", path("run"), "--dtype", std::string(name_of(dtype)), "--output", path("w")});
    ASSERT_EQ(ended.code, 0) << ended.err;
    SafetensorsReader reader(path("w"));
    EXPECT_EQ(reader.tensors().size(), doubles.tensors().size());
    for (const TensorEntry& tensor : reader.tensors()) {
      const TensorEntry& whole = *doubles.find(tensor.name);
      EXPECT_EQ(tensor.dtype, dtype) << tensor.name;
      EXPECT_TRUE(reader.read(tensor) == converted(doubles.read(whole), DType::f64, dtype)) << tensor.name;
    }
    const Ended eval = run_train(small({"eval", "--weights", path("w")}));
    EXPECT_EQ(eval.code, 0) << eval.err;
  }
}

TEST_F(WeightsOfRun, ACheckpointInSharesReadsAsAWholeOne) {
  ASSERT_EQ(trained().code, 0);
  const Ended sharded = run_train(small({"--save", path("shares"), "--epochs", "2", "--seed", "5", "--batch", "20",
                                         "--dtype", "f64", "--checkpoint", "sharded"}));
  ASSERT_EQ(sharded.code, 0) << sharded.err;
  EXPECT_FALSE(std::filesystem::exists(path("shares/latest/weights.safetensors")));
  for (const auto& [whole, shares] : {std::pair("run", "shares"),
                                      {"run/latest", "shares/latest"},
                                      {"run/weights.safetensors", "shares/shares.json"}}) {
    const auto of = [&](std::vector<std::string> command, const char* weights) {
      command.insert(command.end(), {"--weights", path(weights)});
      const Ended ended = run_train(command);
      EXPECT_EQ(ended.code, 0) << ended.err;
      return ended.out;
    };
    EXPECT_EQ(of({"eval", "--threads", "1"}, whole), of({"eval", "--threads", "1"}, shares));
    of({"export", "--output", path("whole")}, whole);
    of({"export", "--output", path("from_shares")}, shares);
    EXPECT_TRUE(bytes_in(path("whole")) == bytes_in(path("from_shares"))) << shares;
  }
  const Ended resumed = run_train({"--resume", path("shares"), "--epochs", "3"});
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_TRUE(std::filesystem::exists(path("shares/latest/shares.json"))) << "a resumed run keeps to the form";
}

TEST_F(WeightsOfRun, AFileWithoutARunNeedsAModel) {
  ASSERT_EQ(trained().code, 0);
  std::filesystem::copy_file(home_ / "run/best/weights.safetensors", home_ / "plain.safetensors");
  const auto expect_refused = [&](const std::string& weights, int code, const std::string& part) {
    for (const std::vector<std::string>& command :
         {std::vector<std::string>{"eval"}, {"export", "--output", path("w")}}) {
      std::vector<std::string> args = command;
      args.insert(args.end(), {"--weights", weights});
      const Ended ended = run_train(args);
      EXPECT_EQ(ended.code, code) << ended.err;
      EXPECT_PRED2(says, ended.err, part);
      EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << ended.err;
    }
  };
  expect_refused(path("plain.safetensors"), 2, "--model is missing: no run stands beside " + path("plain.safetensors"));
  expect_refused(path("nowhere"), 4, path("nowhere") + ": no such file or directory");
  expect_refused(home_.string(), 4, "holds no checkpoint");
  std::ofstream(path("run/best/state.json")) << "{\n";
  expect_refused(path("run"), 4, "state.json:2:1: syntax error");
  EXPECT_EQ(run_train(small({"eval", "--weights", path("plain.safetensors"), "--dtype", "f64"})).code, 0);
}

}  // namespace
}  // namespace lethe::testing
