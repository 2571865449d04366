#include <gtest/gtest.h>

#include <map>

#include "framework/autodiff/autodiff.h"
#include "framework/builder/builder.h"
#include "tests/ops/gradients_by_name.h"
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

/// In the order of the ids, after what is there: 2^24 + 1 is 2^24 in f32.
TEST(Embedding, GradientAddsToWhatIsThere) {
  const Tensor before{{4, 1}, {1, 2, 0x1p24, 4}, DType::f32};
  EXPECT_EQ(
      run_op("embedding_grad", {{{3}, {2, 0, 2}, DType::i32}, {{3, 1}, {1, 5, 1}, DType::f32}, before}, {{"rows", 4}})
          .values,
      (std::vector<double>{6, 2, 0x1p24, 4}));
  EXPECT_EQ(complaint("embedding_grad", {{3}, {3, 2}, {5, 2}}, {{"rows", 4}}, {{0, DType::i32}}),
            "embedding_grad: before is f32[5,2], expected f32[4,2]");
}

/// The head reads the table after the embedding: its gradient comes first, and no op sums the two.
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

/// All ops read the first parameter in place of theirs.
void share_the_first(Network& network) {
  for (Op& op : network.program.blocks[0].ops)
    for (VarId& in : op.in)
      if (in != kNone && network.program.vars[in].kind == Kind::Param) in = network.params[0].var;
}

/// By parameter, of a network with three tables of the same values, two to embed and one to predict; or with one for
/// all.
std::map<std::string, std::vector<double>> gradients_of_tables(bool shared) {
  Builder net({.batch = 2, .dtype = DType::f64});
  const Attrs table{{"vocab", 7}, {"out", 4}};
  const VarId ids = net.input("ids", {3}, DType::i32), more = net.input("more", {3}, DType::i32);
  const VarId next = net.input("next", {3}, DType::i32);
  const VarId first = net.layer("embedding", ids, table, "tokens"), second = net.layer("embedding", more, table);
  net.loss("linear_cross_entropy", net.layer("tanh", net.layer("add", {first, second})), next, {.layer = {{"out", 7}}});
  Network network = net.finish();
  if (shared) share_the_first(network);
  return gradients_by_name(std::move(network), 7);
}

TEST(Embedding, GradientOfATableOfThreeReadersIsTheSumOfWhatTheyGive) {
  const auto one = gradients_of_tables(true), three = gradients_of_tables(false);
  ASSERT_EQ(one.size(), 1u);
  ASSERT_EQ(three.size(), 3u);
  const std::vector<double>& got = one.at("tokens.weight");
  std::vector<double> sum(got.size());
  for (const auto& [name, gradient] : three) {
    ASSERT_EQ(gradient.size(), sum.size()) << name;
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += gradient[i];
  }
  for (std::size_t i = 0; i < sum.size(); ++i) EXPECT_NEAR(got[i], sum[i], 1e-12) << i;
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
