#include "memopt/passes/early_update.h"

#include <gtest/gtest.h>

#include "framework/language/text.h"
#include "framework/language/verify.h"
#include "memopt/memopt.h"
#include "models/network.h"
#include "optimizer/optimizer.h"
#include "tests/memopt/op_order.h"
#include "tests/support/random_program.h"
#include "tests/support/random_training.h"

namespace lethe::testing {
namespace {

/// y = w * x, the weight gradient before the input gradient, which reads w.
constexpr const char* kProduct =
    "input x f32[4]\ninput dy f32[4]\ninput lr f32[]\nparam w f32[4]\ntemp y f32[4]\ntemp dw f32[4]\ntemp dx "
    "f32[4]\ntemp end f32[4]\n"
    "block 0 {\n  y = mul(w, x)\n  dw = mul(dy, x) backward\n  dx = mul(dy, w) backward\n  end = exp(dx) backward\n"
    "  w = sgd(w, dw, lr) {weight_decay=0.0} optimize\n}\n";

TEST(EarlyUpdate, WaitsForTheInputGradientThatReadsTheParameter) {
  const Program program = update_early(parse_program(kProduct));
  EXPECT_EQ(order_of(program), (std::vector<std::string>{"mul y", "mul dw", "mul dx", "sgd w", "exp end"}));
  verify(program);
}

TEST(EarlyUpdate, OfASharedWeightWaitsForItsLastUse) {
  const Program program = update_early(parse_program(
      "input x f32[4]\ninput dy f32[4]\ninput lr f32[]\nparam w f32[4]\ntemp y f32[4]\ntemp d1 f32[4]\ntemp d2 f32[4]\n"
      "temp dw f32[4]\ntemp dx f32[4]\ntemp end f32[4]\n"
      "block 0 {\n  y = mul(w, x)\n  d1 = mul(dy, x) backward\n  d2 = mul(d1, x) backward\n"
      "  dw = sum_n(d1, d2) backward\n  dx = mul(dy, w) backward\n  end = mul(dx, w) backward\n"
      "  w = sgd(w, dw, lr) {weight_decay=0.0} optimize\n}\n"));
  EXPECT_EQ(order_of(program).back(), "sgd w");
}

TEST(EarlyUpdate, MovesRightAfterTheGradient) {
  const Program program = update_early(parse_program(
      "input x f32[4]\ninput lr f32[]\nparam w f32[4]\nparam b f32[4]\ntemp dw f32[4]\ntemp db f32[4]\n"
      "block 0 {\n  dw = exp(x) backward\n  db = exp(dw) backward\n"
      "  b = sgd(b, db, lr) {weight_decay=0.0} optimize\n  w = sgd(w, dw, lr) {weight_decay=0.0} optimize\n}\n"));
  EXPECT_EQ(order_of(program), (std::vector<std::string>{"exp dw", "sgd w", "exp db", "sgd b"}));
}

TEST(EarlyUpdate, KeepsEveryOpAndEveryDependency) {
  int moved = 0;
  for (const int seed : random_seeds()) {
    const auto random = static_cast<std::uint64_t>(seed);
    const Program before = with_updates(random_program(random), random_rule(random)).network.program;
    const Program after = update_early(before);
    verify(after);
    EXPECT_EQ(after.vars, before.vars);
    std::vector<std::string> a = order_of(before), b = order_of(after);
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    EXPECT_EQ(a, b);
    EXPECT_EQ(histories(after), histories(before));
    moved += order_of(before) != order_of(after);
  }
  EXPECT_GT(moved, random_programs() / 2);
}

TEST(EarlyUpdate, StaysLateUnderSkipGradsAndSaysSo) {
  Prepared prepared({});
  MemoptOptions options = parse_memopt("level=2");
  const Planned early = plan_memory(parse_program(kProduct), prepared, options);
  EXPECT_TRUE(early.notes.empty());
  options.pins.skip_grads = true;
  const Planned late = plan_memory(parse_program(kProduct), prepared, options);
  EXPECT_EQ(order_of(late.program).back(), "sgd w");
  ASSERT_EQ(late.notes.size(), 1U);
  EXPECT_EQ(late.notes[0], "updates stay at the end of the step: `skip_grads` keeps every parameter gradient");
}

TEST(EarlyUpdate, StaysLateUnderGlobalNormClippingAndSaysSo) {
  TrainingProgram made = random_program(2);
  OptimizerSettings settings = optimizer_named("sgd");
  settings.clip_norm = 1;
  Network& net = made.network;
  append_updates(net.program, made.grads, net.params, settings);
  Prepared prepared({});
  const Planned planned = plan_memory(net.program, prepared, parse_memopt("level=2"));
  ASSERT_EQ(planned.notes.size(), 1U);
  EXPECT_EQ(planned.notes[0],
            "updates stay at the end of the step: clipping by the global norm needs all gradients first");
  bool clipped = false;
  for (const Op& op : planned.program.blocks[0].ops) {
    if (op.type == "sgd") {
      EXPECT_TRUE(clipped);
    }
    clipped = clipped || op.type == "clip_scale";
  }
}

TEST(EarlyUpdate, SavesAFifthOfAlexnet) {
  const Network network = load_network("alexnet", {.batch = 64, .training = true});
  const Program program = with_updates(with_backward(network), "sgd").network.program;
  Prepared prepared(DeviceInfo{});
  MemoptOptions options = parse_memopt("level=2");
  const std::int64_t early = plan_memory(program, prepared, options).arena->bytes;
  options.early_updates = false;
  const std::int64_t late = plan_memory(program, prepared, options).arena->bytes;
  RecordProperty("early", std::to_string(early));
  RecordProperty("late", std::to_string(late));
  EXPECT_LT(early, 0.8 * late) << early << " of " << late;
}

}  // namespace
}  // namespace lethe::testing
