#include "memopt/passes/fuse_updates.h"

#include <gtest/gtest.h>

#include <cstring>

#include "framework/error.h"
#include "framework/language/text.h"
#include "framework/language/verify.h"
#include "tests/support/interpreter.h"

namespace lethe::testing {
namespace {

struct Case {
  std::string update = "momentum", states = "v", attrs = "{momentum=0.9}";
  int terms = 3, rows = 2048;  // of 4096 numbers: 32 MiB
  std::string dtype = "f32", result = "f32", product_attrs = "{transpose_a=1}";
  std::string between = {}, after = {};
  bool few_bits = false;  // w is bf16, v and s are numbers of 8 bits
};

/// w is updated by the product of two values, as one op if it is `fused`.
Program update_of(const Case& c, bool fused = false) {
  const std::string wide = c.dtype == "f64" ? "f64" : "f32", shape = message("[", c.rows, ",4096]\n"),
                    a = message(c.dtype, "[", c.terms, ",", c.rows, "]\n"),
                    b = message(c.dtype, "[", c.terms, ",4096]\n"), states = c.states.empty() ? "" : ", " + c.states,
                    step = c.update == "adam" ? ", step"
                           : c.few_bits       ? ", _, step"
                                              : "";
  const auto of = [&](const char* few) { return (c.few_bits ? few : wide) + shape; };
  const std::string product = "  g = matmul(a, b) " + c.product_attrs + " backward\n";
  const std::string update = "  w" + states + " = " + (fused ? "matmul_" : "") + c.update + "(w" + states + ", " +
                             (fused ? "a, b" : "g") + ", rate" + step + ") " + c.attrs + " optimize\n";
  return parse_program("input i " + a + "input j " + b + "param w " + of("bf16") + "state v " + of("udynamic8") +
                       "state s " + of("dynamic8") + "input rate " + wide + "[]\nstate step i64[]\ntemp a " + a +
                       "temp b " + b + "temp g " + message(c.result, "[", c.rows, ",4096]\n") + "temp t " +
                       message(c.result, "[", c.rows, ",4096]\n") + "block 0 {\n  b = exp(j)\n  a = exp(i) backward\n" +
                       (fused ? "" : product) + c.between + update + c.after + "}\n");
}

Program with_fused_updates(const Program& program, const PinOptions& pins = {}) {
  Program made = fuse_updates(program, collect_pins(program, pins));
  verify(made);
  return made;
}

const std::vector<Case>& updates() {
  static const std::vector<Case> all = {
      {.update = "sgd", .states = "", .attrs = "{weight_decay=0.1}"},
      {},
      {.update = "adam", .states = "v, s", .attrs = "{beta1=0.9, beta2=0.99, eps=1e-8, rate_scale=0.3}"},
      {.update = "lion", .states = "s", .attrs = "{beta1=0.9, beta2=0.99, rate_scale=0.3}"},
      {.update = "rmsprop", .states = "s", .attrs = "{alpha=0.9, eps=1e-8, rate_scale=2.5}"},
      {.update = "rmsprop_momentum", .states = "s, v", .attrs = "{alpha=0.9, eps=1e-8, momentum=0.9}"},
      {.update = "adam",
       .states = "s, v",
       .attrs = "{beta1=0.9, beta2=0.99, eps=1e-8, rounding=7, rounding_first=512}",
       .few_bits = true},
      {.update = "lion",
       .states = "s",
       .attrs = "{beta1=0.9, beta2=0.99, rounding=7, rounding_first=0}",
       .rows = 2050,
       .few_bits = true},
      {.rows = 2050},
      {.rows = 1024, .dtype = "f64", .result = "f64"},
      {.dtype = "bf16", .product_attrs = "{transpose_a=1, wide_output=1}"}};
  return all;
}

TEST(FuseUpdates, AnUpdateComputesItsGradientItself) {
  for (const Case& c : updates()) EXPECT_EQ(with_fused_updates(update_of(c)), update_of(c, true)) << c.update;
}

TEST(FuseUpdates, ChangesNoBit) {
  for (const Case& c : updates())
    for (const int threads : c.update == "sgd" ? std::vector{1, 2} : std::vector{2}) {
      SCOPED_TRACE(message(c.update, " of ", c.dtype, ", ", c.rows, " rows, ", threads, " threads"));
      const Program plain = update_of(c), one = with_fused_updates(plain);
      ASSERT_NE(one, plain);
      Interpreter before(plain, {.threads = threads}), after(one, {.threads = threads});
      for (Interpreter* values : {&before, &after}) {
        std::uint64_t stream = 0;
        for (const char* name : {"i", "j", "w", "rate"}) values->fill_uniform(find_var(plain, name), -1, 1, ++stream);
        for (const char* name : {"v", "s"}) {
          const VarId state = find_var(plain, name);
          if (!c.few_bits) values->fill_uniform(state, *name == 'v' ? -1 : 0.1, 1, ++stream);
          if (c.few_bits)
            std::memset(values->memory(state).data(), 0, static_cast<std::size_t>(bytes_of(plain.vars[state])));
        }
        values->set(find_var(plain, "step"), 0, 3);
        values->run();
      }
      for (const char* name : {"w", "v", "s"}) {
        const Guarded &a = before.memory(find_var(plain, name)), &b = after.memory(find_var(plain, name));
        EXPECT_EQ(std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.bytes())), 0) << name;
      }
    }
}

