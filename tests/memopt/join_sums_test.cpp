#include "memopt/passes/join_sums.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "framework/language/text.h"
#include "framework/language/verify.h"
#include "models/network.h"
#include "tests/support/interpreter.h"
#include "tests/support/random_program.h"

namespace lethe::testing {
namespace {

const std::string kAdded = "  s = add(a, b)\n";
const std::string kLayerNormOfSum = "  y, m, v = layer_norm(s, w, _) {eps=1e-05}\n";
const std::string kRmsNormOfSum = "  y, v = rms_norm(s, w) {eps=1e-05}\n";
const std::string kReader = "  t = mul(s, y)\n";

/// Rows of `width` channels, a sum of which a norm and others read.
Program sum_and_norm(const std::string& ops, const std::string& dtype = "f32", int width = 16) {
  const std::string wide = dtype == "f64" ? "f64" : "f32", of_rows = message("[3,", width, "]\n");
  std::string text;
  for (const char* name : {"input a ", "input b ", "temp s ", "temp y ", "temp t ", "temp u "})
    text += name + dtype + of_rows;
  return parse_program(text + "input c " + dtype + message("[1,", width, "]\nparam w ") + wide +
                       message("[", width, "]\n") + "temp m " + wide + "[3]\ntemp v " + wide + "[3]\nblock 0 {\n" +
                       ops + "}\n");
}

Program with_sums_in_norms(const Program& program) {
  Program made = join_sums(program);
  verify(made);
  return made;
}

TEST(JoinSums, TheNormMakesTheSum) {
  EXPECT_EQ(with_sums_in_norms(sum_and_norm(kAdded + kLayerNormOfSum + kReader)),
            sum_and_norm("  y, m, v, s = layer_norm(a, w, _, b) {eps=1e-05}\n" + kReader));
  EXPECT_EQ(with_sums_in_norms(sum_and_norm(kAdded + kRmsNormOfSum + kReader)),
            sum_and_norm("  y, v, s = rms_norm(a, w, b) {eps=1e-05}\n" + kReader));
}

TEST(JoinSums, ChangesNoBit) {
  for (const char* const dtype : {"f32", "f64", "bf16", "f16"})
    for (const std::string& norm : {kLayerNormOfSum, kRmsNormOfSum}) {
      const Program plain = sum_and_norm(kAdded + norm + kReader, dtype, 130), made = with_sums_in_norms(plain);
      ASSERT_EQ(made.blocks[0].ops.size(), 2U);
      Interpreter before(plain), after(made);
      for (Interpreter* values : {&before, &after}) {
        std::uint64_t stream = 0;
        for (const char* name : {"a", "b", "w"}) values->fill_uniform(find_var(plain, name), -2, 2, ++stream);
        values->run();
      }
      for (const char* name : {"s", "y", "v", "t"}) {
        const Guarded &a = before.memory(find_var(plain, name)), &b = after.memory(find_var(plain, name));
        EXPECT_EQ(std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.bytes())), 0) << dtype << ", " << name;
      }
    }
}

TEST(JoinSums, LeavesWhatIsReadBeforeOrChangesAndWhatBroadcasts) {
  for (const std::string& ops : {
           kAdded + "  u = exp(s)\n" + kLayerNormOfSum,                  // another reads it first
           "  s = add(a, c)\n" + kLayerNormOfSum + kReader,              // not of one shape
           "  s = mul(a, b)\n" + kLayerNormOfSum + kReader,              // no sum
           "  s = add(a, b) {activation=\"relu\"}\n" + kLayerNormOfSum,  // not as it is
       }) {
    SCOPED_TRACE(ops);
    const Program program = sum_and_norm(ops);
    EXPECT_EQ(with_sums_in_norms(program), program);
  }
}

TEST(JoinSums, InATransformerNoNormReadsASumOfAnotherOp) {
  const Program made =
      with_sums_in_norms(with_backward(load_network("transformer", {.batch = 2, .training = true})).network.program);
  const auto count = [&](const auto& is) { return std::ranges::count_if(made.blocks[0].ops, is); };
  EXPECT_EQ(count([](const Op& op) { return op.type == "layer_norm" && op.out.size() == 4; }), 2) << "two in one layer";
}

}  // namespace
}  // namespace lethe::testing
