// What a while and an if must be, and what the executor makes of them.
#include "framework/language/control_flow.h"

#include <gtest/gtest.h>

#include "framework/language/text.h"
#include "framework/language/verify.h"
#include "framework/run/executor.h"
#include "tests/support/counting_device.h"
#include "tests/support/expect_error.h"
#include "tests/support/loop_networks.h"

namespace lethe::testing {
namespace {

constexpr const char* kVars =
    "input x f32[2]\ninput long f32[3]\ntemp zero i64[]\ntemp trip i64[]\ntemp h f32[2]\ntemp test u8[] block 1\n"
    "temp more i64[] block 2\ntemp y f32[2] block 2\ntemp outer f32[2]\n";

/// The verdict on a loop: its line, the ops of its condition and of its body.
std::string verdict_of_loop(const std::string& loop, const std::string& condition, const std::string& body,
                            const std::string& more_vars = "") {
  const std::string text = message(
      kVars, more_vars, "block 0 {\nzero = fill_constant() {dtype=\"i64\", shape=[], value=0}\n", loop,
      "}\nblock 1 parent 0 results (test) {\n", condition, "}\nblock 2 parent 0 results (more, y) {\n", body, "}\n");
  return error_of([&] { verify(parse_program(text)); });
}
const std::string kLoop = "trip, h = while(zero, x) {max_trips=3} block 1 block 2\n";
const std::string kCondition = "test = less(trip) {value=2}\n";
const std::string kCount = "more = offset(trip) {by=1}\n";
const std::string kBody = kCount + "y = relu(h)\n";

TEST(While, IsRightAsItIsDescribed) { EXPECT_EQ(verdict_of_loop(kLoop, kCondition, kBody), "(nothing)"); }

TEST(While, NeedsABoundOfItsTrips) {
  EXPECT_EQ(verdict_of_loop("trip, h = while(zero, x) block 1 block 2\n", kCondition, kBody),
            "block 0, op 1 'while': while: max_trips is missing; the planner needs a bound of the trips");
  for (const std::string most : {"0", "1000001", "1000000000000"})
    EXPECT_EQ(verdict_of_loop("trip, h = while(zero, x) {max_trips=" + most + "} block 1 block 2\n", kCondition, kBody),
              "block 0, op 1 'while': while: max_trips is " + most + ", expected 1 to 1000000");
  EXPECT_EQ(verdict_of_loop("trip, h = while(zero, x) {max_trips=1000000} block 1 block 2\n", kCondition, kBody),
            "(nothing)");
}

TEST(While, NeedsOneTruthValueAsCondition) {
  EXPECT_TRUE(fails_with("the condition 'test' is f32[2], expected one truth value, u8[]", [] {
    const std::string text = message(
        "input x f32[2]\ntemp zero i64[]\ntemp trip i64[]\ntemp test f32[2] block 1\n",
        "temp more i64[] block 2\nblock 0 {\n", "zero = fill_constant() {dtype=\"i64\", shape=[], value=0}\n",
        "trip = while(zero, x) {max_trips=3} block 1 block 2\n}\n",
        "block 1 parent 0 results (test) {\ntest = relu(x)\n}\n", "block 2 parent 0 results (more) {\n", kCount, "}\n");
    verify(parse_program(text));
  }));
}

TEST(While, KeepsTheTypeOfWhatItCarries) {
  EXPECT_EQ(verdict_of_loop("trip, h = while(zero, long) {max_trips=3} block 1 block 2\n", kCondition, kBody),
            "block 0, op 1 'while': while: 'h' is f32[2], but begins as 'long', f32[3]");
  const std::string vars = "temp wide f32[3] block 2\n";
  const std::string text = message(
      kVars, vars, "block 0 {\nzero = fill_constant() {dtype=\"i64\", shape=[], value=0}\n",
      "trip, h = while(zero, x, long) {max_trips=3} block 1 block 2\n}\n", "block 1 parent 0 results (test) {\n",
      kCondition, "}\nblock 2 parent 0 results (more, wide) {\n", kCount, "wide = relu(long)\n}\n");
  EXPECT_TRUE(
      fails_with("while: after a trip 'wide' is f32[3], but 'h' is f32[2]", [&] { verify(parse_program(text)); }));
}

TEST(While, ListsTheOuterVarsThatItsBodyWrites) {
  EXPECT_EQ(
      verdict_of_loop(kLoop, kCondition, kBody + "outer = relu(h)\n"),
      "block 0, op 1 'while': block 2 touches 'outer', which the op lists neither in its inputs nor in its outputs");
  EXPECT_EQ(verdict_of_loop("outer = relu(x)\ntrip, h = while(zero, x, outer) {max_trips=3} block 1 block 2\n",
                            kCondition, kBody + "outer = increment(outer) {by=1}\n"),
            "block 0, op 2 'while': block 2 writes 'outer', which the op does not list in its outputs");
}

TEST(While, CarriesNothingThatIsWrittenElsewhere) {
  EXPECT_EQ(verdict_of_loop("h = relu(x)\n" + kLoop, kCondition, kBody),
            "block 0, op 2 'while': writes 'h' a second time");
}

TEST(While, HandsOnWhatHasMemoryOfItsOwn) {
  EXPECT_EQ(verdict_of_loop(kLoop, kCondition, kCount + "y = reshape(h) {shape=[2]}\n"),
            "block 0, op 1 'while': result 'y' of block 2 has no memory of its own");
}

TEST(While, HidesWhatItsBodyMakes) {
  EXPECT_EQ(verdict_of_loop(kLoop + "outer = relu(y)\n", kCondition, kBody),
            "block 0, op 2 'relu': touches 'y', which is of a block that this one is not in");
}

TEST(Verify, RefusesABlockThatBelongsToNoOp) {
  Program program;
  program.blocks.push_back({.parent = 0});
  EXPECT_EQ(error_of([&] { verify(program); }), "block 1 belongs to no op");
}

Builder small_net() { return Builder({.batch = 1, .dtype = DType::f64}); }

TEST(If, RefusesBranchesOfUnequalShapes) {
  Builder net = small_net();
  const VarId x = net.input("x", {3});
  const VarId condition = net.layer("greater", net.layer("mean", x), {{"value", 0.0}});
  EXPECT_EQ(error_of([&] {
              net.branch(
                  condition, [&] { return Vars{net.layer("relu", x)}; },
                  [&] {
                    return Vars{net.layer("fc", x, {{"out", 2}})};
                  },
                  "choice");
            }),
            "choice: if: result 'fc1.y' is f64[1,2], but 'choice' is f64[1,3]");
  EXPECT_EQ(error_of([&] {
              net.branch(
                  x, [&] { return Vars{x}; }, [&] { return Vars{x}; }, "other");
            }),
            "other: if: the condition 'x' is f64[1,3], expected one truth value, u8[]");
}

/// What finish() says of a loop that writes into an array, or into a view of it, after that was made.
std::string complaint_of_a_write(bool into_the_view) {
  Builder net = small_net();
  const VarId x = net.input("x", {3});
  const VarId all = net.layer("array", x, {{"length", 2}, {"shape", Ints{3}}});
  const VarId view = net.layer("reshape", all, {{"shape", Ints{-1, 3}}});
  net.loop({x}, 2, nullptr, [&](const Vars& h) {
    net.layer("array_write", {into_the_view ? view : all, h[0], net.trip()});
    return h;
  });
  return error_of([&] { net.finish(); });
}

TEST(Builder, RefusesToWriteIntoAnArrayThatHasAViewAndIntoTheView) {
  for (const bool into_the_view : {false, true}) {
    const std::string expected =
        std::string("writes '") + (into_the_view ? "reshape1.y" : "array1.y") + "', which is or has a view";
    const std::string complaint = complaint_of_a_write(into_the_view);
    EXPECT_NE(complaint.find(expected), std::string::npos) << complaint;
  }
}

TEST(Builder, RefusesALoopOfMoreTripsThanAnybodyWaitsFor) {
  Builder net = small_net();
  const VarId x = net.input("x", {});
  EXPECT_EQ(error_of([&] {
              net.loop(
                  {x}, 1000000000000, nullptr, [](const Vars& h) { return h; }, "long");
            }),
            "long: max_trips is 1000000000000, expected 1 to 1000000");
}

TEST(Builder, CountsTripsOnlyInsideOfALoop) {
  EXPECT_EQ(error_of([] { small_net().trip(); }), "there is no loop whose trips could be counted");
}

/// A network of one input, run once.
struct OneStep {
  OneStep(const Network& network, double x)
      : prepared(device.info()),
        store(device),
        program(network.program),
        plan(plan_none(program, workspaces_of(program, prepared))),
        executor(program, plan, prepared, store) {
    executor.feed(network.inputs[0], &x, sizeof x);
    executor.run();
  }
  double value(VarId var) const {
    double value = 0;
    executor.fetch(var, &value, sizeof value);
    return value;
  }
  CountingDevice device;
  Prepared prepared;
  Store store;
  Program program;
  Plan plan;
  Executor executor;
};

/// x doubled as long as it is below 10, at most `most` times.
Network doubling(std::int64_t most, VarId& result) {
  Builder net = small_net();
  const VarId x = net.input("x", {});
  result = net.loop(
      {x}, most,
      [&](const Vars& h) {
        return net.layer("less", net.layer("mean", h[0]), {{"value", 10.0}});
      },
      [&](const Vars& h) {
        return Vars{net.layer("scale", h[0], {{"a", 2.0}})};
      })[0];
  return net.finish({result});
}

TEST(Executor, RunsABodyAsLongAsTheConditionHolds) {
  VarId y = kNone;
  EXPECT_EQ(OneStep(doubling(9, y), 3).value(y), 12);
  EXPECT_EQ(OneStep(doubling(9, y), 11).value(y), 11) << "no trip at all";
  EXPECT_EQ(OneStep(doubling(9, y), 3).executor.stopped_loops(), 0);
}

TEST(Executor, StopsALoopAtItsBoundAndSaysSo) {
  VarId y = kNone;
  const Network network = doubling(2, y);
  EXPECT_EQ(OneStep(network, 1).value(y), 4);
  EXPECT_EQ(OneStep(network, 1).executor.stopped_loops(), 1);
  EXPECT_EQ(OneStep(network, 3).executor.stopped_loops(), 0) << "as many trips as allowed are not too many";
}

TEST(Executor, RunsOneBranch) {
  Builder net = small_net();
  const VarId x = net.input("x", {});
  const VarId condition = net.layer("greater", net.layer("mean", x), {{"value", 0.0}});
  const VarId y = net.branch(
      condition,
      [&] {
        return Vars{net.layer("scale", x, {{"a", 2.0}})};
      },
      [&] { return Vars{net.layer("square", x)}; })[0];
  const Network network = net.finish({y});
  EXPECT_EQ(OneStep(network, 3).value(y), 6);
  EXPECT_EQ(OneStep(network, -3).value(y), 9);
}

TEST(Executor, GivesAllThatALoopCarriesAtOnce) {
  Builder net = small_net();
  const VarId x = net.input("x", {});
  const VarId zero = net.layer("scale", x, {{"a", 0.0}});
  const Vars last = net.loop({x, zero}, 3, nullptr, [](const Vars& h) { return Vars{h[1], h[0]}; });
  const Network network = net.finish({last[0], last[1]});
  EXPECT_EQ(OneStep(network, 5).value(last[0]), 0);
  EXPECT_EQ(OneStep(network, 5).value(last[1]), 5);
}

}  // namespace
}  // namespace lethe::testing
