// What level 2 makes again, for no more than a hundredth of a step.
#include "memopt/recompute/nearly_free.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "framework/builder/builder.h"
#include "framework/language/clone.h"
#include "framework/language/op_def.h"
#include "models/network.h"
#include "tests/memopt/same_result.h"

namespace lethe::testing {
namespace {

/// Three values of 50 bytes that are made of a source of 100 bytes. That takes a second, they 1, 2 and 3. All are alive
/// beside much workspace at the end of the forward part.
Tape three_of_one_source() {
  constexpr VarId kSource = 0, kRead = 4, kLast = 5;
  Tape tape;
  tape.ops = {{.call = {.out = {kSource}, .seconds = 1}, .repeats = true, .until = 10}};
  tape.values = {{.bytes = 100, .maker = 0, .turn = 6, .read_by_backward = true}};
  tape.candidates = {{kSource}};
  for (int i = 1; i <= 3; ++i) {
    const auto seconds = static_cast<double>(i);
    tape.ops.push_back({.call = {.in = {kSource}, .out = {i}, .seconds = seconds}, .repeats = true, .until = 10});
    tape.values.push_back({.bytes = 50, .maker = i, .turn = 6, .read_by_backward = true});
    tape.candidates.push_back({i});
  }
  tape.ops.push_back({.call = {.in = {1, 2, 3}, .out = {kRead}}, .until = 10});
  tape.ops.push_back({.call = {.in = {kRead}, .out = {kLast}, .workspace = 500}, .until = 10});
  for (int i = 0; i < 2; ++i) tape.values.push_back({.bytes = 10});
  for (const VarId v : {3, 2, 1, kSource}) tape.ops.push_back({.call = {.in = {kLast, v}}, .until = 10});
  tape.parts = {{.turn = 6, .end = 10}};
  return tape;
}

TEST(NearlyFree, IsWhatAHundredthOfAStepPaysFor) {
  Tape tape = three_of_one_source();
  const auto peak_for = [&](double seconds) {
    tape.seconds = seconds / kNearlyFree;
    const std::optional<Rung> rung = nearly_free(tape);
    EXPECT_LE(rung ? rung->seconds : 0, seconds);
    return rung ? rung->peak : 0;
  };
  EXPECT_EQ(peak_for(0.5), 0) << "nothing is";
  EXPECT_EQ(peak_for(1.5), 500 + 2 * 10 + 3 * 50) << "the source";
  EXPECT_EQ(peak_for(3.5), 500 + 2 * 10 + 2 * 50) << "and one that is made of it";
  EXPECT_EQ(peak_for(10), 500 + 2 * 10);
}

Planned planned(const TrainingProgram& made, const char* memopt, std::optional<double> overhead = {}) {
  Prepared prepared{DeviceInfo{}};
  MemoptOptions options = options_of(memopt, false, made.network);
  options.costs = options_of("level=2", false, made.network).costs;
  options.overhead = overhead;
  return plan_memory(made.network.program, prepared, options);
}

/// Each stage reads what the one before made twice.
TEST(NearlyFree, IsFoundAtOnceInLongChains) {
  Builder net({.batch = 2, .dtype = DType::f32, .training = true});
  VarId x = net.layer("fc", net.input("x", {8}), {{"out", 16}});
  for (int i = 0; i < 60; ++i) x = net.layer("mul", {x, net.layer("silu", x)});
  net.loss("cross_entropy", net.layer("fc", x, {{"out", 4}}), net.input("label", {}, DType::i32));
  EXPECT_TRUE(planned(with_updates(with_backward(net.finish()), "sgd"), "level=2").arena);
}

TrainingProgram small_network(const char* model, const Sets& sets) {
  return with_updates(with_backward(load_network(model, {.batch = 2, .dtype = DType::f32, .training = true}, sets)),
                      "sgd");
}

TrainingProgram small_gpt2() {
  return small_network(
      "gpt2",
      {{"vocab", "32"}, {"length", "32"}, {"width", "16"}, {"heads", "2"}, {"layers", "3"}, {"dropout", "0.2"}});
}

TrainingProgram small_llama() {
  return small_network("llama", {{"vocab", "32"},
                                 {"length", "32"},
                                 {"width", "16"},
                                 {"heads", "2"},
                                 {"kv_heads", "1"},
                                 {"layers", "3"},
                                 {"hidden", "48"}});
}

/// Three layers of numbers, with dropout after each part: a norm, and gelu between products or a gate as in SwiGLU.
TrainingProgram layers_of_numbers(bool gated) {
  Builder net({.batch = 2, .dtype = DType::f32, .training = true});
  const auto fc = [&](VarId x, int out) { return net.layer("fc", x, {{"out", out}, {"flatten", 0}}); };
  VarId x = net.input("x", {16, 8});
  for (int i = 0; i < 3; ++i) {
    const VarId norm = net.layer(gated ? "rms_norm" : "layer_norm", x);
    const VarId wide = gated ? net.layer("mul", {net.layer("silu", fc(norm, 32)), fc(norm, 32)})
                             : net.layer("gelu", fc(norm, 32), {{"approximate", i == 1 ? "tanh" : "none"}});
    x = net.layer("add", {x, net.layer("dropout", fc(wide, 8), {{"p", 0.25}})});
  }
  net.loss("cross_entropy", net.layer("fc", x, {{"out", 4}}), net.input("label", {}, DType::i32));
  return with_updates(with_backward(net.finish()), "momentum");
}

/// Types of the ops that run once more.
std::set<std::string> types_again(const Planned& made) {
  std::set<std::string> types;
  for (const Op& op : made.program.blocks[0].ops)
    if (!op_def(op.type).is_view() && made.program.vars[op.out.front()].name.ends_with(kAgain)) types.insert(op.type);
  return types;
}

void expect_less_than_all_kept(const TrainingProgram& made, const std::set<std::string>& types) {
  const Planned again = planned(made, "level=2"), kept = planned(made, "level=3", 0);
  ASSERT_TRUE(again.recomputed);
  EXPECT_GT(again.recomputed->overhead, 0);
  EXPECT_EQ(kept.recomputed->ops, 0);
  EXPECT_LT(again.arena->bytes, kept.arena->bytes * 3 / 4);
  EXPECT_TRUE(std::ranges::includes(types_again(again), types));
  const Planned priced = planned(made, "level=3", again.recomputed->overhead);
  EXPECT_LE(priced.arena->bytes, again.arena->bytes) << "level 3 does no worse for that price";
}

TEST(NearlyFree, LetsTransformersTakeLess) {
  expect_less_than_all_kept(small_gpt2(), {"layer_norm", "gelu"});
  expect_less_than_all_kept(small_llama(), {"rms_norm", "silu", "mul"});
}

TEST(NearlyFree, IsLessWhereItTakesLonger) {
  const TrainingProgram made = small_gpt2();
  Prepared prepared{DeviceInfo{}};
  MemoptOptions options = options_of("level=2", false, made.network);
  const auto again_at = [&](double seconds) {
    options.costs.seconds_of = [seconds](const Program& program, const Op& op) {
      return mult_adds_of(program, op) == 0 ? seconds : 1;
    };
    const Recomputed again = plan_memory(made.network.program, prepared, options).recomputed.value_or(Recomputed{});
    EXPECT_LE(again.overhead, kNearlyFree);
    return again.ops;
  };
  const int all = again_at(0.001), some = again_at(0.1);
  EXPECT_GT(all, some);
  EXPECT_GT(some, 0);
}

TEST(NearlyFree, GivesTheSameBitsAmongDropout) {
  for (const bool gated : {false, true}) {
    const TrainingProgram made = layers_of_numbers(gated);
    EXPECT_GE(planned(made, "level=2").recomputed.value_or(Recomputed{}).ops, 4);
    expect_the_same_under_all_settings(made, 2);
  }
}

TEST(NearlyFree, IsInRandomPrograms) {
  int programs = 0;  // that SameResult runs, too
  for (const int seed : random_seeds())
    programs +=
        planned(with_updates(random_program(static_cast<std::uint64_t>(seed)), "sgd"), "level=2").recomputed ? 1 : 0;
  EXPECT_GT(programs, 0);
}

}  // namespace
}  // namespace lethe::testing