TEST(FuseUpdates, LeavesAGradientThatIsReadElsewhereOrPinned) {
  const Program read = update_of({.after = "  t = exp(g)\n"}), once = update_of({});
  EXPECT_EQ(with_fused_updates(read), read);
  EXPECT_EQ(with_fused_updates(once, {.skip_grads = true}), once);
  EXPECT_EQ(with_fused_updates(once, {.skip_vars = {"g"}}), once);
}

TEST(FuseUpdates, LeavesWhatArithmeticTakesLongerFor) {
  for (const Case& c : {Case{.rows = 2047}, Case{.terms = 513}}) {
    const Program plain = update_of(c);
    EXPECT_EQ(with_fused_updates(plain), plain);
  }
}

TEST(FuseUpdates, LeavesProductsOfAnotherFormAndRoundedOnes) {
  const Program rounded = update_of({.rows = 4096, .dtype = "bf16", .result = "bf16"});
  EXPECT_EQ(with_fused_updates(rounded), rounded);
  Program other = update_of({.terms = 2048});  // a is square
  Op& product = other.blocks[0].ops[2];
  ASSERT_EQ(product.type, "matmul");
  product.attrs.set("transpose_a", 0);
  EXPECT_EQ(with_fused_updates(other), other);
}

/// Rows of 4095 numbers: the 128 that are computed together are no number of blocks.
TEST(FuseUpdates, LeavesBlocksOfRowsThatCutBlocksOfStates) {
  std::string text =
      to_text(update_of({.update = "lion", .states = "s", .attrs = "{beta1=0.9, beta2=0.99}", .rows = 2064}));
  for (std::size_t at; (at = text.find("4096")) != std::string::npos;) text.replace(at, 4, "4095");
  const Program wide = parse_program(text);
  EXPECT_NE(with_fused_updates(wide), wide);
  text.replace(text.find("state s f32"), 11, "state s dynamic8");
  const Program coded = parse_program(text);
  EXPECT_EQ(with_fused_updates(coded), coded);
}

TEST(FuseUpdates, LeavesFactorsThatChangeBeforeTheUpdate) {
  const Program changed = update_of({.between = "  a = increment(a) {by=1} optimize\n"});
  EXPECT_EQ(with_fused_updates(changed), changed);
}

TEST(FuseUpdates, FactorsMayBeInputs) {
  Program fed = update_of({});
  fed.blocks[0].ops.erase(fed.blocks[0].ops.begin());
  for (Op& op : fed.blocks[0].ops)
    if (op.type == "matmul") op.in[1] = find_var(fed, "j");
  EXPECT_EQ(with_fused_updates(fed).blocks[0].ops.back().type, "matmul_momentum");
}

TEST(FuseUpdates, LeavesStacksOfOneMatrix) {
  const std::string rows = "[1,2048,4096]\n";
  const Program stack =
      parse_program("input i f32[1,3,2048]\ninput j f32[1,3,4096]\nparam w f32" + rows + "temp g f32" + rows +
                    "input rate f32[]\nblock 0 {\n  g = matmul(i, j) {transpose_a=1} backward\n" +
                    "  w = sgd(w, g, rate) optimize\n}\n");
  EXPECT_EQ(with_fused_updates(stack), stack);
}

TEST(FuseUpdates, LeavesUpdatesOfShares) {
  Program share = update_of({});
  share.blocks[0].ops.back().attrs.set("ranks", 2);
  EXPECT_EQ(fuse_updates(share, collect_pins(share, {})), share);
}

}  // namespace
}  // namespace lethe::testing
