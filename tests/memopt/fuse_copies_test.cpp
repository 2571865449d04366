#include "memopt/passes/fuse_copies.h"

#include <gtest/gtest.h>

#include <cstring>

#include "framework/error.h"
#include "framework/language/text.h"
#include "framework/language/verify.h"
#include "memopt/options.h"
#include "tests/support/interpreter.h"

namespace lethe::testing {
namespace {

struct Products {
  std::string dtype = "bf16", between = {}, after = {};
};

/// y = x w^T and z = y w of a parameter that is copied in `dtype`, or of the parameter itself if that is `fused`.
Program products(const Products& c, bool fused = false) {
  const std::string in = c.dtype + "[2,1000]\n", out = c.dtype + "[2,1100]\n", low = c.dtype + "[1100,1000]\n";
  const std::string factor = fused ? "w" : "copy", cast = "  copy = cast(w) {dtype=\"" + c.dtype + "\"}\n";
  return parse_program("input x " + in + "input square " + c.dtype + "[1000,1000]\nparam w f32[1100,1000]\n" +
                       "input rate f32[]\nstate g f32[1100,1000]\ntemp copy " + low + "temp t " + low + "temp y " +
                       out + "temp again " + out + "temp z " + in + "block 0 {\n" + (fused ? "" : cast) +
                       "  y = fc(x, " + factor + ")\n" + c.between + "  z = matmul(y, " + factor + ") backward\n" +
                       c.after + "}\n");
}

Program without_copies(const Program& program, const PinOptions& pins = {}) {
  Program made = fuse_copies(program, collect_pins(program, pins));
  verify(made);
  return made;
}

const std::string kUpdate = "  w = sgd(w, g, rate) {weight_decay=0.1} optimize\n";

TEST(FuseCopies, ProductsReadTheParameterItself) {
  for (const char* const dtype : {"bf16", "f16"}) {
    const Products c{.dtype = dtype, .after = kUpdate};
    EXPECT_EQ(without_copies(products(c)), products(c, true)) << dtype;
  }
}

TEST(FuseCopies, ChangesNoBit) {
  for (const char* const dtype : {"bf16", "f16"}) {
    const Program plain = products({.dtype = dtype}), fused = without_copies(plain);
    ASSERT_NE(fused, plain);
    Interpreter before(plain), after(fused);
    for (Interpreter* values : {&before, &after}) {
      std::uint64_t stream = 0;
      for (const char* name : {"x", "w"}) values->fill_uniform(find_var(plain, name), -1, 1, ++stream);
      values->run();
    }
    for (const char* name : {"y", "z"}) {
      const Guarded &a = before.memory(find_var(plain, name)), &b = after.memory(find_var(plain, name));
      EXPECT_EQ(std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.bytes())), 0) << dtype << ", " << name;
    }
  }
}

TEST(FuseCopies, LeavesACopyThatIsReadElsewhereOrPinned) {
  const Program read = products({.after = "  t = exp(copy)\n"}), plain = products({});
  EXPECT_EQ(without_copies(read), read);
  EXPECT_EQ(without_copies(plain, {.skip_vars = {"copy"}}), plain);
}

TEST(FuseCopies, LeavesACopyOfWhatChangesBeforeItIsRead) {
  const Program changed = products({.between = kUpdate});
  EXPECT_EQ(without_copies(changed), changed);
}

TEST(FuseCopies, LeavesACopyThatIsTheOtherFactor) {
  const Program other = products({.after = "  t = matmul(copy, square)\n"});
  EXPECT_EQ(without_copies(other), other);
}

TEST(FuseCopies, LeavesACopyThatIsReadMoreThanTwice) {
  const Program read = products({.after = "  again = fc(x, copy)\n"});
  EXPECT_EQ(without_copies(read), read);
}

TEST(FuseCopies, LeavesACopyThatIsReadInABranch) {
  const Program read = parse_program(
      "input x bf16[2,1000]\ninput test u8[]\nparam w f32[1100,1000]\ntemp copy bf16[1100,1000]\ntemp z bf16[2,1100]\n"
      "temp r bf16[2,1100]\ntemp y bf16[2,1100] block 1\ntemp n bf16[2,1100] block 2\nblock 0 {\n"
      "  copy = cast(w) {dtype=\"bf16\"}\n  z = fc(x, copy)\n  r = if(test, x, z, copy) block 1 block 2\n}\n"
      "block 1 parent 0 results (y) {\n  y = fc(x, copy)\n}\nblock 2 parent 0 results (n) {\n  n = exp(z)\n}\n");
  EXPECT_EQ(without_copies(read), read);
}

/// There one block of its columns is no less than all.
TEST(FuseCopies, LeavesACopyOfASmallParameter) {
  Program small = products({});
  for (Var& var : small.vars)
    for (std::int64_t& size : var.shape) size = size == 1000 ? 300 : size;
  EXPECT_EQ(without_copies(small), small);
}

TEST(FuseCopies, SuitsACpuAlone) {
  EXPECT_TRUE(suited({}, {}).fuse_copies);
  EXPECT_FALSE(suited({}, {.kind = DeviceKind::Cuda}).fuse_copies);
}

TEST(FuseCopies, LeavesACopyOfWhatIsNoParameter) {
  Program plain = products({});
  plain.vars[find_var(plain, "w")].kind = Kind::State;
  EXPECT_EQ(without_copies(plain), plain);
}

}  // namespace
}  // namespace lethe::testing
