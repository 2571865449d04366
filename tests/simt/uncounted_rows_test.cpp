// Gradients of cross entropy on a GPU, of rows whose labels do not count.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "framework/error.h"
#include "framework/language/op_def.h"
#include "framework/language/text.h"
#include "tests/support/interpreter.h"

namespace lethe::testing {
namespace {

/// Whatever stands in rows whose labels do not count, and however many threads have one.
TEST(UncountedRows, HaveGradientsOfZero) {
  for (const int classes : {10, 48, 600}) {
    const Program program =
        parse_program(message("input x bf16[9,", classes, "]\ninput l i32[9]\ninput d f32[9]\n", "temp g bf16[9,",
                              classes, "]\nblock 0 {\n", "  g = softmax_cross_entropy_grad(x, l, d) backward\n}\n"));
    Interpreter values(program);
    for (std::int64_t i = 0; i < 9 * classes; ++i)
      values.set(find_var(program, "x"), i, i % 3 == 0 ? std::nan("") : i % 3 == 1 ? INFINITY : -1.0);
    for (int row = 0; row < 9; ++row) {
      values.set(find_var(program, "l"), row, -1 - row);
      values.set(find_var(program, "d"), row, -2);
    }
    const Op& op = program.blocks[0].ops[0];
    const Trial got = try_op(values, op, *op_def(op.type).kernels.cuda({program, op, {.kind = DeviceKind::Cuda}}));
    EXPECT_EQ(got.harm, "") << "was written";
    const std::vector<std::byte> zeros(static_cast<std::size_t>(got.outputs[0].bytes()));
    EXPECT_EQ(std::memcmp(got.outputs[0].data(), zeros.data(), zeros.size()), 0) << classes << " classes";
  }
}

}  // namespace
}  // namespace lethe::testing
