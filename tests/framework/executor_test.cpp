#include "framework/executor.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "framework/error.h"
#include "framework/text.h"
#include "optimizer/optimizer.h"
#include "tests/support/counting_device.h"
#include "tests/support/expect_error.h"
#include "tests/support/loop_networks.h"
#include "tests/support/random_program.h"

namespace lethe::testing {
namespace {

/// A program bound to a device, its inputs and parameters as an interpreter holds them.
struct Bound {
  Bound(const Network& network, Device& device, const Interpreter& values)
      : network(network),
        store(device),
        prepared(device.info()),
        plan(plan_none(network.program, workspaces_of(network.program, prepared))),
        executor(network.program, plan, prepared, store) {
    for (const ParamInfo& info : network.params)
      store.write(network.program.vars[info.var].name, values.memory(info.var).data(), values.memory(info.var).bytes());
    feed(values);
  }
  void feed(const Interpreter& values) {
    for (const VarId input : network.inputs)
      executor.feed(input, values.memory(input).data(), values.memory(input).bytes());
  }
  std::vector<std::byte> fetched(VarId var) const {
    std::vector<std::byte> bytes(static_cast<std::size_t>(bytes_of(network.program.vars[var])));
    executor.fetch(var, bytes.data(), static_cast<std::int64_t>(bytes.size()));
    return bytes;
  }
  const Network& network;
  Store store;
  Prepared prepared;
  Plan plan;
  Executor executor;
};

void expect_same_bits(const Bound& bound, const Interpreter& values, const std::vector<VarId>& vars) {
  for (const VarId v : vars) {
    const Guarded& expected = values.memory(v);
    EXPECT_EQ(std::memcmp(bound.fetched(v).data(), expected.data(), static_cast<std::size_t>(expected.bytes())), 0)
        << "'" << bound.network.program.vars[v].name << "'";
  }
}

void expect_what_the_interpreter_gives(const TrainingProgram& made, int threads, const std::vector<VarId>& vars) {
  CountingDevice device(threads);
  Interpreter values(made.network.program, device.info());
  fill_network(made.network, values);
  Bound bound(made.network, device, values);
  for (int step = 0; step < 3; ++step) {
    bound.executor.run();
    values.run();
    expect_same_bits(bound, values, vars);
  }
}

std::vector<VarId> all_vars(const Program& program) {
  std::vector<VarId> vars(program.vars.size());
  std::iota(vars.begin(), vars.end(), 0);
  return vars;
}

TEST(Executor, GivesTheBitsOfTheInterpreterInEveryStep) {
  for (int seed = 0; seed < random_programs(); ++seed)
    for (const DType dtype : {DType::f64, DType::f32}) {
      if (dtype == DType::f32 && seed % 4 != 0) continue;
      SCOPED_TRACE(::testing::Message() << "seed " << seed << ", " << name_of(dtype));
      const auto random = static_cast<std::uint64_t>(seed);
      const TrainingProgram made =
          with_updates(random_program(random, dtype), optimizer_names()[random % optimizer_names().size()]);
      expect_what_the_interpreter_gives(made, dtype == DType::f64 ? 1 : 2, all_vars(made.network.program));
    }
}

// Vars of blocks that did not run hold nothing to compare.
TEST(Executor, RunsLoopsAndBranchesAsTheInterpreterDoes) {
  for (const LoopNetwork& entry : loop_networks()) {
    SCOPED_TRACE(entry.name);
    const TrainingProgram made = with_updates(with_backward(entry.build(DType::f64)), "momentum");
    std::vector<VarId> vars = {made.network.loss};
    for (const ParamInfo& info : made.network.params) vars.push_back(info.var);
    expect_what_the_interpreter_gives(made, 1, vars);
  }
}

TEST(Executor, TakesFromTheDeviceToTheByteWhatThePlanSays) {
  for (int seed = 0; seed < random_programs(); ++seed) {
    CountingDevice device;
    const TrainingProgram made = with_updates(random_program(static_cast<std::uint64_t>(seed)), "adam");
    Interpreter values(made.network.program);
    fill_network(made.network, values);
    {
      Bound bound(made.network, device, values);
      EXPECT_EQ(device.live_bytes(), bound.plan.bytes.total()) << "seed " << seed;
      const int allocations = device.allocations();
      for (int step = 0; step < 3; ++step) {
        bound.feed(values);
        bound.executor.run();
      }
      EXPECT_EQ(device.allocations(), allocations) << "a step takes nothing";
      EXPECT_EQ(device.peak_bytes(), bound.plan.bytes.total());
      EXPECT_EQ(bound.store.bytes(Kind::Param), bound.plan.bytes.params);
      EXPECT_EQ(bound.store.bytes(Kind::State), bound.plan.bytes.states);
    }
    EXPECT_EQ(device.live_bytes(), 0) << "seed " << seed;
  }
}

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

TEST(Executor, PlaysARecordingFromTheSecondStepOn) {
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

TEST(Executor, RecordsWhatLiesBetweenLoopsAndBranchesOnce) {
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

TEST(Executor, RecordsNothingWhereMemoryComesAndGoesWithinAStep) {
  CountingDevice memory;
  RecordingDevice device(memory);
  const Program program = parse_program(
      "input x f64[2]\ntemp y f64[2]\ntemp z f64[2]\nblock 0 {\ny = relu(x)\nz = relu(y)\ndelete_var(y)\n}\n");
  Prepared prepared(device.info());
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

TEST(Executor, ShowsAnObserverEveryOpInsteadOfPlayingTheRecording) {
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

TEST(Executor, TwoProgramsShareTheParamsOfOneStore) {
  const std::string text = "input x f64[2]\nparam w f64[2]\ntemp y f64[2]\nblock 0 {\ny = OP(x, w)\n}\n";
  const auto program_with = [&](const char* op) {
    std::string with = text;
    return parse_program(with.replace(with.find("OP"), 2, op));
  };
  const Program sum = program_with("add"), product = program_with("mul");
  CountingDevice device;
  Store store(device);
  Prepared prepared(device.info());
  const Plan sum_plan = plan_none(sum, workspaces_of(sum, prepared)),
             product_plan = plan_none(product, workspaces_of(product, prepared));
  Executor first(sum, sum_plan, prepared, store);
  const std::int64_t before = device.live_bytes();
  Executor second(product, product_plan, prepared, store);
  EXPECT_EQ(device.live_bytes() - before, product_plan.bytes.inputs + product_plan.bytes.temps) << "no second w";
  const double w[] = {3, 4}, x[] = {5, 6};
  store.write("w", w, sizeof w);
  double y[2];
  first.feed(0, x, sizeof x);
  first.run();
  first.fetch(2, y, sizeof y);
  EXPECT_EQ(y[1], 10);
  second.feed(0, x, sizeof x);
  second.run();
  second.fetch(2, y, sizeof y);
  EXPECT_EQ(y[1], 24);
}

TEST(Executor, ObserverSeesEveryOpWithItsOutputs) {
  CountingDevice device;
  Program program =
      parse_program("input x f64[]\ntemp y f64[]\ntemp z f64[]\nblock 0 {\ny = relu(x)\nz = relu(y)\n}\n");
  Store store(device);
  Prepared prepared(device.info());
  const Plan plan = plan_none(program, workspaces_of(program, prepared));
  Executor executor(program, plan, prepared, store);
  struct Watch final : Observer {
    void before(const Op& op, const KernelArgs&) override { seen.push_back("before " + op.type); }
    void after(const Op& op, const KernelArgs& args) override {
      seen.push_back(op.type + message(" gave ", *static_cast<const double*>(args.outputs[0])));
    }
    std::vector<std::string> seen;
  } watch;
  executor.observe(&watch);
  const double x = 2.5;
  executor.feed(0, &x, sizeof x);
  executor.run();
  EXPECT_EQ(watch.seen, (std::vector<std::string>{"before relu", "relu gave 2.5", "before relu", "relu gave 2.5"}));
  EXPECT_EQ(executor.fetch_scalar(2), 2.5);
}

TEST(Executor, RefusesWrongSizesAndFeedsOfWhatIsNoInput) {
  CountingDevice device;
  Program program = parse_program("input x f64[2]\ntemp y f64[2]\nblock 0 {\ny = relu(x)\n}\n");
  Store store(device);
  Prepared prepared(device.info());
  const Plan plan = plan_none(program, workspaces_of(program, prepared));
  Executor executor(program, plan, prepared, store);
  double values[2] = {};
  EXPECT_TRUE(fails_with("input 'x' has 16 bytes, given 8", [&] { executor.feed(0, values, 8); }));
  EXPECT_TRUE(fails_with("'y' is no input", [&] { executor.feed(1, values, 16); }));
  EXPECT_TRUE(fails_with("'y' has 16 bytes, asked for 8", [&] { executor.fetch(1, values, 8); }));
  EXPECT_TRUE(fails_with("'y' has 16 bytes, asked for 8", [&] { executor.fetch_scalar(1); }));
}

TEST(Store, RefusesAParamOfAnotherShape) {
  CountingDevice device;
  Store store(device);
  store.add(parse_program("param w f64[2]\nblock 0 {\n}\n"));
  EXPECT_TRUE(fails_with("'w' is f64[3], but the store holds f64[2]",
                         [&] { store.add(parse_program("param w f64[3]\nblock 0 {\n}\n")); }));
  EXPECT_TRUE(fails_with("no parameter or state named 'v'", [&] { store.read("v"); }));
  EXPECT_TRUE(fails_with("'w' has 16 bytes, given 8", [&] { store.write("w", nullptr, 8); }));
}

TEST(Store, HoldsZerosUntilSomethingIsWritten) {
  CountingDevice device;
  Store store(device);
  store.add(parse_program("state s f64[4]\nblock 0 {\n}\n"));
  EXPECT_EQ(store.read("s"), std::vector<std::byte>(32)) << "though the device gives poisoned memory";
}

TEST(CountingDevice, PoisonsWhatItGives) {
  CountingDevice device;
  const Buffer buffer(device, 24);
  std::vector<std::byte> bytes(24);
  device.copy_out(bytes.data(), buffer.data(), 24);
  EXPECT_EQ(bytes, std::vector<std::byte>(24, std::byte{0xFF}));
  EXPECT_EQ(device.live_bytes(), 24);
}

}  // namespace
}  // namespace lethe::testing
