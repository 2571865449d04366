#include <gtest/gtest.h>

#include <map>

#include "framework/autodiff.h"
#include "framework/builder.h"
#include "tests/support/expect_error.h"
#include "tests/support/run_op.h"

namespace lethe::testing {
namespace {

TEST(Embedding, LooksUpTheRowOfEachId) {
  EXPECT_EQ(run_op("embedding", {{{2, 2}, {2, 0, 1, 2}, DType::i32}, counted({3, 2})}),
            (Tensor{{2, 2, 2}, {5, 6, 1, 2, 3, 4, 5, 6}}));
}

TEST(Embedding, GradientAddsUpRepeatedIdsAndIsZeroElsewhere) {
  EXPECT_EQ(run_op("embedding_grad", {{{3}, {2, 0, 2}, DType::i32}, counted({3, 2})}, {{"rows", 4}}),
            (Tensor{{4, 2}, {3, 4, 0, 0, 6, 8, 0, 0}}));
}

/// In the order of the ids, behind what is there: 2^24 + 1 is 2^24 in f32.
TEST(Embedding, GradientAddsToWhatIsThere) {
  const Tensor before{{4, 1}, {1, 2, 0x1p24, 4}, DType::f32};
  EXPECT_EQ(
      run_op("embedding_grad", {{{3}, {2, 0, 2}, DType::i32}, {{3, 1}, {1, 5, 1}, DType::f32}, before}, {{"rows", 4}})
          .values,
      (std::vector<double>{6, 2, 0x1p24, 4}));
  EXPECT_EQ(complaint("embedding_grad", {{3}, {3, 2}, {5, 2}}, {{"rows", 4}}, {{0, DType::i32}}),
            "embedding_grad: before is f32[5,2], expected f32[4,2]");
}

/// The head reads the table behind the embedding: its gradient comes first, and no op sums the two.
TEST(Embedding, GradientOfATableThatTheHeadSharesIsOneTable) {
  Builder net({.batch = 2});
  const VarId ids = net.input("ids", {3}, DType::i32), next = net.input("next", {3}, DType::i32);
  const VarId x = net.layer("embedding", ids, {{"vocab", 7}, {"out", 4}}, "tokens");
  net.loss("linear_cross_entropy", x, next, {.layer = {{"out", 7}, {"share", "tokens"}}});
  Network network = net.finish();
  const std::vector<ParamGrad> grads = append_backward(network.program, network.loss);
  std::map<std::string, int> ops;
  for (const Op& op : network.program.blocks[0].ops) ++ops[op.type];
  EXPECT_EQ(ops["sum_n"], 0);
  ASSERT_EQ(grads.size(), 1u);
  const Op& last = network.program.blocks[0].ops.back();
  EXPECT_EQ(last.type, "embedding_grad");
  EXPECT_EQ(last.out[0], grads[0].grad);
}

TEST(Embedding, RefusesAnIdThatIsNoRow) {
  EXPECT_TRUE(fails_with("embedding: id 3 at position 1 is not in the table of 3 rows", [] {
    run_op("embedding", {{{2}, {1, 3}, DType::i32}, counted({3, 2})});
  }));
}

TEST(Embedding, LayerMakesATable) {
  Builder net({.batch = 4});
  const VarId y = net.layer("embedding", net.input("words", {7}, DType::i32), {{"out", 16}, {"vocab", 100}});
  EXPECT_EQ(net.shape(y), (Shape{4, 7, 16}));
  EXPECT_EQ(net.parameters(), 1600);
}

}  // namespace
}  // namespace lethe::testing
