// Devices that record: what lies between loops and branches becomes one call.
#include <gtest/gtest.h>

#include "framework/language/op_facts.h"
#include "framework/language/text.h"
#include "framework/run/forwarding_device.h"
#include "optimizer/optimizer.h"
#include "tests/support/bound.h"
#include "tests/support/loop_networks.h"
#include "tests/support/random_program.h"

namespace lethe::testing {
namespace {

/// Records as a GPU does: what it is handed is only done when the recording is played.
class RecordingDevice final : public ForwardingDevice {
 public:
  using ForwardingDevice::ForwardingDevice;
  bool records() const override { return true; }
  std::function<void()> record(const std::function<void()>& work) override {
    ++recordings;
    return [this, work] {
      ++played;
      work();
    };
  }
  int recordings = 0, played = 0;
};

TEST(Recording, PlaysARecordingFromTheSecondStepOn) {
  for (int seed = 0; seed < 5; ++seed) {
    CountingDevice memory;
    RecordingDevice device(memory);
    const TrainingProgram made = with_updates(random_program(static_cast<std::uint64_t>(seed)), "adam");
    Interpreter values(made.network.program, device.info());
    fill_network(made.network, values);
    Bound bound(made.network, device, values);
    for (int step = 0; step < 4; ++step) {
      for (const VarId input : made.network.inputs)
        if (is_float(made.network.program.vars[input].dtype))
          values.fill_uniform(input, -1, 1, static_cast<std::uint64_t>(100 + step));
      bound.feed(values);  // new values in the same place
      bound.executor.run();
      values.run();
      expect_same_bits(bound, values, all_vars(made.network.program));
      EXPECT_EQ(device.recordings, step == 0 ? 0 : 1);
      EXPECT_EQ(device.played, step);
    }
  }
}

/// The pieces of all blocks: what lies between loops and branches.
int pieces_of(const Program& program) {
  int pieces = 0;
  for (const Block& block : program.blocks) {
    bool within = false;
    for (const Op& op : block.ops) {
      if (runs_nothing(op) && op.blocks.empty()) continue;
      if (op.blocks.empty() && !within) ++pieces;
      within = op.blocks.empty();
    }
  }
  return pieces;
}

TEST(Recording, RecordsWhatLiesBetweenLoopsAndBranchesOnce) {
  for (const LoopNetwork& entry : loop_networks()) {
    SCOPED_TRACE(entry.name);
    const TrainingProgram made = with_updates(with_backward(entry.build(DType::f64)), "sgd");
    CountingDevice memory;
    RecordingDevice device(memory);
    Interpreter values(made.network.program, device.info());
    fill_network(made.network, values);
    Bound bound(made.network, device, values);
    for (int step = 0; step < 4; ++step) {
      bound.executor.run();
      values.run();
      expect_same_bits(bound, values, {made.network.loss});
    }
    EXPECT_GT(device.recordings, 1);
    EXPECT_LE(device.recordings, pieces_of(made.network.program)) << "a body is recorded once, whatever its trips";
    EXPECT_GT(device.played, device.recordings);
  }
}

TEST(Recording, RecordsNothingWhereMemoryComesAndGoesWithinAStep) {
  CountingDevice memory;
  RecordingDevice device(memory);
  const Program program = parse_program(
      "input x f64[2]\ntemp y f64[2]\ntemp z f64[2]\nblock 0 {\ny = relu(x)\nz = relu(y)\ndelete_var(y)\n}\n");
  Prepared prepared(device);
  Plan plan = plan_none(program, workspaces_of(program, prepared));
  plan.buffers[static_cast<std::size_t>(plan.vars[1].buffer)].on_demand = true;
  Store store(device);
  Executor executor(program, plan, prepared, store);
  const double x[2] = {-1, 2};
  double z[2] = {};
  executor.feed(0, x, sizeof x);
  for (int step = 0; step < 3; ++step) executor.run();
  executor.fetch(2, z, sizeof z);
  EXPECT_EQ(z[1], 2);
  EXPECT_EQ(device.recordings, 0);
}

TEST(Recording, ShowsAnObserverEveryOpInsteadOfPlayingTheRecording) {
  struct Counter final : Observer {
    void before(const Op&, const KernelArgs&) override { ++ops; }
    int ops = 0;
  } counter;
  CountingDevice memory;
  RecordingDevice device(memory);
  const TrainingProgram made = with_updates(random_program(1), "adam");
  Interpreter values(made.network.program, device.info());
  fill_network(made.network, values);
  Bound bound(made.network, device, values);
  for (int step = 0; step < 3; ++step) bound.executor.run();
  bound.executor.observe(&counter);
  bound.executor.run();
  EXPECT_EQ(device.played, 2);
  EXPECT_GT(counter.ops, 0);
}

}  // namespace
}  // namespace lethe::testing
