#include <gtest/gtest.h>

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
