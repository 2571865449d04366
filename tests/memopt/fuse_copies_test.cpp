#include "memopt/passes/fuse_copies.h"

#include <gtest/gtest.h>

#include <cstring>

#include "framework/error.h"
#include "framework/language/text.h"
#include "framework/language/verify.h"
#include "framework/language/weight_blocks.h"
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

/// A table in `dtype` that an embedding and a head read, and a weight that is read three times, both in an f32 network.
Program frozen_weights(const std::string& dtype, bool fused = false) {
  const std::string table = dtype + "[5000,500]\n", weight = dtype + "[600,500]\n", cast = " {dtype=\"f32\"}\n";
  const std::string of_table = fused ? "table" : "table_f32", of_w = fused ? "w" : "w_f32",
                    blocks = " {weight_blocks=1}\n";
  return parse_program(
      "input text i32[3]\ninput next i32[3]\ninput share f32[3]\nparam table " + table + "param w " + weight +
      "temp table_f32 f32[5000,500]\ntemp w_f32 f32[600,500]\ntemp x_low " + dtype +
      "[3,500]\ntemp x f32[3,500]\ntemp y f32[3,600]\n" +
      "temp z f32[3,500]\ntemp again f32[3,600]\ntemp loss f32[3]\ntemp lse f32[3]\ntemp right u8[3]\n" +
      "temp dz f32[3,500]\ntemp loss2 f32[3]\ntemp lse2 f32[3]\ntemp right2 u8[3]\ntemp dz2 f32[3,500]\nblock 0 {\n" +
      "  x_low = embedding(text, table)\n  x = cast(x_low) {dtype=\"f32\"}\n" +
      (fused ? "" : "  w_f32 = cast(w)" + cast) + "  y = fc(x, " + of_w + ")" + blocks + "  z = matmul(y, " + of_w +
      ")" + blocks + "  again = matmul(z, " + of_w + ") {transpose_b=1, weight_blocks=1}\n" +
      (fused ? "" : "  table_f32 = cast(table)" + cast) + "  loss, lse, right = linear_cross_entropy(z, " + of_table +
      ", _, next)" + blocks + "  dz = linear_cross_entropy_x_grad(z, " + of_table + ", _, next, share, lse)" + blocks +
      "  loss2, lse2, right2, dz2 = linear_cross_entropy_and_x_grad(z, " + of_table + ", _, next, share)" + blocks +
      "}\n");
}

TEST(FuseCopies, ProductsInF32WidenWhatIsFrozenInFewerBits) {
  for (const char* const dtype : {"bf16", "f16"}) {
    const Program plain = frozen_weights(dtype), fused = without_copies(plain);
    EXPECT_EQ(fused, frozen_weights(dtype, true)) << dtype;
    Interpreter before(plain, {.threads = 2}), after(fused, {.threads = 2});
    for (Interpreter* values : {&before, &after}) {
      std::uint64_t stream = 0;
      for (const char* name : {"table", "w", "share"}) values->fill_uniform(find_var(plain, name), -1, 1, ++stream);
      for (const char* name : {"text", "next"}) values->fill_uniform(find_var(plain, name), 0, 5000, ++stream);
      values->run();
    }
    for (const char* name : {"y", "z", "again", "loss", "lse", "right", "dz", "loss2", "dz2"}) {
      const Guarded &a = before.memory(find_var(plain, name)), &b = after.memory(find_var(plain, name));
      EXPECT_EQ(std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.bytes())), 0) << dtype << ", " << name;
    }
  }
}

/// Another order of sums would be another result.
TEST(FuseCopies, LeavesTheCopyThatProductsReadWhole) {
  Program whole = frozen_weights("bf16");
  for (Op& op : whole.blocks[0].ops)
    if (op.attrs.has(kWeightBlocks)) op.attrs.set(kWeightBlocks, false);
  EXPECT_EQ(without_copies(whole), whole);
}

TEST(FuseCopies, LeavesTheCopyOfAFrozenWeightThatNoProductWidens) {
  for (const char* const dtype : {"f32", "f64"}) {
    const std::string of = dtype;
    const Program copied =
        parse_program("input x " + of + "[3,4]\nparam w bf16[4,4]\ntemp copy " + of + "[4,4]\ntemp y " + of +
                      "[3,4]\ntemp e " + of + "[4,4]\nblock 0 {\n  copy = cast(w) {dtype=\"" + of +
                      "\"}\n  y = fc(x, copy)\n" + (of == "f32" ? "  e = exp(copy)\n" : "") + "}\n");
    EXPECT_EQ(without_copies(copied), copied) << of;
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
