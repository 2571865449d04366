#include "framework/language/block_formats.h"

#include <gtest/gtest.h>

#include "framework/error.h"
#include "framework/language/verify.h"

namespace lethe {
namespace {

std::int64_t bytes_in(DType dtype, const Shape& shape) {
  return bytes_of(Var{.name = "w", .shape = shape, .dtype = dtype});
}

TEST(BlockFormats, TakeTheBytesThatTheirSourcesSay) {
  const Shape shape = {64, 4096};
  const std::int64_t n = elements(shape);
  EXPECT_EQ(bytes_in(DType::int8, shape), n + 64 * 4);
  EXPECT_EQ(bytes_in(DType::q8_0, shape), n / 32 * 34);
  EXPECT_EQ(bytes_in(DType::q4_0, shape), n / 32 * 18);
  EXPECT_EQ(bytes_in(DType::q4_1, shape), n / 32 * 20);
  EXPECT_EQ(bytes_in(DType::nf4, shape), n / 2 + n / 64 * 4);
  EXPECT_EQ(bytes_in(DType::nf4_dq, shape), n / 2 + n / 64 + n / (64 * 256) * 4 + 4 + 1024);
  EXPECT_EQ(bytes_in(DType::dynamic8, shape), n + n / 256 * 4);
}

TEST(BlockFormats, TakeTheLastBlockWhole) {
  EXPECT_EQ(bytes_in(DType::nf4, {1, 65}), 2 * 36);
  EXPECT_EQ(bytes_in(DType::udynamic8, {257}), 2 * 260);
  EXPECT_EQ(bytes_in(DType::int8, {3, 5}), 3 * (8 + 4));
}

TEST(BlockFormats, AreOfParametersAndStatesAlone) {
  const auto complaint = [](Var var) -> std::string {
    Program program;
    add_var(program, std::move(var));
    try {
      verify(program);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(complaint({.name = "w", .shape = {2, 32}, .dtype = DType::q4_0, .kind = Kind::Param}), "");
  EXPECT_EQ(complaint({.name = "w", .shape = {2, 33}, .dtype = DType::q4_0, .kind = Kind::Param}),
            "'w': q4_0 takes rows of a multiple of 32, not of 33");
  EXPECT_EQ(complaint({.name = "w", .shape = {32}, .dtype = DType::int8, .kind = Kind::Param}),
            "'w': int8 is for matrices, not for [32]");
  EXPECT_EQ(complaint({.name = "x", .shape = {2, 32}, .dtype = DType::q4_0, .kind = Kind::Input}),
            "'x' is q4_0[2,32], which only parameters and states are, without gaps");
}

}  // namespace
}  // namespace lethe
