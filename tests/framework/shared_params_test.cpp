#include "framework/ranks/shared_params.h"

#include <gtest/gtest.h>

#include "framework/language/op_def.h"
#include "framework/language/text.h"
#include "framework/language/verify.h"
#include "tests/memopt/op_order.h"

namespace lethe::testing {
namespace {

/// Two products, their gradients from the end, and updates of shares: rank 1 of 2.
constexpr const char* kTwoProducts =
    "input x f32[3]\ninput lr f32[]\nparam v f32[3]\nparam w f32[3]\ntemp y f32[3]\ntemp z f32[3]\ntemp dw f32[3]\n"
    "temp dy f32[3]\ntemp dv f32[3]\n"
    "block 0 {\n  y = mul(x, v)\n  z = mul(y, w)\n  dw = mul(y, z) backward\n  dy = mul(w, z) backward\n"
    "  dv = mul(dy, v) backward\n"
    "  w = sgd(w, dw, lr) {rank=1, ranks=2, weight_decay=0.0} optimize\n"
    "  v = sgd(v, dv, lr) {rank=1, ranks=2, weight_decay=0.0} optimize\n}\n";

TEST(SharedParams, AreGatheredAfterTheUpdatesOfABucket) {
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

/// What `text`, which has vars of three elements, becomes for rank 1 of 2, which share `params`.
std::vector<std::string> shared_order(const std::string& vars, const std::string& ops,
                                      const std::vector<std::string>& params) {
  std::string text = "input x f32[3]\n";
  for (const std::string& param : params) text += "param " + param + " f32[3]\n";
  Program program = parse_program(text + vars + "block 0 {\n" + ops + "}\n");
  std::vector<VarId> ids;
  for (const std::string& param : params) ids.push_back(find_var(program, param));
  share_params(program, ids, {.number = 1, .of = 2});
  verify(program);
  for (const VarId v : ids) EXPECT_EQ(program.vars[v].shape, Shape{2});
  return order_of(program);
}

// Between the forward and the backward op that read w nothing else is gathered: it stays.
TEST(SharedParams, AreGatheredOneAheadInForwardAndAgainInBackward) {
  EXPECT_EQ(shared_order("temp y f32[3]\ntemp z f32[3]\ntemp dw f32[3]\ntemp dy f32[3]\ntemp dv f32[3]\n",
                         "  y = mul(x, v)\n  z = mul(y, w)\n  dw = mul(y, z) backward\n  dy = mul(w, z) backward\n"
                         "  dv = mul(dy, v) backward\n",
                         {"v", "w"}),
            (std::vector<std::string>{"all_gather_start v@WHOLE/pending", "all_gather_wait v@WHOLE",
                                      "all_gather_start w@WHOLE/pending", "mul y", "all_gather_wait w@WHOLE",
                                      "all_gather_start v@WHOLE/pending.2", "mul z", "mul dw", "mul dy",
                                      "all_gather_wait v@WHOLE.2", "mul dv"}));
}

TEST(SharedParams, OfOneOpAreGatheredTogether) {
  EXPECT_EQ(shared_order("temp y f32[3]\ntemp z f32[3]\n", "  y = mul(x, v)\n  z = mul(w, u)\n", {"v", "w", "u"}),
            (std::vector<std::string>{"all_gather_start v@WHOLE/pending", "all_gather_wait v@WHOLE",
                                      "all_gather_start w@WHOLE/pending", "all_gather_start u@WHOLE/pending", "mul y",
                                      "all_gather_wait w@WHOLE", "all_gather_wait u@WHOLE", "mul z"}));
}

// A batch in two parts; backward of the first reads w alone.
TEST(SharedParams, AreDroppedBetweenThePartsOfABatch) {
  EXPECT_EQ(shared_order("temp y f32[3]\ntemp z f32[3]\ntemp dy f32[3]\ntemp y2 f32[3]\ntemp z2 f32[3]\n",
                         "  y = mul(x, v)\n  z = mul(y, w)\n  dy = mul(w, z) backward\n  y2 = mul(dy, v)\n"
                         "  z2 = mul(y2, w)\n",
                         {"v", "w"}),
            (std::vector<std::string>{"all_gather_start v@WHOLE/pending", "all_gather_wait v@WHOLE",
                                      "all_gather_start w@WHOLE/pending", "mul y", "all_gather_wait w@WHOLE",
                                      "all_gather_start v@WHOLE/pending.2", "mul z", "mul dy",
                                      "all_gather_wait v@WHOLE.2", "all_gather_start w@WHOLE/pending.2", "mul y2",
                                      "all_gather_wait w@WHOLE.2", "mul z2"}));
}

}  // namespace
}  // namespace lethe::testing
