#include "memopt/passes/fuse_masks.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "framework/autodiff/autodiff.h"
#include "framework/language/text.h"
#include "framework/language/verify.h"
#include "tests/memopt/op_order.h"
#include "tests/support/interpreter.h"

namespace lethe::testing {
namespace {

/// y = relu(n), n a batch norm of x, `between`, and the mean of exp(y), whose gradient is not 0 where y is; with the
/// gradients of x, w and b.
Program norm_and_relu(const std::string& dtype, const std::string& norm = "n, mean, var = batch_norm(x, w, b)",
                      const std::string& between = "  y = relu(n)\n") {
  const std::string wide = dtype == "f64" ? "f64" : "f32", image = dtype + "[2,3,3,2]\n", channels = wide + "[2]\n";
  std::string text = "input x " + image + "param w " + channels + "param b " + channels + "state m " + channels +
                     "state v " + channels;
  for (const char* name : {"n", "y", "z", "s"}) text += "temp " + std::string(name) + " " + image;
  for (const char* name : {"mean", "var"}) text += "temp " + std::string(name) + " " + channels;
  Program program = parse_program(text + "temp loss " + dtype + "[]\nblock 0 {\n  " + norm + " {eps=1e-05}\n" +
                                  between + "  s = exp(y)\n  loss = mean(s)\n}\n");
  append_backward(program, find_var(program, "loss"),
                  {find_var(program, "x"), find_var(program, "w"), find_var(program, "b")});
  return program;
}

Program with_masks(const Program& program, const PinOptions& pins = {}) {
  Program made = fuse_masks(program, collect_pins(program, pins));
  verify(made);
  return made;
}

int count_of(const Program& program, const std::string& type) {
  int count = 0;
  for (const Op& op : program.blocks[0].ops) count += op.type == type ? 1 : 0;
  return count;
}

TEST(FuseMasks, TheNormsGradientMasksItself) {
  const Program program = norm_and_relu("f32"), fused = with_masks(program);
  EXPECT_EQ(count_of(program, "relu_grad"), 1);
  EXPECT_EQ(count_of(fused, "relu_grad"), 0);
  EXPECT_EQ(order_of(fused).back(), "batch_norm_grad x@GRAD");
  const Op& gradient = fused.blocks[0].ops.back();
  EXPECT_EQ(fused.vars[gradient.in[4]].name, "y@GRAD");
  EXPECT_EQ(fused.vars[gradient.in[5]].name, "b");
}

/// Values that lead to zeros of both signs and to NaN after the norm, and w and b of both signs.
TEST(FuseMasks, ChangesNoBit) {
  const double values[] = {-1, -0.0, 0.0, 0.0, 1, 1, 2, std::numeric_limits<double>::quiet_NaN()};
  for (const char* const dtype : {"f32", "f64", "bf16", "f16"})
    for (const char* const norm : {"n, mean, var = batch_norm(x, w, b)", "n, mean, var = batch_norm(x, _, _)",
                                   "n = batch_norm_inference(x, w, b, m, v)"}) {
      const Program program = norm_and_relu(dtype, norm), fused = with_masks(program);
      ASSERT_EQ(count_of(fused, "relu_grad"), 0);
      std::uint64_t state = 1;
      const auto draw = [&](std::uint64_t most) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        return (state >> 40U) % most;
      };
      for (int round = 0; round < 100; ++round) {
        Interpreter plain(program), other(fused);
        const auto set = [&](const char* name, int i, double value) {
          plain.set(find_var(program, name), i, value);
          other.set(find_var(program, name), i, value);
        };
        for (int i = 0; i < 36; ++i) set("x", i, values[draw(round % 2 == 0 ? 7 : 8)]);
        for (int c = 0; c < 2; ++c) {
          set("w", c, static_cast<double>(draw(5)) - 2);
          set("b", c, static_cast<double>(draw(3)) - 1);
          set("m", c, static_cast<double>(draw(3)) - 1);
          set("v", c, static_cast<double>(draw(3)) / 2 + 0.5);
        }
        plain.run();
        other.run();
        for (const char* name : {"x@GRAD", "w@GRAD", "b@GRAD"}) {
          const VarId v = find_var(program, name);
          if (v == kNone) continue;
          ASSERT_EQ(std::memcmp(plain.memory(v).data(), other.memory(v).data(),
                                static_cast<std::size_t>(plain.memory(v).bytes())),
                    0)
              << dtype << ", " << norm << ", " << name << ", round " << round;
        }
      }
    }
}

TEST(FuseMasks, LeavesAMaskedGradientThatIsPinnedOrReadElsewhere) {
  const Program program = norm_and_relu("f32");
  EXPECT_EQ(with_masks(program, {.skip_vars = {"n@GRAD"}}), program);
  Program read = program;
  const VarId copy = add_var(read, {.name = "copy", .shape = {2, 3, 3, 2}});
  read.blocks[0].ops.push_back(
      {.type = "exp", .in = {find_var(read, "n@GRAD")}, .out = {copy}, .role = Role::Backward});
  EXPECT_EQ(with_masks(read), read);
}

TEST(FuseMasks, LeavesAReluOfAnythingElse) {
  const Program sum = norm_and_relu("f32", "n, mean, var = batch_norm(x, w, b)", "  z = add(n, x)\n  y = relu(z)\n");
  EXPECT_EQ(with_masks(sum), sum) << "the norm's output is not what relu saw";
  const Program other =
      norm_and_relu("f32", "n, mean, var = batch_norm(x, w, b)", "  z = scale(n) {a=2,b=0}\n  y = relu(z)\n");
  EXPECT_EQ(with_masks(other), other);
  const Program added = norm_and_relu("f32", "n, mean, var = batch_norm(x, w, b, x)");
  EXPECT_EQ(with_masks(added), added) << "what is added on the way counts";
}

TEST(FuseMasks, LeavesANormWhoseBiasIsUpdatedBefore) {
  Program program = norm_and_relu("f32");
  auto& ops = program.blocks[0].ops;
  const VarId b = find_var(program, "b"), rate = add_var(program, {.name = "rate", .kind = Kind::Input});
  ops.insert(ops.end() - 1, {.type = "sgd", .in = {b, b, rate}, .out = {b}, .role = Role::Optimize});
  EXPECT_EQ(with_masks(program), program);
}

/// A norm of x with scale w and bias `bias`, relu after it, and their gradients of `dy`; `ops` stands in between.
Program masked_by_hand(const std::string& ops, const std::string& bias, const std::string& dy) {
  return parse_program(
      "input x f32[4,2]\ninput e f32[4,2]\ninput rate f32[]\nparam w f32[2]\nparam b f32[2]\nparam p f32[4,2]\n"
      "temp c f32[2]\ntemp d f32[4,2]\ntemp n f32[4,2]\ntemp mean f32[2]\ntemp var f32[2]\ntemp y f32[4,2]\n"
      "temp g f32[4,2]\ntemp dx f32[4,2]\ntemp dw f32[2]\ntemp db f32[2]\nblock 0 {\n"
      "  c = reshape(b) {shape=[2]}\n  d = reshape(p) {shape=[4,2]}\n  n, mean, var = batch_norm(x, w, " +
      bias + ") {eps=1e-05}\n  y = relu(n)\n  g = relu_grad(y, " + dy + ") backward\n" + ops +
      "  dx, dw, db = batch_norm_grad(x, w, mean, var, g, _) {eps=1e-05} backward\n}\n");
}

TEST(FuseMasks, LeavesANormWhoseStatisticsChangeBefore) {
  const Program program = masked_by_hand("  mean = sgd(mean, w, rate) optimize\n", "c", "n");
  verify(program);
  EXPECT_EQ(with_masks(program), program);
}

TEST(FuseMasks, LeavesWhatShowsAParameterThatIsUpdatedBefore) {
  const std::string update_b = "  b = sgd(b, w, rate) optimize\n", update_p = "  p = sgd(p, e, rate) optimize\n";
  for (const Program& program : {masked_by_hand(update_b, "c", "n"), masked_by_hand(update_p, "b", "d")}) {
    verify(program);
    EXPECT_EQ(with_masks(program), program);
  }
  EXPECT_NE(with_masks(masked_by_hand(update_p, "c", "n")), masked_by_hand(update_p, "c", "n"));
}

}  // namespace
}  // namespace lethe::testing
