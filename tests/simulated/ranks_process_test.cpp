// Several processes under mpirun, each with a simulated GPU.
#include <unistd.h>

#include "tests/support/environment.h"
#include "tests/train/run_fixture.h"

namespace lethe::testing {
namespace {

class GpuRanksOfMpi : public RunTest {
 protected:
  void SetUp() override {
    if (std::system("command -v mpirun >/dev/null") != 0) GTEST_SKIP() << "mpirun is not there";
    RunTest::SetUp();
  }
  /// The small network in 4 shards on two ranks.
  Ended on_two(std::vector<std::string> more) const {
    std::vector<std::string> args = on_gpu(std::move(more));
    args.insert(args.begin(), {"mpirun", "-n", "2", LETHE_TRAIN_BINARY});
    const auto become_mpirun = [&args] {
      for (const char* const name : {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"}) setenv(name, "1", 1);
      setenv("OMPI_MCA_btl", "self,vader", 1);
      setenv("OMPI_MCA_rmaps_base_oversubscribe", "1", 1);
      setenv("OMPI_MCA_hwloc_base_binding_policy", "none", 1);
      std::vector<char*> list;
      for (std::string& arg : args) list.push_back(arg.data());
      list.push_back(nullptr);
      execvp("mpirun", list.data());
    };
    return run_train({}, {.before = become_mpirun});
  }
  std::vector<std::string> on_gpu(std::vector<std::string> more) const {
    more.insert(more.end(),
                {"--device", "cuda", "--deterministic", "--shards", "4", "--steps", "3", "--eval-every", "0"});
    return small(std::move(more));
  }
  /// Its line, and no other of ours.
  static void expect_refused(const Ended& ended, const std::string& words) {
    EXPECT_EQ(ended.code, 6) << ended.err;
    EXPECT_NE(ended.err.find(words), std::string::npos) << ended.err;
    const std::size_t first = ended.err.find("train: error");
    EXPECT_EQ(ended.err.find("train: error", first + 1), std::string::npos) << ended.err;
  }

  const Environment two_{"SIMULATED_GPU_COUNT", "2"};
};

TEST_F(GpuRanksOfMpi, TrainToTheBitsOfOne) {
  const Ended one = run_train(on_gpu({"--save", path("one")}));
  ASSERT_EQ(one.code, 0) << one.err;
  const Ended two = on_two({"--save", path("two"), "--zero", "1"});
  ASSERT_EQ(two.code, 0) << two.err;
  EXPECT_EQ(checkpoint_bytes("two/latest") == checkpoint_bytes("one/latest"), true);
  EXPECT_NE(two.out.find("as predicted"), std::string::npos) << two.out;
  EXPECT_EQ(two.err.find("launch by launch"), std::string::npos) << two.err;
}

TEST_F(GpuRanksOfMpi, OfOneGpuAreRefused) {
  const Environment bus("SIMULATED_GPU_ONE_BUS", "1");
  expect_refused(on_two({}), "ranks 0 and 1 would share the GPU 0000:00:00.0 of ");
}

struct NcclFailure {
  const char *point, *words;
};
class GpuRanksWithout : public GpuRanksOfMpi, public ::testing::WithParamInterface<NcclFailure> {};

TEST_P(GpuRanksWithout, NcclEndInOneLine) {
  const Environment fails("SIMULATED_GPU_FAILS", GetParam().point);
  expect_refused(on_two({}), GetParam().words);
}

INSTANTIATE_TEST_SUITE_P(
    Points, GpuRanksWithout,
    ::testing::Values(NcclFailure{"nccl", "NCCL, by which GPUs of several ranks exchange bytes, cannot be loaded: "},
                      NcclFailure{"nccl version", "NCCL is 2.15.0, needed is 2.16.0 or later"},
                      NcclFailure{"nccl join", "NCCL: joining the GPUs of all ranks: unhandled system error: the "},
                      NcclFailure{"nccl send", "NCCL: sending: unhandled system error: the simulated GPU fails"},
                      NcclFailure{"nccl later", "NCCL: what was sent: remote process exited: the simulated GPU"}));

}  // namespace
}  // namespace lethe::testing
