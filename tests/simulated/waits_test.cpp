// How often the host waits for a simulated GPU.
#include "tests/support/environment.h"
#include "tests/train/run_fixture.h"

namespace lethe::testing {
namespace {

class Waits : public RunTest {
 protected:
  /// In a whole run.
  std::int64_t of(std::vector<std::string> args) const {
    const Environment tell("SIMULATED_GPU_TELL", "1");
    args.insert(args.end(), {"--model", path("small.json"), "--device", "cuda"});
    const Ended ended = run_train(args);
    EXPECT_EQ(ended.code, 0) << ended.err;
    std::int64_t count = 0;
    for (std::size_t at = 0; (at = ended.err.find("simulated GPU: a wait", at)) != std::string::npos; ++at) ++count;
    return count;
  }
  /// Of one step of an epoch, by what three more of them take.
  double of_a_step(const std::string& dtype) const {
    const auto of_run = [&](const char* steps) {
      return of({"--data", "shapes:train=160,test=40", "--steps", steps, "--eval-every", "0", "--dtype", dtype});
    };
    return static_cast<double>(of_run("8") - of_run("5")) / 3;
  }
};

TEST_F(Waits, AStepWaitsForItsResultsOnceAndForItsInputsOnce) {
  EXPECT_EQ(of_a_step("f32"), 2);
  EXPECT_EQ(of_a_step("f16"), 2) << "the loss scale comes with the results";
}

TEST_F(Waits, SoDoesABatchOfAnEvaluation) {
  of({"--data", "shapes:train=16,test=16", "--steps", "1", "--save", path("run")});
  const auto of_run = [&](const char* data) { return of({"eval", "--data", data, "--weights", path("run")}); };
  const std::int64_t more = of_run("shapes:train=16,test=96") - of_run("shapes:train=16,test=48");
  EXPECT_EQ(more, 3 * 2) << "of three batches more";
}

}  // namespace
}  // namespace lethe::testing
