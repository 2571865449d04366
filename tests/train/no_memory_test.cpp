// A machine without enough memory: one line that says for what.
#include "tests/train/run_fixture.h"

namespace lethe::testing {
namespace {

#if !defined(__SANITIZE_ADDRESS__)  // which takes terabytes of addresses for itself
class NoMemory : public RunTest {
 protected:
  /// The message of a run that may have a gibibyte.
  std::string error_of(std::vector<std::string> args) const {
    args.insert(args.end(), {"--threads", "1", "--quiet"});
    const Ended ended = run_train(args, {.memory = std::int64_t{1} << 30});
    EXPECT_EQ(ended.code, 6) << ended.err;
    return ended.err;
  }
  /// Writes a network with weights of 192 * 2097152 floats.
  std::string wide_network() const {
    std::ofstream(path("wide.json")) << R"({
      "version": 1, "inputs": {"image": {"shape": [3, 8, 8]}, "label": {"shape": [], "dtype": "i32"}},
      "layers": [{"op": "fc", "out": 2097152, "name": "wide"}, {"op": "fc", "out": 4, "name": "logits"}],
      "loss": [{"op": "cross_entropy", "in": "logits", "target": "label"}],
      "train": {"batch": 16, "epochs": 1, "lr": 0.05, "optimizer": "sgd", "augment": "none"}})";
    return path("wide.json");
  }
};

TEST_F(NoMemory, OfTheDeviceIsSaidWithWhatItIsForAndHowMuch) {
  const std::vector<std::string> wide = {"--model", wide_network(), "--data", "shapes:train=160,test=40"};
  std::vector<std::string> apart = wide, arena = wide;
  apart.insert(apart.end(), {"--memopt", "none"});
  EXPECT_EQ(error_of(apart), "train: error: 'wide.weight': cpu: the machine has no memory for 1610612736 bytes\n");
  arena.insert(arena.end(), {"--memopt", "level=2", "--skip-grads"});  // else no gradient stands in the arena
  EXPECT_EQ(error_of(arena).rfind("train: error: the arena: cpu: the machine has no memory for ", 0), 0U)
      << error_of(arena);
}

TEST_F(NoMemory, OfTheHostIsSaidWithWhatItIsForAndHowMuch) {
  EXPECT_EQ(error_of({"--model", path("small.json"), "--data", "synthetic:2147483647"}),
            "train: error: synthetic: the order of 2147483647 samples: the machine has no memory for 8589934588 "
            "bytes\n");
}
#endif

}  // namespace
}  // namespace lethe::testing
