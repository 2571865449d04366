#include "memopt/passes/join_masks.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "framework/autodiff/autodiff.h"
#include "framework/language/text.h"
#include "framework/language/verify.h"
#include "memopt/passes/mask_sums.h"
#include "tests/memopt/op_order.h"
#include "tests/support/interpreter.h"

namespace lethe::testing {
namespace {

/// y = relu(n + x), n a batch norm of x, read by `readers`; with the gradients of x, w and b.
Program residual(const std::string& dtype, const std::string& readers = "  s = exp(y)\n") {
  const std::string wide = dtype == "f64" ? "f64" : "f32", image = dtype + "[2,3,3,2]\n", channels = wide + "[2]\n";
  std::string text = "input x " + image + "param w " + channels + "param b " + channels;
  for (const char* name : {"n", "z", "y", "c", "d", "s"}) text += "temp " + std::string(name) + " " + image;
  for (const char* name : {"mean", "var"}) text += "temp " + std::string(name) + " " + channels;
  Program program = parse_program(text + "temp loss " + dtype + "[]\nblock 0 {\n" +
                                  "  n, mean, var = batch_norm(x, w, b) {eps=1e-05}\n  z = add(n, x)\n  y = relu(z)\n" +
                                  readers + "  loss = mean(s)\n}\n");
  append_backward(program, find_var(program, "loss"),
                  {find_var(program, "x"), find_var(program, "w"), find_var(program, "b")});
  return program;
}
constexpr const char* kTwoReaders = "  c = exp(y)\n  d = square(y)\n  s = add(c, d)\n";

Program with_joins(const Program& program) {
  Program made = join_masks(program);
  verify(made);
  return made;
}

int position_of(const Program& program, const std::string& type) {
  const std::vector<Op>& ops = program.blocks[0].ops;
  for (std::size_t i = 0; i < ops.size(); ++i)
    if (ops[i].type == type) return static_cast<int>(i);
  return -1;
}

TEST(JoinMasks, TheNormsGradientMakesTheMaskedOne) {
  const Program program = residual("f32"), joined = with_joins(program);
  ASSERT_GE(position_of(program, "relu_grad"), 0);
  EXPECT_EQ(position_of(joined, "relu_grad"), -1);
  EXPECT_EQ(position_of(joined, "batch_norm_grad"), -1);
  const int at = position_of(joined, "batch_norm_join_grad");
  ASSERT_GE(at, 0);
  EXPECT_EQ(joined.vars[joined.blocks[0].ops[at].out[3]].name, "z@GRAD");
  EXPECT_EQ(joined.blocks[0].ops.size() + 1, program.blocks[0].ops.size());
}

TEST(JoinMasks, ChangesNoBit) {
  const double values[] = {-1, -0.0, 0.0, 0.3, 1, 1.7, 2, std::numeric_limits<double>::quiet_NaN()};
  for (const char* const dtype : {"f32", "f64", "bf16", "f16"})
    for (const char* const readers : {"  s = exp(y)\n", kTwoReaders})
      for (int round = 0; round < 20; ++round) {
        const Program program = residual(dtype, readers);
        const Program joined = with_joins(mask_sums(program, collect_pins(program, {})));
        Interpreter plain(program), other(joined);
        for (Interpreter* each : {&plain, &other}) {
          for (int i = 0; i < 36; ++i)
            each->set(find_var(program, "x"), i, values[(i * i + round * i) % (round % 2 == 0 ? 7 : 8)]);
          for (int c = 0; c < 2; ++c) {
            each->set(find_var(program, "w"), c, (round + c) % 5 - 2);
            each->set(find_var(program, "b"), c, (round + c) % 3 - 1);
          }
          each->run();
        }
        for (const char* name : {"z@GRAD", "x@GRAD", "w@GRAD", "b@GRAD"}) {
          const VarId v = find_var(program, name);
          ASSERT_NE(v, kNone) << name;
          ASSERT_EQ(std::memcmp(plain.memory(v).data(), other.memory(v).data(),
                                static_cast<std::size_t>(plain.memory(v).bytes())),
                    0)
              << dtype << ", " << readers << ", " << name << ", round " << round;
        }
      }
}

TEST(JoinMasks, LeavesAMaskThatAnotherOpReadsFirst) {
  Program program = residual("f32");
  auto& ops = program.blocks[0].ops;
  const VarId copy = add_var(program, {.name = "copy", .shape = {2, 3, 3, 2}});
  const int mask = position_of(program, "relu_grad");
  ops.insert(ops.begin() + mask + 1, {.type = "exp", .in = {ops[mask].out[0]}, .out = {copy}, .role = Role::Backward});
  EXPECT_EQ(with_joins(program), program);
}

TEST(JoinMasks, LeavesAMaskByWhatIsUpdatedMeanwhile) {
  Program program = residual("f32");
  auto& ops = program.blocks[0].ops;
  const int mask = position_of(program, "relu_grad");
  const VarId p = add_var(program, {.name = "p", .shape = {2, 3, 3, 2}, .kind = Kind::Param});
  const VarId rate = add_var(program, {.name = "rate", .kind = Kind::Input});
  ops[mask].in[1] = p;
  ops.insert(ops.begin() + mask + 1, {.type = "sgd", .in = {p, p, rate}, .out = {p}, .role = Role::Optimize});
  EXPECT_EQ(with_joins(program), program);
}

TEST(JoinMasks, LeavesAGradientThatReadsItTwiceOrIsMaskedAlready) {
  Program twice = residual("f32");
  std::vector<Op>& ops = twice.blocks[0].ops;
  ops[position_of(twice, "batch_norm_grad")].in[0] = ops[position_of(twice, "relu_grad")].out[0];
  EXPECT_EQ(with_joins(twice), twice);
  Program masked = residual("f32");
  masked.blocks[0].ops[position_of(masked, "batch_norm_grad")].attrs.set("masked", true);
  EXPECT_EQ(with_joins(masked), masked);
}

TEST(JoinMasks, LeavesAMaskOfWhatIsConcatenated) {
  Program program = residual("f32");
  const VarId both = add_var(program, {.name = "both", .shape = {2, 3, 3, 4}}), y = find_var(program, "y");
  program.blocks[0].ops.push_back(
      {.type = "concat", .in = {y, y}, .out = {both}, .attrs = {{"axis", std::int64_t{3}}}});
  EXPECT_EQ(join_masks(program), program);
}

}  // namespace
}  // namespace lethe::testing
