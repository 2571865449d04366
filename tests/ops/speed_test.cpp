// What must not become slow unseen: ops in bf16, against the same in f32 in turn, so that other work on the machine
// slows both. A loop that the compiler stops to vectorise for bf16 takes several times as long.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "framework/error.h"
#include "framework/text.h"
#include "tests/support/interpreter.h"

namespace lethe::testing {
namespace {

#if defined(__SANITIZE_ADDRESS__) || !defined(NDEBUG)
constexpr bool kIsFast = false;
#else
constexpr bool kIsFast = true;
#endif

/// Each of batch norm's ops, those of its gradient behind relu and behind a sum.
Program norms(const std::string& dtype) {
  const std::string images = dtype + "[8192,64]\n", channels = "f32[64]\n";
  return parse_program("input x " + images + "input dy " + images + "input more " + images + "param scale " + channels +
                       "param bias " + channels + "temp y " + images + "temp mean " + channels + "temp var " +
                       channels + "temp dx " + images + "temp ds " + channels + "temp db " + channels + "temp dxj " +
                       images + "temp dsj " + channels + "temp dbj " + channels + "temp masked " + images +
                       "block 0 {\n  y, mean, var = batch_norm(x, scale, bias) {eps=1e-5}\n"
                       "  dx, ds, db = batch_norm_grad(x, scale, mean, var, dy, bias) {eps=1e-5, masked=1} backward\n"
                       "  dxj, dsj, dbj, masked = batch_norm_join_grad(x, scale, mean, var, dy, y, more) {eps=1e-5} "
                       "backward\n}\n");
}

/// The least of some runs, by op.
std::vector<double> ratios_of_bf16_to_f32() {
  const Program low = norms("bf16"), wide = norms("f32");
  Interpreter of_low(low, {.threads = 1}), of_wide(wide, {.threads = 1});
  for (Interpreter* values : {&of_low, &of_wide})
    for (const char* name : {"x", "dy", "more", "scale", "bias"}) values->fill_uniform(find_var(low, name), -1, 1, 1);
  std::vector<double> ratios;
  for (std::size_t op = 0; op < low.blocks[0].ops.size(); ++op) {
    const auto seconds = [&](Interpreter& values) {
      const auto begin = std::chrono::steady_clock::now();
      values.run_op(op);
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
    double least_low = 1e9, least_wide = 1e9;
    for (int round = 0; round < 9; ++round) {
      least_low = std::min(least_low, seconds(of_low));
      least_wide = std::min(least_wide, seconds(of_wide));
    }
    ratios.push_back(least_low / least_wide);
  }
  return ratios;
}

TEST(Speed, NormsInBf16TakeLittleLongerThanInF32) {
  if (!kIsFast) GTEST_SKIP() << "not built for speed";
  for (const double ratio : ratios_of_bf16_to_f32()) EXPECT_LT(ratio, 2);
}

}  // namespace
}  // namespace lethe::testing
