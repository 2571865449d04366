// Several simulated GPUs, each of a rank of its own: ranks are threads here.
#include <gtest/gtest.h>

#include "framework/builder/builder.h"
#include "kernels/cuda/device.h"
#include "kernels/ranks/gpu_peers.h"
#include "tests/simulated/gpu.h"
#include "tests/support/environment.h"
#include "tests/support/expect_error.h"
#include "tests/train/emulated_ranks.h"
#include "tests/train/run_fixture.h"
#include "train/session/checkpoint.h"
#include "train/session/session.h"

namespace lethe::testing {
namespace {

using std::chrono::seconds;

/// Batch norm, a parameter that ZeRO shares out (of a size that 4 does not divide) and some that it leaves whole.
Network small_network(const BuildOptions& options) {
  Builder net(options);
  const VarId image = net.input("image", {8, 8, 3}), label = net.input("label", {}, DType::i32);
  const VarId x = net.layer("relu", net.layer("bn", net.layer("conv", image, {{"out", 3}, {"k", 3}})));
  const VarId y = net.layer("dropout", net.layer("fc", x, {{"out", 7}}), {{"p", 0.2}});
  net.loss("cross_entropy", net.layer("fc", y, {{"out", 4}}), label);
  return net.finish();
}

SessionSetting setting_of(int zero, const char* memory = "level=2") {
  SessionSetting setting{.device = {.name = "cuda:0", .threads = 1, .deterministic = true}};
  setting.program.network = {.build = small_network, .batch = 4, .seed = 3};
  setting.program.memory = memory_setting(memory);
  setting.program.evaluated = false;
  setting.program.shards.parts = 4;
  setting.program.shards.zero = zero;
  setting.program.shards.bucket = 1024;
  setting.program.update.rule = optimizer_named("adamw");
  setting.data.spec = "shapes:train=32,test=8";
  return setting;
}

class GpuRanks : public RunTest {
 protected:
  void TearDown() override {
    set_pace(simulated::Pace::Late);
    RunTest::TearDown();
  }
  static void set_pace(simulated::Pace pace, unsigned seed = 0) {
    for (unsigned gpu = 0; gpu < 4; ++gpu) simulated::Gpu::at(static_cast<int>(gpu)).set_pace(pace, seed + gpu);
  }

  /// Trains three steps, of which the last is replayed, and gives the bytes of what is saved then, by rank 0.
  std::string saved_by(SessionSetting setting, std::shared_ptr<Peers> peers, bool replays) const {
    const bool leads = !peers || peers->rank().number == 0, is_low = setting.program.network.dtype == DType::bf16;
    if (leads) std::filesystem::remove_all(path("run"));
    if (peers) setting.device.name = message("cuda:", peers->rank().number);
    setting.peers = std::move(peers);
    Session session(std::move(setting));
    const Program& program = session.plan().training.program;
    for (const Op& op : program.blocks[0].ops)
      EXPECT_FALSE(is_low && op.type == "bias_grad" && program.vars[op.in[0]].shape.size() == 2) << "by no product";
    Checkpoints checkpoints = leads ? Checkpoints(path("run"), 1) : Checkpoints();
    Listener silent;
    session.train({.lr = 0.01, .steps = 3}, silent, &checkpoints);
    EXPECT_EQ(session.device().peak(), session.plan().bytes.total());
    EXPECT_EQ(session.executor().replays().value_or(false), replays);
    return leads ? checkpoint_bytes("run") : "";
  }
  std::string saved_by(const SessionSetting& setting, std::int64_t ranks, bool replays = true) const {
    std::string saved;
    EmulatedWorld(ranks).run([&](const std::shared_ptr<Peers>& peers) {
      const std::string own = saved_by(setting, peers, replays);
      if (peers->rank().number == 0) saved = own;
    });
    return saved;
  }

  const Environment gpus_{"SIMULATED_GPU_COUNT", "4"};
};

TEST_F(GpuRanks, TrainToTheSameBitsInAllStages) {
  const std::string one = saved_by(setting_of(0), nullptr, true);
  EXPECT_GT(one.size(), 1000U);
  for (const int zero : {0, 1, 2, 3})
    EXPECT_EQ(saved_by(setting_of(zero), zero % 2 == 0 ? 2 : 4) == one, true) << "stage " << zero;
}

/// Where products give gradients of biases on the way, and parts and ranks read those of weights right after.
TEST_F(GpuRanks, TrainToTheSameBitsIn16Bits) {
  SessionSetting setting = setting_of(0);
  setting.program.network.dtype = DType::bf16;
  const std::string one = saved_by(setting, nullptr, true);
  for (const int zero : {0, 2})
    for (const std::int64_t bucket : {std::int64_t{1}, std::int64_t{1} << 20}) {
      setting.program.shards.zero = zero;
      setting.program.shards.bucket = bucket;
      EXPECT_EQ(saved_by(setting, zero == 0 ? 2 : 4) == one, true) << "stage " << zero << ", buckets of " << bucket;
    }
}

TEST_F(GpuRanks, DoSoAtEveryPaceWithOtherMemoryRecordedOrNot) {
  const std::string one = saved_by(setting_of(0), nullptr, true);
  set_pace(simulated::Pace::Early);
  EXPECT_EQ(saved_by(setting_of(3), 2) == one, true);
  set_pace(simulated::Pace::Random, 1);
  EXPECT_EQ(saved_by(setting_of(1, "level=3"), 2) == one, true);
  EXPECT_EQ(saved_by(setting_of(2, "level=1,release"), 2, false) == one, true);
}

/// What comes of a sum that rank 1 takes no part in.
std::string left_alone(const std::function<void(Peers& hosts)>& rank_1) {
  return lethe::testing::error_of([&] {
    EmulatedWorld(2, seconds(4)).run([&](const std::shared_ptr<Peers>& hosts) {
      const int number = static_cast<int>(hosts->rank().number);
      const std::unique_ptr<Device> gpu = open_gpu(number, {});
      const std::unique_ptr<Peers> peers = connect_gpus(gpu->info(), hosts, seconds(1), 2);
      if (number == 1) return rank_1(*hosts);
      const Buffer values(*gpu, 400), room(*gpu, 200);
      gpu->compute([&] {
        peers->start_sum(values.data(), room.data(), DType::f32, 100);
        peers->finish(values.data());
      });
      peers->wait_for_device();
    });
  });
}

TEST_F(GpuRanks, NameTheOneThatDoesNotComeOrSayThatItAnswers) {
  EXPECT_EQ(left_alone([](Peers&) { std::this_thread::sleep_for(seconds(6)); }), "rank 1 sends nothing to rank 0");
  EXPECT_EQ(left_alone([](Peers& hosts) {
              std::vector<std::byte> answers(2);
              for (int asked = 0; asked < 2; ++asked) hosts.gather(answers.data(), 1);
            }),
            "the GPU has been kept waiting, or a step has taken, longer than 2 seconds (2 times `timeout`), while all "
            "ranks answer");
}

TEST_F(GpuRanks, WantAGpuEach) {
  const std::string error = lethe::testing::error_of([] {
    EmulatedWorld(2).run([](const std::shared_ptr<Peers>& hosts) {
      const std::unique_ptr<Device> gpu = open_gpu(2, {});
      connect_gpus(gpu->info(), hosts, seconds(1));
    });
  });
  EXPECT_NE(error.find("ranks 0 and 1 would share the GPU 0000:02:00.0 of "), std::string::npos) << error;
}

}  // namespace
}  // namespace lethe::testing
