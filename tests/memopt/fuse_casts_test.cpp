#include "memopt/passes/fuse_casts.h"

#include <gtest/gtest.h>

#include <cstring>

#include "framework/language/text.h"
#include "framework/language/verify.h"
#include "tests/support/interpreter.h"

namespace lethe::testing {
namespace {

/// The gradient of w is made in `dtype` by `maker` and cast to f32, then w is updated by `from`.
Program update_of(const std::string& dtype, const std::string& from, const std::string& after = "") {
  const std::string low = dtype + "[2,3]\n", wide = "f32[2,3]\n";
  const std::string cast = from == "g" ? "  g = cast(low) {dtype=\"f32\"} backward\n" : "";
  return parse_program("input x " + low + "param w " + wide + "state v " + wide + "input rate f32[]\ntemp low " + low +
                       "temp g " + wide + "temp t " + wide + "block 0 {\n  low = exp(x) backward\n" + cast +
                       "  w, v = momentum(w, v, " + from + ", rate) {momentum=0.9} optimize\n" + after + "}\n");
}

Program without_casts(const Program& program, const PinOptions& pins = {}) {
  Program made = fuse_casts(program, collect_pins(program, pins));
  verify(made);
  return made;
}

TEST(FuseCasts, AnUpdateReadsAGradientAsItWasMade) {
  for (const char* const dtype : {"bf16", "f16"})
    EXPECT_EQ(without_casts(update_of(dtype, "g")), update_of(dtype, "low")) << dtype;
}

TEST(FuseCasts, ChangesNoBit) {
  for (const char* const dtype : {"bf16", "f16"}) {
    const Program plain = update_of(dtype, "g"), fused = without_casts(plain);
    ASSERT_NE(fused, plain);
    Interpreter before(plain), after(fused);
    for (Interpreter* values : {&before, &after}) {
      std::uint64_t stream = 0;
      for (const char* name : {"x", "w", "v", "rate"}) values->fill_uniform(find_var(plain, name), -1, 1, ++stream);
      values->run();
    }
    for (const char* name : {"w", "v"}) {
      const Guarded &a = before.memory(find_var(plain, name)), &b = after.memory(find_var(plain, name));
      EXPECT_EQ(std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.bytes())), 0) << dtype << ", " << name;
    }
  }
}

TEST(FuseCasts, LeavesAGradientThatIsReadElsewhereOrPinned) {
  const Program read = update_of("bf16", "g", "  t = exp(g)\n"), once = update_of("bf16", "g");
  EXPECT_EQ(without_casts(read), read);
  EXPECT_EQ(without_casts(once, {.skip_grads = true}), once);
  EXPECT_EQ(without_casts(once, {.skip_vars = {"g"}}), once);
}

TEST(FuseCasts, LeavesACastOfAnotherKind) {
  Program wider = update_of("f64", "g");
  EXPECT_EQ(without_casts(wider), wider);
}

}  // namespace
}  // namespace lethe::testing
