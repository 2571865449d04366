// Tests the tester: what a kernel does wrong with memory is seen.
#include "tests/support/interpreter.h"

#include <gtest/gtest.h>

#include <cstring>

namespace lethe::testing {
namespace {

constexpr std::int64_t kCount = 5;

/// A program of one op: the sum of two vectors, `a` and `b`.
struct Sum {
  Sum() {
    const VarId a = add_var(program, {.name = "a", .shape = {kCount}, .dtype = DType::f64, .kind = Kind::Input});
    const VarId b = add_var(program, {.name = "b", .shape = {kCount}, .dtype = DType::f64, .kind = Kind::Input});
    const VarId y = add_var(program, {.name = "y", .shape = {kCount}, .dtype = DType::f64});
    if (!find_op("test_sum"))
      const Register op{{.type = "test_sum", .inputs = {"a", "b"}, .outputs = {"y"}, .infer = same_as_first}};
    program.blocks[0].ops.push_back({.type = "test_sum", .in = {a, b}, .out = {y}});
  }
  /// Runs `body(a, b, y)` as the op's kernel.
  template <class Body>
  Trial try_kernel(Body body, std::byte fill = kUnwritten, const std::vector<InPlace>& aliased = {}) const {
    Interpreter values(program);
    values.fill_uniform(0, -1, 1, 0);
    values.fill_uniform(1, -1, 1, 1);
    const auto kernel = make_kernel([body](const KernelArgs& args) {
      body(static_cast<double*>(args.inputs[0]), static_cast<double*>(args.inputs[1]), args.out<double>(0));
    });
    return try_op(values, program.blocks[0].ops[0], *kernel, fill, aliased);
  }
  Program program;
};

void add(const double* a, const double* b, double* y) {
  for (std::int64_t i = 0; i < kCount; ++i) y[i] = a[i] + b[i];
}

TEST(TryOp, FindsNothingWrongWithARightKernel) {
  const Sum sum;
  const Trial nan = sum.try_kernel(add), other = sum.try_kernel(add, std::byte{0xCD});
  EXPECT_EQ(nan.harm, "");
  EXPECT_TRUE(nan.outputs[0].holds_same(other.outputs[0]));
  EXPECT_TRUE(nan.outputs[0].holds_same(sum.try_kernel(add, kUnwritten, {{.in = 1, .out = 0}}).outputs[0]));
}

TEST(TryOp, FindsAnOutputThatIsNotWhollyWritten) {
  const auto all_but_last = [](const double* a, const double* b, double* y) {
    for (std::int64_t i = 0; i + 1 < kCount; ++i) y[i] = a[i] + b[i];
  };
  const Trial nan = Sum().try_kernel(all_but_last), other = Sum().try_kernel(all_but_last, std::byte{0xCD});
  EXPECT_FALSE(nan.outputs[0].holds_same(other.outputs[0]));
}

TEST(TryOp, FindsAChangedInput) {
  const auto scribble = [](double* a, const double* b, double* y) {
    add(a, b, y);
    a[2] = 0;
  };
  EXPECT_EQ(Sum().try_kernel(scribble).harm, "input 0");
  EXPECT_EQ(Sum().try_kernel(scribble, kUnwritten, {{.in = 1, .out = 0}}).harm, "input 0");
}

#if !defined(__SANITIZE_ADDRESS__)  // which stops the program at once
TEST(TryOp, FindsWritesJustAfterAndBefore) {
  const auto after = [](const double* a, const double* b, double* y) {
    add(a, b, y);
    const double extra = 1;
    std::memcpy(reinterpret_cast<std::byte*>(y + kCount), &extra, 1);
  };
  EXPECT_EQ(Sum().try_kernel(after).harm, "memory beside output 0");
  const auto before = [](double* a, const double* b, double* y) {
    add(a, b, y);
    a[-1] = 0;
  };
  EXPECT_EQ(Sum().try_kernel(before).harm, "memory beside input 0");
}
#endif

TEST(TryOp, FindsAnOpThatCannotRunInPlace) {
  const auto backwards = [](const double* a, const double* b, double* y) {
    for (std::int64_t i = 0; i < kCount; ++i) y[i] = a[kCount - 1 - i] + b[i];
  };
  const Trial apart = Sum().try_kernel(backwards);
  EXPECT_FALSE(apart.outputs[0].holds_same(Sum().try_kernel(backwards, kUnwritten, {{.in = 0, .out = 0}}).outputs[0]));
  EXPECT_TRUE(apart.outputs[0].holds_same(Sum().try_kernel(backwards, kUnwritten, {{.in = 1, .out = 0}}).outputs[0]));
}

}  // namespace
}  // namespace lethe::testing
