#include "memopt/passes/mask_sums.h"

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

/// y = relu(x), read by `readers`, whose results are added up; with the gradient of x.
Program read_often(const std::string& dtype, const std::string& readers = "  a = exp(y)\n  b = square(y)\n") {
  std::string text = "input x " + dtype + "[37]\n";
  for (const char* name : {"y", "a", "b", "c", "s"}) text += "temp " + std::string(name) + " " + dtype + "[37]\n";
  Program program = parse_program(text + "temp loss " + dtype + "[]\nblock 0 {\n  y = relu(x)\n" + readers +
                                  "  s = add(a, b)\n  loss = mean(s)\n}\n");
  append_backward(program, find_var(program, "loss"), {find_var(program, "x")});
  return program;
}

Program with_sums_masked(const Program& program, const PinOptions& pins = {}) {
  Program made = mask_sums(program, collect_pins(program, pins));
  verify(made);
  return made;
}

TEST(MaskSums, TheMaskAddsUp) {
  const Program program = read_often("f32"), masked = with_sums_masked(program);
  const std::vector<std::string> before = order_of(program), after = order_of(masked);
  ASSERT_EQ(before[before.size() - 2].substr(0, 5), "sum_n");
  EXPECT_EQ(after.size() + 1, before.size());
  EXPECT_EQ(after.back(), "relu_grad x@GRAD");
  EXPECT_EQ(masked.blocks[0].ops.back().in.size(), 3U);
}

TEST(MaskSums, ChangesNoBit) {
  const double values[] = {-1, -0.0, 0.0, 0.3, 1, 2.7, 5, std::numeric_limits<double>::quiet_NaN()};
  for (const char* const dtype : {"f32", "f64", "bf16", "f16"}) {
    const Program program = read_often(dtype), masked = with_sums_masked(program);
    Interpreter plain(program), other(masked);
    for (int i = 0; i < 37; ++i)
      for (Interpreter* each : {&plain, &other}) each->set(find_var(program, "x"), i, values[i * i % 8]);
    plain.run();
    other.run();
    const VarId v = find_var(program, "x@GRAD");
    EXPECT_EQ(
        std::memcmp(plain.memory(v).data(), other.memory(v).data(), static_cast<std::size_t>(plain.memory(v).bytes())),
        0)
        << dtype;
  }
}

TEST(MaskSums, LeavesASumThatIsPinnedReadElsewhereOrOfMore) {
  const Program program = read_often("f32");
  const VarId sum = program.blocks[0].ops.back().in[1];
  EXPECT_EQ(with_sums_masked(program, {.skip_vars = {program.vars[sum].name}}), program);
  Program read = program;
  const VarId copy = add_var(read, {.name = "copy", .shape = {37}});
  read.blocks[0].ops.push_back({.type = "exp", .in = {sum}, .out = {copy}, .role = Role::Backward});
  EXPECT_EQ(with_sums_masked(read), read);
  const Program of_three = read_often("f32", "  a = exp(y)\n  c = square(y)\n  b = mul(c, y)\n");
  ASSERT_EQ(of_three.blocks[0].ops[of_three.blocks[0].ops.size() - 2].in.size(), 3U);
  EXPECT_EQ(with_sums_masked(of_three), of_three);
}

TEST(MaskSums, LeavesASumOfWhatIsUpdatedBefore) {
  const Program program = parse_program(
      "input x f32[37]\nparam p f32[37]\ninput rate f32[]\ntemp y f32[37]\ntemp s f32[37]\ntemp g f32[37]\n"
      "block 0 {\n  y = relu(x)\n  s = sum_n(p, y)\n  p = sgd(p, y, rate) optimize\n  g = relu_grad(y, s)\n}\n");
  verify(program);
  EXPECT_EQ(with_sums_masked(program), program);
}

TEST(MaskSums, LeavesASumOfWhatShowsAParameter) {
  const Program program = parse_program(
      "input x f32[37]\nparam p f32[37]\ninput rate f32[]\ntemp v f32[37]\ntemp y f32[37]\ntemp s f32[37]\n"
      "temp g f32[37]\nblock 0 {\n  y = relu(x)\n  v = reshape(p) {shape=[37]}\n  s = sum_n(v, y)\n"
      "  p = sgd(p, y, rate) optimize\n  g = relu_grad(y, s)\n}\n");
  verify(program);
  EXPECT_EQ(with_sums_masked(program), program);
}

}  // namespace
}  // namespace lethe::testing
