// Attention with a learned mask and capped scores, and norms of groups: the memory stage changes no bit of them.
#include <gtest/gtest.h>

#include "framework/builder/builder.h"
#include "tests/memopt/same_result.h"

namespace lethe::testing {
namespace {

TrainingProgram of_masked_attention(DType dtype) {
  constexpr std::int64_t kSteps = 5, kChannels = 8;
  Builder net({.batch = 2, .dtype = dtype});
  const VarId x = net.input("x", {kSteps, kChannels});
  VarId rows = x;
  for (int block = 0; block < 2; ++block) {
    const VarId mask =
        net.layer("parameter", rows, {{"shape", Ints{2, block == 0 ? kSteps : 1, kSteps}}, {"layout", "plain"}});
    const VarId joined = net.layer("fc", rows, {{"out", 3 * kChannels}, {"flatten", 0}});
    const VarId seen = net.layer("attention", {joined, mask},
                                 {{"heads", 2}, {"mask", 1}, {"softcap", 3.0}, {"causal", block}, {"dropout", 0.25}});
    rows = net.layer("add", {rows, net.layer("group_norm", seen, {{"groups", 2}})});
  }
  net.loss("mse", net.layer("cumsum", rows, {{"axis", 0}}), net.input("target", {kSteps, kChannels}));
  return with_updates(with_backward(net.finish()), "adam");
}

TEST(MaskedAttention, GivesTheSameUnderAllSettings) {
  for (const DType dtype : {DType::f32, DType::bf16}) expect_the_same_under_all_settings(of_masked_attention(dtype), 2);
}

}  // namespace
}  // namespace lethe::testing
