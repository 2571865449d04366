#include "framework/shared_params.h"

#include <gtest/gtest.h>

#include "framework/op_def.h"
#include "framework/text.h"
#include "framework/verify.h"
#include "tests/memopt/op_order.h"

namespace lethe::testing {
namespace {

/// Two products, their gradients from behind, and updates of shares: rank 1 of 2.
constexpr const char* kTwoProducts =
    "input x f32[3]\ninput lr f32[]\nparam v f32[3]\nparam w f32[3]\ntemp y f32[3]\ntemp z f32[3]\ntemp dw f32[3]\n"
    "temp dy f32[3]\ntemp dv f32[3]\n"
    "block 0 {\n  y = mul(x, v)\n  z = mul(y, w)\n  dw = mul(y, z) backward\n  dy = mul(w, z) backward\n"
    "  dv = mul(dy, v) backward\n"
    "  w = sgd(w, dw, lr) {rank=1, ranks=2, weight_decay=0.0} optimize\n"
    "  v = sgd(v, dv, lr) {rank=1, ranks=2, weight_decay=0.0} optimize\n}\n";

TEST(SharedParams, AreGatheredBehindTheUpdatesOfABucket) {
  for (const std::int64_t bucket : {12, 24}) {
    Program program = parse_program(kTwoProducts);
    gather_updated(program, bucket);
    verify(program);
    const std::vector<std::string> order = order_of(program);
    const std::vector<std::string> end(order.begin() + 5, order.end());
    if (bucket == 12)
      EXPECT_EQ(end, (std::vector<std::string>{"sgd w", "gather_params_start w", "sgd v", "gather_params_start v",
                                               "gather_params_wait w", "gather_params_wait v"}));
    else
      EXPECT_EQ(end, (std::vector<std::string>{"sgd w", "sgd v", "gather_params_start w", "gather_params_wait w"}));
  }
}

TEST(SharedParams, AreGatheredOneAheadInForwardAndAgainInBackward) {
  Program program = parse_program(kTwoProducts);
  const VarId v = find_var(program, "v"), w = find_var(program, "w");
  program.blocks[0].ops.resize(5);  // its updates take shares of gradients, which only ranks have
  share_params(program, {v, w}, {.number = 1, .of = 2});
  verify(program);
  EXPECT_EQ(program.vars[v].shape, Shape{2});
  EXPECT_EQ(order_of(program),
            (std::vector<std::string>{"all_gather_start v@WHOLE/pending", "all_gather_wait v@WHOLE",
                                      "all_gather_start w@WHOLE/pending", "mul y", "all_gather_wait w@WHOLE",
                                      "all_gather_start w@WHOLE/pending.2", "mul z", "mul dw",
                                      "all_gather_wait w@WHOLE.2", "all_gather_start v@WHOLE/pending.2", "mul dy",
                                      "all_gather_wait v@WHOLE.2", "mul dv"}));
}

}  // namespace
}  // namespace lethe::testing
