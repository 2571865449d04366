#include <gtest/gtest.h>

#include "framework/builder/builder.h"
#include "tests/support/interpreter.h"
#include "tests/support/run_op.h"

namespace lethe::testing {
namespace {

TEST(Fc, MultipliesByTheRowsOfTheWeight) {
  const Tensor weight{{2, 3}, {1, 0, -1, 1, 10, 100}}, bias{{2}, {0.5, 1000}};
  EXPECT_EQ(run_op("fc", {counted({2, 3}), weight, {}}), (Tensor{{2, 2}, {-2, 321, -2, 654}}));
  EXPECT_EQ(run_op("fc", {counted({2, 3}), weight, bias}), (Tensor{{2, 2}, {-1.5, 1321, -1.5, 1654}}));
}

TEST(Fc, SaysWhatDoesNotFit) {
  EXPECT_EQ(complaint("fc", {{2, 3}, {5, 4}}), "fc: input has 3 columns, weight expects 4");
  EXPECT_EQ(complaint("fc", {{2, 3, 1}, {5, 3}}), "fc: input is [2,3,1], expected a matrix [N,inputs]");
  EXPECT_EQ(complaint("fc", {{2, 3}, {5, 3}, {4}}), "fc: bias is f32[4], expected f32[5]");
  EXPECT_EQ(complaint("fc", {{2, 3}, {5, 3}}, {}, {{1, DType::bf16}}), "fc: weight is bf16, input f32");
  EXPECT_EQ(complaint("fc", {{2, 3}, {5, 3}}, {}, {{0, DType::bf16}}), "fc: weight is f32, input bf16");
  EXPECT_EQ(complaint("fc", {{2, 2048}, {2048, 2048}}, {}, {{0, DType::bf16}}), "fc: weight is f32, input bf16")
      << "it is no parameter";
}

TEST(FcLayer, FlattensAnImageAndRemembersItsColumns) {
  Builder net({.batch = 2});
  const VarId y = net.layer("fc", net.input("image", {4, 5, 3}), {{"out", 10}}, "f");
  EXPECT_EQ(net.shape(y), (Shape{2, 10}));
  const Network network = net.finish();
  ASSERT_EQ(network.params.size(), 2u);
  EXPECT_EQ(network.program.vars[network.params[0].var].shape, (Shape{10, 60}));
  EXPECT_EQ(network.params[0].layout, (FileLayout{FileLayout::FlatImage, {4, 5, 3}}));
  EXPECT_TRUE(network.params[0].decay);
  EXPECT_FALSE(network.params[1].decay);
}

TEST(FcLayer, RemembersColumnsAfterWhatKeepsThemAndNotAfterAProduct) {
  Builder net({.batch = 2});
  const VarId flat = net.layer("flatten", net.input("image", {4, 5, 3}), {}, "flat");
  const VarId first = net.layer("fc", net.layer("relu", flat), {{"out", 60}, {"bias", 0}}, "first");
  net.layer("fc", net.layer("relu", first), {{"out", 60}, {"bias", 0}}, "second");
  const Network network = net.finish();
  EXPECT_EQ(network.params[0].layout, (FileLayout{FileLayout::FlatImage, {4, 5, 3}}));
  EXPECT_EQ(network.params[1].layout, FileLayout{}) << "of as many columns as the image has numbers";
}

TEST(FcLayer, OfAMatrixHasNoImage) {
  Builder net({.batch = 2});
  net.layer("fc", net.input("row", {7}), {{"out", 3}, {"bias", 0}}, "f");
  const Network network = net.finish();
  ASSERT_EQ(network.params.size(), 1u);
  EXPECT_EQ(network.params[0].layout, FileLayout{});
}

TEST(FcLayer, UnflattenedWorksOnTheLastAxisOfEachToken) {
  for (const Shape& sample : {Shape{7}, Shape{4, 7}, Shape{4, 5, 7}}) {
    Builder net({.batch = 2});
    const VarId y = net.layer("fc", net.input("tokens", sample), {{"out", 3}, {"flatten", 0}}, "f");
    Shape expected = sample;
    expected.insert(expected.begin(), 2);
    expected.back() = 3;
    EXPECT_EQ(net.shape(y), expected);
    const Network network = net.finish();
    ASSERT_EQ(network.params.size(), 2u);
    EXPECT_EQ(network.program.vars[network.params[0].var].shape, (Shape{3, 7}));
    EXPECT_EQ(network.params[0].layout, FileLayout{}) << "as PyTorch's Linear has it";
    for (const Op& op : network.program.blocks[0].ops)
      EXPECT_TRUE(op.type == "fc" || op_def(op.type).is_view()) << op.type << " copies";
  }
}

TEST(FcLayer, UnflattenedGivesEachTokenWhatItGivesARow) {
  Builder net({.batch = 2, .dtype = DType::f64});
  const VarId tokens = net.input("tokens", {3, 4});
  const VarId rows = net.layer("reshape", tokens, {{"shape", Ints{-1, 4}}, {"batch", 1}});
  const VarId of_rows = net.layer("fc", rows, {{"out", 5}}, "f");
  const VarId of_tokens = net.layer("fc", tokens, {{"out", 5}, {"flatten", 0}, {"share", "f"}}, "g");
  const Network network = net.finish({of_tokens});
  Interpreter values(network.program);
  for (const VarId v : {tokens, network.params[0].var, network.params[1].var}) values.fill_uniform(v, -1, 1, 1);
  values.run();
  for (std::int64_t i = 0; i < 30; ++i) EXPECT_EQ(values.number(of_tokens, i), values.number(of_rows, i)) << i;
}

TEST(Matmul, TransposesWhatItIsToldTo) {
  const Tensor a{{2, 3}, {1, 2, 3, 4, 5, 6}}, a_t{{3, 2}, {1, 4, 2, 5, 3, 6}};
  const Tensor b{{3, 2}, {1, 10, 2, 20, 3, 30}}, b_t{{2, 3}, {1, 2, 3, 10, 20, 30}};
  const Tensor product{{2, 2}, {14, 140, 32, 320}};
  EXPECT_EQ(run_op("matmul", {a, b}), product);
  EXPECT_EQ(run_op("matmul", {a_t, b}, {{"transpose_a", 1}}), product);
  EXPECT_EQ(run_op("matmul", {a, b_t}, {{"transpose_b", 1}}), product);
  EXPECT_EQ(run_op("matmul", {a_t, b_t}, {{"transpose_a", 1}, {"transpose_b", 1}}), product);
}

TEST(Matmul, MultipliesStacksPairwise) {
  EXPECT_EQ(run_op("matmul", {counted({2, 1, 2}), counted({2, 2, 1})}), (Tensor{{2, 1, 1}, {1 + 4, 9 + 16}}));
}

TEST(Matmul, SaysWhatDoesNotFit) {
  EXPECT_EQ(complaint("matmul", {{2, 3}, {4, 5}}), "matmul: first factor has 3 columns, second 4 rows");
  EXPECT_EQ(complaint("matmul", {{2, 2, 3}, {3, 3, 5}}),
            "matmul: no product of [2,2,3] and [3,3,5]: expected two matrices or two equal stacks of them");
  EXPECT_EQ(complaint("matmul", {{2}, {2}}),
            "matmul: no product of [2] and [2]: expected two matrices or two equal stacks of them");
  EXPECT_EQ(complaint("matmul", {{2, 3}, {3, 5}}, {}, {{0, DType::bf16}}), "matmul: first factor is bf16, second f32");
}

}  // namespace
}  // namespace lethe::testing
