#include "memopt/passes/fuse_sums.h"

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

/// Gradients of rows x whose norms meet another gradient g; `ops` has s, t and what they are made of.
Program norms_of_rows(const std::string& ops, const std::string& dtype = "f32") {
  const std::string wide = dtype == "f64" ? "f64" : "f32";
  std::string text;
  for (const char* name : {"input x ", "input g ", "input e ", "temp d ", "temp s ", "temp t "})
    text += name + dtype + "[3,16]\n";
  for (const char* name : {"param w ", "temp p ", "temp b "}) text += name + wide + "[16]\n";
  for (const char* name : {"input m ", "input i "}) text += name + wide + "[3]\n";
  return parse_program(text + "block 0 {\n" + ops + "}\n");
}

constexpr const char* kLayerNorm = "  d, p, b = layer_norm_grad(x, w, m, i, e) backward\n";
constexpr const char* kRmsNorm = "  d, p = rms_norm_grad(x, w, i, e) backward\n";
constexpr const char* kSum = "  s = sum_n(g, d) backward\n";

Program summed(const Program& program, const PinOptions& pins = {}) {
  Program made = fuse_sums(program, collect_pins(program, pins));
  verify(made);
  return made;
}

TEST(FuseSums, TheGradientOfANormOfRowsAddsAnotherGradient) {
  EXPECT_EQ(summed(norms_of_rows(std::string(kLayerNorm) + kSum)),
            norms_of_rows("  s, p, b = layer_norm_grad(x, w, m, i, e, g) backward\n"));
  EXPECT_EQ(summed(norms_of_rows(std::string(kRmsNorm) + "  s = sum_n(d, g) backward\n")),
            norms_of_rows("  s, p = rms_norm_grad(x, w, i, e, g) backward\n"));
}

TEST(FuseSums, ChangesNoBit) {
  for (const char* const dtype : {"f32", "f64", "bf16", "f16"})
    for (const char* const norm : {kLayerNorm, kRmsNorm}) {
      const Program plain = norms_of_rows(std::string(norm) + kSum, dtype), fused = summed(plain);
      ASSERT_EQ(fused.blocks[0].ops.size(), 1U);
      Interpreter before(plain), after(fused);
      for (Interpreter* values : {&before, &after}) {
        std::uint64_t stream = 0;
        for (const char* name : {"x", "g", "e", "w", "m", "i"})
          values->fill_uniform(find_var(plain, name), -2, 2, ++stream);
        values->run();
      }
      for (const char* name : {"s", "p"}) {
        const Guarded &a = before.memory(find_var(plain, name)), &b = after.memory(find_var(plain, name));
        EXPECT_EQ(std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.bytes())), 0) << dtype << ", " << name;
      }
    }
}

TEST(FuseSums, LeavesSumsOfThreeWhatIsReadElsewhereAndWhatIsPinned) {
  for (const char* const sum :
       {"  s = sum_n(g, d, e) backward\n", "  s = sum_n(g, d) backward\n  t = exp(d) backward\n",
        "  t = exp(g) backward\n  s = sum_n(t, d) backward\n"}) {
    const Program program = norms_of_rows(std::string(kLayerNorm) + sum);
    EXPECT_EQ(summed(program), program);
  }
  const Program program = norms_of_rows(std::string(kLayerNorm) + kSum);
  EXPECT_EQ(summed(program, {.skip_vars = {"d"}}), program);
}

TEST(FuseSums, InATransformerNoGradientsOfNormsAreAddedAfterwards) {
  const Program program = with_backward(load_network("transformer", {.batch = 2, .training = true})).network.program;
  const auto sums = [](const Program& of) { return std::ranges::count(of.blocks[0].ops, "sum_n", &Op::type); };
  EXPECT_EQ(sums(program) - sums(summed(program)), 2) << "one layer, two norms beside which x goes on";
}

}  // namespace
}  // namespace lethe::testing
