#include "memopt/passes/mask_picked.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <sstream>

#include "framework/autodiff/autodiff.h"
#include "framework/language/text.h"
#include "framework/language/verify.h"
#include "framework/random.h"
#include "models/network.h"
#include "tests/memopt/op_order.h"
#include "tests/memopt/same_result.h"
#include "tests/support/interpreter.h"

namespace lethe::testing {
namespace {

/// A relu, a max pool of 3 x 3 with steps of 2, and the mean of that; with the gradient of `x`.
Program relu_and_pool(const std::string& dtype) {
  Program program =
      parse_program("input x " + dtype + "[1,7,7,2]\ntemp y " + dtype + "[1,7,7,2]\ntemp p " + dtype + "[1,3,3,2]\n" +
                    "temp index u8[1,3,3,2]\ntemp loss " + dtype +
                    "[]\nblock 0 {\n  y = relu(x)\n"
                    "  p, index = max_pool(y) {ceil_mode=0, k=[3,3], pad=[0,0], stride=[2,2]}\n  loss = mean(p)\n}\n");
  append_backward(program, find_var(program, "loss"), {find_var(program, "x")});
  return program;
}

std::vector<Pin> no_pins(const Program& program) { return collect_pins(program, {}); }

TEST(MaskPicked, MasksThePooledGradientInsteadOfTheWholeOne) {
  const Program program = relu_and_pool("f32"), masked = mask_picked(program, no_pins(program));
  verify(masked);
  const std::vector<std::string> before = order_of(program), after = order_of(masked);
  EXPECT_EQ(before[before.size() - 1], "relu_grad x@GRAD");
  EXPECT_EQ(before[before.size() - 2], "max_pool_grad y@GRAD");
  EXPECT_EQ(after[after.size() - 1], "max_pool_grad x@GRAD");
  EXPECT_EQ(after[after.size() - 2], "relu_grad p@GRAD.2");
}

/// Few values, so that windows have many that are largest; zeros of both signs, negative ones and NaN.
TEST(MaskPicked, ChangesNoBitWhereWindowsTieAndOverlap) {
  const double values[] = {-1, -0.0, 0.0, 0.0, 1, 1, 2, std::numeric_limits<double>::quiet_NaN()};
  for (const char* const dtype : {"f32", "f64", "bf16"}) {
    const Program program = relu_and_pool(dtype), masked = mask_picked(program, no_pins(program));
    const VarId x = find_var(program, "x"), gradient = find_var(program, "x@GRAD");
    std::uint64_t state = 1;
    for (int round = 0; round < 200; ++round) {
      Interpreter plain(program), other(masked);
      for (int i = 0; i < 98; ++i) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        const double value = values[(state >> 40U) % (round % 2 == 0 ? 7 : 8)];
        plain.set(x, i, value);
        other.set(x, i, value);
      }
      plain.run();
      other.run();
      ASSERT_EQ(std::memcmp(plain.memory(gradient).data(), other.memory(gradient).data(),
                            static_cast<std::size_t>(plain.memory(gradient).bytes())),
                0)
          << dtype << ", round " << round;
    }
  }
}

/// Two values side by side, one of relu and one of `second`, that a max pool reads.
Program joined_and_pool(const std::string& second) {
  Program program = parse_program(
      "input x f32[1,7,7,2]\ninput z f32[1,7,7,1]\ntemp y f32[1,7,7,2]\ntemp w f32[1,7,7,1]\ntemp c f32[1,7,7,3]\n"
      "temp p f32[1,3,3,3]\ntemp index u8[1,3,3,3]\ntemp loss f32[]\nblock 0 {\n  y = relu(x)\n  w = " +
      second +
      "(z)\n  c = concat(y, w) {axis=3}\n  p, index = max_pool(c) {ceil_mode=0, k=[3,3], pad=[0,0], stride=[2,2]}\n"
      "  loss = mean(p)\n}\n");
  append_backward(program, find_var(program, "loss"), {find_var(program, "x"), find_var(program, "z")});
  return program;
}

TEST(MaskPicked, MasksThePooledGradientOfWhatIsJoined) {
  const Program program = joined_and_pool("relu"), masked = mask_picked(program, no_pins(program));
  verify(masked);
  const std::vector<std::string> before = order_of(program), after = order_of(masked);
  const auto masks = [](const std::vector<std::string>& order) {
    return std::count_if(order.begin(), order.end(), [](const std::string& op) { return op.starts_with("relu_grad"); });
  };
  EXPECT_EQ(masks(before), 2);
  EXPECT_EQ(masks(after), 1);
  EXPECT_TRUE(std::count(after.begin(), after.end(), "relu_grad p@GRAD.2")) << after.back();
  Interpreter plain(program), other(masked);
  Random random(3);
  for (const char* const input : {"x", "z"})
    for (int i = 0; i < (input[0] == 'x' ? 98 : 49); ++i) {
      const double value = static_cast<double>(random.below(5)) - 2;
      plain.set(find_var(program, input), i, value);
      other.set(find_var(program, input), i, value);
    }
  plain.run();
  other.run();
  for (const char* const input : {"x@GRAD", "z@GRAD"}) {
    const VarId gradient = find_var(program, input);
    EXPECT_EQ(std::memcmp(plain.memory(gradient).data(), other.memory(gradient).data(),
                          static_cast<std::size_t>(plain.memory(gradient).bytes())),
              0)
        << input;
  }
}

TEST(MaskPicked, LeavesWhatIsJoinedToAValueWithoutAMask) {
  const Program program = joined_and_pool("tanh");
  EXPECT_EQ(mask_picked(program, no_pins(program)), program);
}

TEST(MaskPicked, LeavesWhatIsJoinedWhereAGradientIsPinnedOrReadElsewhere) {
  const Program program = joined_and_pool("relu");
  for (const char* const gradient : {"c@GRAD", "y@GRAD", "w@GRAD"}) {
    EXPECT_EQ(mask_picked(program, collect_pins(program, {.skip_vars = {gradient}})), program) << gradient;
    Program read = program;
    const VarId of = find_var(read, gradient), copy = add_var(read, {.name = "copy", .shape = read.vars[of].shape});
    read.blocks[0].ops.push_back({.type = "exp", .in = {of}, .out = {copy}, .role = Role::Backward});
    EXPECT_EQ(mask_picked(read, no_pins(read)), read) << gradient;
  }
}

TEST(MaskPicked, LeavesWhatIsPinnedOrReadElsewhere) {
  const Program program = relu_and_pool("f32");
  EXPECT_EQ(mask_picked(program, collect_pins(program, {.skip_vars = {"y@GRAD"}})), program);
  Program read = program;
  const VarId copy = add_var(read, {.name = "copy", .shape = {1, 7, 7, 2}});
  read.blocks[0].ops.push_back(
      {.type = "exp", .in = {find_var(read, "y@GRAD")}, .out = {copy}, .role = Role::Backward});
  EXPECT_EQ(mask_picked(read, no_pins(read)), read);
}

TEST(MaskPicked, LeavesAReluWhoseSumWithOthersThePoolReads) {
  Program program = parse_program(
      "input x f32[1,7,7,2]\ninput c f32[1,7,7,2]\ntemp y f32[1,7,7,2]\ntemp s f32[1,7,7,2]\ntemp p f32[1,3,3,2]\n"
      "temp index u8[1,3,3,2]\ntemp loss f32[]\nblock 0 {\n  y = relu(x)\n  s = add(y, c)\n"
      "  p, index = max_pool(s) {ceil_mode=0, k=[3,3], pad=[0,0], stride=[2,2]}\n  loss = mean(p)\n}\n");
  append_backward(program, find_var(program, "loss"), {find_var(program, "x")});
  ASSERT_EQ(order_of(program).back(), "relu_grad x@GRAD");
  EXPECT_EQ(mask_picked(program, no_pins(program)), program);
}

TEST(MaskPicked, LeavesAReluThatFeedsAnotherReaderToo) {
  Program program = parse_program(
      "input x f32[1,4,4,1]\ntemp y f32[1,4,4,1]\ntemp p f32[1,2,2,1]\ntemp index u8[1,2,2,1]\ntemp a f32[]\n"
      "temp b f32[]\ntemp loss f32[]\nblock 0 {\n  y = relu(x)\n"
      "  p, index = max_pool(y) {ceil_mode=0, k=[2,2], pad=[0,0], stride=[2,2]}\n  a = mean(p)\n  b = mean(y)\n"
      "  loss = add(a, b)\n}\n");
  append_backward(program, find_var(program, "loss"), {find_var(program, "x")});
  EXPECT_EQ(mask_picked(program, no_pins(program)), program);
}

/// early_exit with a pool after the last relu of its second half: its output is of a block beside that of the
/// gradient.
TEST(MaskPicked, KeepsTheRulesWithinBranches) {
  std::stringstream text;
  text << std::ifstream(LETHE_SOURCE_DIR "/models/early_exit.json").rdbuf();
  std::string network = text.str();
  const std::string before = R"({"op": "relu"},
        {"op": "global_avg_pool"})";
  const std::size_t at = network.find(before);
  ASSERT_NE(at, std::string::npos);
  network.replace(at, before.size(), R"({"op": "relu"}, {"op": "max_pool", "k": 2}, {"op": "global_avg_pool"})");
  const std::string file = ::testing::TempDir() + "pooled_exit.json";
  std::ofstream(file) << network;
  const TrainingProgram made = with_updates(
      with_backward(load_network(file, {.batch = 2, .training = true}, {{"size", "16"}, {"confident", "2"}})), "sgd");
  verify(mask_picked(made.network.program, no_pins(made.network.program)));
  expect_the_same_under_all_settings(made, 2);
}

