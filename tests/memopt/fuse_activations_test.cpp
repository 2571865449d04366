#include "memopt/passes/fuse_activations.h"

#include <gtest/gtest.h>

#include "framework/autodiff/autodiff.h"
#include "framework/language/op_def.h"
#include "framework/language/text.h"
#include "framework/language/verify.h"
#include "memopt/passes/fuse_sums.h"
#include "models/network.h"
#include "tests/memopt/same_result.h"
#include "tests/support/expect_error.h"
#include "tests/support/loop_networks.h"
#include "tests/support/random_program.h"

namespace lethe::testing {
namespace {

Program fused(const Program& program, const PinOptions& pins = {}) {
  Program made =
      fuse_activations(fuse_sums(program, collect_pins(program, pins)), collect_pins(program, pins), DeviceKind::Cpu);
  verify(made);
  return made;
}

/// s = a + b, what `after` says, and t = exp(r).
std::string sum_and(const std::string& after) {
  return "input a f32[2,3]\ninput b f32[2,3]\ntemp s f32[2,3]\ntemp r f32[2,3]\ntemp t f32[2,3]\nblock 0 {\n"
         "  s = add(a, b)" +
         after + "  t = exp(r)\n}\n";
}

TEST(FuseActivations, TheOpBeforeActivatesAndReluIsAViewOfIt) {
  EXPECT_EQ(fused(parse_program(sum_and("\n  r = relu(s)\n"))),
            parse_program(sum_and(" {activation=\"relu\"}\n  r = reshape(s) {shape=[2,3]}\n")));
}

TEST(FuseActivations, OpsMayStandBetween) {
  EXPECT_EQ(fused(parse_program("input a f32[2]\ntemp s f32[2]\ntemp u f32[2]\ntemp r f32[2]\n"
                                "block 0 {\n  s = add(a, a)\n  u = exp(a)\n  r = relu(s)\n}\n")),
            parse_program("input a f32[2]\ntemp s f32[2]\ntemp u f32[2]\ntemp r f32[2]\n"
                          "block 0 {\n  s = add(a, a) {activation=\"relu\"}\n  u = exp(a)\n"
                          "  r = reshape(s) {shape=[2]}\n}\n"));
}

TEST(FuseActivations, LeavesWhatIsReadElsewhereOrPinned) {
  const Program plain = parse_program(sum_and("\n  r = relu(s)\n"));
  EXPECT_EQ(fused(plain, {.skip_vars = {"s"}}), plain);
  EXPECT_EQ(fused(plain, {.fetched = {find_var(plain, "s")}}), plain);
  const Program twice = parse_program(
      "input a f32[2]\ntemp s f32[2]\ntemp r f32[2]\ntemp u f32[2]\n"
      "block 0 {\n  s = add(a, a)\n  r = relu(s)\n  u = exp(s)\n}\n");
  EXPECT_EQ(fused(twice), twice);
  const Program other =
      parse_program("input a f32[2]\ntemp s f32[2]\ntemp r f32[2]\nblock 0 {\n  s = mul(a, a)\n  r = relu(s)\n}\n");
  EXPECT_EQ(fused(other), other) << "mul activates nothing";
}

TEST(FuseActivations, LeavesWhatWritesAPartOfAWiderVar) {
  const Program parts = parse_program(
      "input a f32[2,3]\ntemp s f32[2,3]\ntemp r f32[2,3] pitch 6\ntemp q f32[2,3] pitch 6\ntemp y f32[2,6]\n"
      "block 0 {\n  s = add(a, a)\n  r = relu(s)\n  q = tanh(a)\n  y = concat_view(r, q) {axis=1}\n}\n");
  EXPECT_EQ(fused(parts), parts);
}

/// y = batch_norm(x), `ops`.
Program norm_and(const std::string& ops) {
  return parse_program(
      "input x f32[1,2,2,3]\ninput z f32[1,2,2,3]\nparam w f32[3]\nparam b f32[3]\ntemp y f32[1,2,2,3]\n"
      "temp mean f32[3]\ntemp var f32[3]\ntemp s f32[1,2,2,3]\ntemp t f32[1,2,2,3]\nblock 0 {\n"
      "  y, mean, var = batch_norm(x, w, b) {eps=1e-05}\n" +
      ops + "}\n");
}

TEST(FuseSums, TheOpThatMakesAnOperandAddsTheOtherIfThatIsThere) {
  const Program added = fused(norm_and("  s = add(y, z)\n"));
  EXPECT_EQ(added.blocks[0].ops.size(), 1U);
  EXPECT_EQ(added, fused(norm_and("  s = add(z, y)\n")));
  const std::string late = "  t = exp(x)\n  s = add(y, t)\n";
  EXPECT_EQ(fused(norm_and(late)), norm_and(late));
}

TEST(FuseSums, LeavesWhatIsReadElsewhereOrPinned) {
  const Program twice = norm_and("  s = add(y, z)\n  t = exp(y)\n"), itself = norm_and("  s = add(y, y)\n"),
                once = norm_and("  s = add(y, z)\n");
  EXPECT_EQ(fused(twice), twice);
  EXPECT_EQ(fused(itself), itself);
  EXPECT_EQ(fused(once, {.fetched = {find_var(once, "y")}}), once);
  EXPECT_EQ(fused(once, {.skip_vars = {"y"}}), once);
}

TEST(FuseSums, LeavesAnOperandThatShowsWhatIsUpdatedBefore) {
  const auto sum_with = [](const std::string& other) {
    return parse_program(
        "input x f32[4,3]\ninput rate f32[]\nparam p f32[4,3]\nparam q f32[4,3]\ntemp v f32[4,3]\ntemp y f32[4,3]\n"
        "temp mean f32[3]\ntemp var f32[3]\ntemp s f32[4,3]\nblock 0 {\n  v = reshape(p) {shape=[4,3]}\n"
        "  y, mean, var = batch_norm(x, _, _) {eps=1e-05}\n  p = sgd(p, x, rate) optimize\n  s = add(y, " +
        other + ")\n}\n");
  };
  verify(sum_with("v"));
  EXPECT_EQ(fused(sum_with("v")), sum_with("v"));
  EXPECT_NE(fused(sum_with("q")), sum_with("q"));
}

TEST(FuseActivations, OneActivationAnOp) {
  EXPECT_EQ(fused(parse_program("input a f32[2]\ntemp s f32[2]\ntemp r f32[2]\ntemp q f32[2]\n"
                                "block 0 {\n  s = add(a, a)\n  r = relu(s)\n  q = relu(r)\n}\n")),
            parse_program("input a f32[2]\ntemp s f32[2]\ntemp r f32[2]\ntemp q f32[2]\n"
                          "block 0 {\n  s = add(a, a) {activation=\"relu\"}\n  r = reshape(s) {shape=[2]}\n"
                          "  q = relu(r)\n}\n"));
}

int activated_ops(const Program& program) {
  int count = 0;
  for (const Block& block : program.blocks)
    for (const Op& op : block.ops) count += op.attrs.has(kActivation) ? 1 : 0;
  return count;
}

/// Losses, parameters and states, of which every setting fused gives the bits of none unfused.
void expect_the_same_fused(const TrainingProgram& made) {
  const Given given = given_to(made.network, 3);
  const Outcome expected = run_under(made, options_of("none", false, made.network), given);
  for (const char* setting : {"none", "level=1,release", "level=2"}) {
    SCOPED_TRACE(setting);
    MemoptOptions options = options_of(setting, false, made.network);
    options.fuse = options.gather = options.stage_inputs = true;  // as a GPU has it
    const Outcome outcome = run_under(made, options, given);
    EXPECT_EQ(outcome.losses, expected.losses);
    EXPECT_EQ(outcome.store, expected.store);
    EXPECT_LE(outcome.taken, outcome.predicted);
    EXPECT_LE(outcome.predicted, expected.predicted);
  }
}

TEST(FuseActivations, ChangeNoBitOfNetworks) {
  struct Small {
    const char* model;
    int least;
  };
  for (const auto& [model, least] : {Small{"lenet", 0}, Small{"resnet20", 19}, Small{"mlp", 0}}) {
    SCOPED_TRACE(model);
    const TrainingProgram made =
        with_updates(with_backward(load_network(model, {.batch = 2, .training = true})), "momentum");
    EXPECT_GE(activated_ops(fused(made.network.program)), least);
    expect_the_same_fused(made);
  }
}

TEST(FuseActivations, ChangeNoBitOfRandomProgramsAndLoops) {
  int found = 0;
  for (const int seed : random_seeds(random_programs() / 4 + 4)) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    const TrainingProgram made = with_updates(random_program(static_cast<std::uint64_t>(seed)), "sgd");
    if (activated_ops(fused(made.network.program)) == 0) continue;
    ++found;
    expect_the_same_fused(made);
  }
  EXPECT_GT(found, 0);
  for (const LoopNetwork& entry : loop_networks()) {
    SCOPED_TRACE(entry.name);
    expect_the_same_fused(with_updates(with_backward(entry.build(DType::f64)), "sgd"));
  }
}

TEST(FuseActivations, AnOpWithAnActivationHasNoGradient) {
  Program program = parse_program(
      "input a f32[2]\nparam w f32[2]\ntemp s f32[2]\ntemp l f32[]\n"
      "block 0 {\n  s = add(a, w) {activation=\"relu\"}\n  l = sum(s)\n}\n");
  EXPECT_TRUE(fails_with("op 'add' has an activation, of which its gradient knows nothing",
                         [&] { append_backward(program, find_var(program, "l")); }));
}

TEST(FuseActivations, OnlyKnownActivationsOfOpsThatTakeThemAreVerified) {
  const auto error_with = [](const std::string& op) {
    return error_of([&] { verify(parse_program("input a f32[2]\ntemp s f32[2]\nblock 0 {\n  s = " + op + "\n}\n")); });
  };
  EXPECT_NE(error_with("exp(a) {activation=\"relu\"}").find("takes no activation"), std::string::npos);
  EXPECT_NE(error_with("add(a, a) {activation=\"gelu\"}").find("unknown activation 'gelu'; known: relu"),
            std::string::npos);
}

}  // namespace
}  // namespace lethe::testing
