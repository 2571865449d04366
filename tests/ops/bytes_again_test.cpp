// What kernels move beyond each of their vars once, by which launches are counted (Kernel::bytes_again).
#include <gtest/gtest.h>

#include "framework/language/op_def.h"
#include "framework/run/prepared.h"

namespace lethe::testing {
namespace {

std::int64_t bytes_again(const std::string& type, const std::vector<Shape>& shapes, const Attrs& attrs,
                         DType first = DType::f32) {
  Program program;
  std::vector<VarId> in;
  for (const Shape& shape : shapes)
    in.push_back(
        add_var(program, {.name = "x", .shape = shape, .dtype = in.empty() ? first : DType::f32, .kind = Kind::Input}));
  append_op(program, 0, Role::Forward, type, in, attrs, "y");
  Prepared prepared{DeviceInfo{}};
  return prepared.kernel(program, program.blocks[0].ops.front()).bytes_again();
}

TEST(BytesAgain, AreThoseOfFurtherPasses) {
  const auto sum_of = [](std::size_t count) { return bytes_again("sum_n", std::vector<Shape>(count, {2, 5}), {}); };
  EXPECT_EQ(sum_of(1), 0);
  EXPECT_EQ(sum_of(4), 0) << "one round";
  EXPECT_EQ(sum_of(5), 2 * 40) << "the second round reads and writes what the first gave";
  EXPECT_EQ(sum_of(7), 2 * 40);
  EXPECT_EQ(sum_of(8), 4 * 40);
  const auto sum_over = [](const Ints& axes) { return bytes_again("sum", {{2, 3, 5, 7}}, {{"axes", axes}}); };
  EXPECT_EQ(sum_over({1, 2}), 0) << "one group of axes";
  EXPECT_EQ(sum_over({0, 2}), 2 * 2 * 3 * 7 * 4) << "the sums over axis 2, written and read";
  const Attrs ends{{"axes", Ints{0, 2}}, {"shape", Ints{2, 3, 5, 7}}};
  EXPECT_EQ(bytes_again("sum_grad", {{3, 7}}, ends), 2 * 2 * 3 * 7 * 4);
}

TEST(BytesAgain, AreASecondPassOverWhatANormReads) {
  const Attrs eps{{"eps", 1e-5}};
  constexpr std::int64_t kX = 6 * 5 * 4;
  EXPECT_EQ(bytes_again("batch_norm", {{6, 5}, {5}, {5}}, eps), kX) << "statistics, then x again";
  EXPECT_EQ(bytes_again("batch_norm_grad", {{6, 5}, {5}, {5}, {5}, {6, 5}}, eps), 2 * kX)
      << "sums, then x and dy again";
  EXPECT_EQ(bytes_again("layer_norm", {{6, 5}, {5}, {5}}, eps), 0) << "a row that is read again comes from a cache";
  EXPECT_EQ(bytes_again("layer_norm_grad", {{6, 5}, {5}, {6}, {6}, {6, 5}}, eps), 2 * kX);
}

TEST(BytesAgain, AreWhatIsWrittenOverZeros) {
  const Attrs pads{{"before", Ints{0, 1, 1, 0}}, {"after", Ints{0, 1, 1, 0}}};
  EXPECT_EQ(bytes_again("pad", {{2, 3, 3, 5}}, pads), 2 * 3 * 3 * 5 * 4);
  EXPECT_EQ(bytes_again("pad_grad", {{2, 5, 5, 5}}, pads), 0);
  EXPECT_EQ(bytes_again("embedding_grad", {{6}, {6, 5}}, {{"rows", 9}}, DType::i32), 2 * 6 * 5 * 4)
      << "the row of each id, read and written";
}

}  // namespace
}  // namespace lethe::testing