TEST(MaskPicked, LeavesAGradientThatShowsAParameterWhichIsUpdatedBefore) {
  const auto pooled = [](const std::string& gradient) {
    return parse_program(
        "input x f32[1,4,4,1]\ninput e f32[1,2,2,1]\ninput rate f32[]\nparam q f32[1,2,2,1]\ntemp d f32[1,2,2,1]\n"
        "temp y f32[1,4,4,1]\ntemp p f32[1,2,2,1]\ntemp index u8[1,2,2,1]\ntemp a f32[1,4,4,1]\n"
        "temp b f32[1,4,4,1]\nblock 0 {\n  d = reshape(q) {shape=[1,2,2,1]}\n  y = relu(x)\n"
        "  p, index = max_pool(y) {ceil_mode=0, k=[2,2], pad=[0,0], stride=[2,2]}\n  a = max_pool_grad(index, " +
        gradient +
        ") {ceil_mode=0, height=4, k=[2,2], pad=[0,0], stride=[2,2], width=4} backward\n"
        "  q = sgd(q, e, rate) optimize\n  b = relu_grad(y, a) backward\n}\n");
  };
  verify(pooled("d"));
  EXPECT_EQ(mask_picked(pooled("d"), no_pins(pooled("d"))), pooled("d"));
  EXPECT_NE(mask_picked(pooled("p"), no_pins(pooled("p"))), pooled("p"));
}

}  // namespace
}  // namespace lethe::testing
