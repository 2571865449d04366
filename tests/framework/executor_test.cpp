#include "framework/run/executor.h"

#include <gtest/gtest.h>

#include <cstring>

#include "framework/error.h"
#include "framework/language/text.h"
#include "framework/run/forwarding_device.h"
#include "optimizer/optimizer.h"
#include "tests/support/bound.h"
#include "tests/support/expect_error.h"
#include "tests/support/loop_networks.h"
#include "tests/support/random_program.h"
#include "tests/support/random_training.h"

namespace lethe::testing {
namespace {

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

TEST(Executor, GivesTheBitsOfTheInterpreterInEveryStep) {
  for (const int seed : random_seeds())
    for (const DType dtype : {DType::f64, DType::f32}) {
      if (dtype == DType::f32 && seed % 4 != 0) continue;
      SCOPED_TRACE(::testing::Message() << "seed " << seed << ", " << name_of(dtype));
      const auto random = static_cast<std::uint64_t>(seed);
      const TrainingProgram made = with_updates(random_program(random, dtype), random_rule(random));
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
  for (const int seed : random_seeds()) {
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

TEST(Executor, TwoProgramsShareTheParamsOfOneStore) {
  const std::string text = "input x f64[2]\nparam w f64[2]\ntemp y f64[2]\nblock 0 {\ny = OP(x, w)\n}\n";
  const auto program_with = [&](const char* op) {
    std::string with = text;
    return parse_program(with.replace(with.find("OP"), 2, op));
  };
  const Program sum = program_with("add"), product = program_with("mul");
  CountingDevice device;
  Store store(device);
  Prepared prepared(device);
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
  Prepared prepared(device);
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

/// Notes what it is asked for beside the steps.
class CopyingDevice final : public ForwardingDevice {
 public:
  using ForwardingDevice::ForwardingDevice;
  void mark() override { asked.emplace_back("mark"); }
  void copy_in(void* to, const void* from, std::int64_t bytes) override {
    asked.emplace_back("copy in");
    ForwardingDevice::copy_in(to, from, bytes);
  }
  void copy_in_aside(void* to, const void* from, std::int64_t bytes) override {
    asked.emplace_back("aside");
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
  }
  void finish_aside() override { asked.emplace_back("finish"); }
  void copy(void* to, const void* from, std::int64_t bytes) override {
    asked.emplace_back("take");
    ForwardingDevice::copy(to, from, bytes);
  }
  void copy_out(void* to, const void* from, std::int64_t bytes) override {
    asked.emplace_back("copy out");
    ForwardingDevice::copy_out(to, from, bytes);
  }
  void synchronize() override { asked.emplace_back("wait"); }
  std::vector<std::string> asked;
};

/// Feeds 2.5, runs a step, feeds -1 for the next, and runs that: what the device was asked for. `staged`: with room for
/// the input in the second half of a buffer of twice its size, idle from the second op on.
std::vector<std::string> fed_next(bool staged) {
  CountingDevice memory;
  CopyingDevice device(memory);
  const Program program =
      parse_program("input x f64[]\ntemp y f64[]\ntemp z f64[]\nblock 0 {\ny = exp(x)\nz = relu(x)\n}\n");
  Prepared prepared(device);
  Plan plan = plan_none(program, workspaces_of(program, prepared));
  plan.buffers[0].bytes = 128;
  if (staged) plan.staging = {.inputs = {{.buffer = 0, .offset = 64}, {}, {}}, .op = 1};
  Store store(device);
  Executor executor(program, plan, prepared, store);
  const double first = 2.5, second = -1;
  executor.feed_next(0, &first, sizeof first);
  executor.run();
  executor.feed_next(0, &second, sizeof second);
  EXPECT_EQ(executor.fetch_scalar(0), 2.5) << "the step that ran";
  executor.run();
  EXPECT_EQ(executor.fetch_scalar(0), -1);
  EXPECT_EQ(executor.fetch_scalar(2), 0);
  executor.run();
  EXPECT_EQ(executor.fetch_scalar(0), -1) << "nothing new was fed";
  return device.asked;
}

TEST(Executor, CopiesInputsOfTheNextStepBesideThisOneWhereThePlanHasRoom) {
  EXPECT_EQ(fed_next(true), (std::vector<std::string>{"aside", "finish", "take", "mark", "aside", "copy out", "finish",
                                                      "take", "mark", "copy out", "copy out", "mark", "copy out"}));
}

TEST(Executor, WaitsAtItsEndForACopyThatNoStepTook) {
  CountingDevice memory;
  CopyingDevice device(memory);
  const Program program = parse_program("input x f64[]\ntemp y f64[]\nblock 0 {\ny = exp(x)\n}\n");
  Prepared prepared(device);
  Store store(device);
  const double x = 1;
  {
    Executor executor(program, plan_none(program, workspaces_of(program, prepared)), prepared, store);
    executor.feed_next(0, &x, sizeof x);
    EXPECT_TRUE(device.asked.empty());
  }
  EXPECT_EQ(device.asked, std::vector<std::string>{"finish"});
}

TEST(Executor, CopiesThemBeforeTheNextStepWhereItHasNone) {
  EXPECT_EQ(fed_next(false), (std::vector<std::string>{"finish", "copy in", "wait", "copy out", "finish", "copy in",
                                                       "wait", "copy out", "copy out", "copy out"}));
}

TEST(Executor, RefusesWrongSizesAndFeedsOfWhatIsNoInput) {
  CountingDevice device;
  Program program = parse_program("input x f64[2]\ntemp y f64[2]\nblock 0 {\ny = relu(x)\n}\n");
  Store store(device);
  Prepared prepared(device);
  const Plan plan = plan_none(program, workspaces_of(program, prepared));
  Executor executor(program, plan, prepared, store);
  double values[2] = {};
  EXPECT_TRUE(fails_with("input 'x' has 16 bytes, given 8", [&] { executor.feed(0, values, 8); }));
  EXPECT_TRUE(fails_with("'y' is no input", [&] { executor.feed(1, values, 16); }));
  EXPECT_TRUE(fails_with("input 'x' has 16 bytes, given 8", [&] { executor.feed_next(0, values, 8); }));
  EXPECT_TRUE(fails_with("'y' has 16 bytes, asked for 8", [&] { executor.fetch(1, values, 8); }));
  EXPECT_TRUE(fails_with("'y' is f64[2], expected a float scalar", [&] { executor.fetch_scalar(1); }));
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
