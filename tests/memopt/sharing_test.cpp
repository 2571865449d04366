#include "memopt/passes/sharing.h"

#include <gtest/gtest.h>

#include "framework/language/text.h"
#include "optimizer/optimizer.h"
#include "tests/support/random_program.h"

namespace lethe::testing {
namespace {

struct Shared {
  Shared(const std::string& text, const PinOptions& options = {}) : program(parse_program(text)), log(true) {
    sharing = share_in_place(program, liveness(program), collect_pins(program, options), log);
  }
  const Storage& storage(const std::string& name) const {
    return sharing.storages[static_cast<std::size_t>(sharing.of[find_var(program, name)])];
  }
  std::string root(const std::string& name) const { return program.vars[storage(name).root].name; }
  bool logged(const std::string& line) const {
    return std::find(log.lines().begin(), log.lines().end(), line) != log.lines().end();
  }
  Program program;
  Log log;
  Sharing sharing;
};

TEST(InPlace, AnOutputTakesTheMemoryOfItsDyingInput) {
  const Shared made(
      "input x f32[4]\ntemp a f32[4]\ntemp b f32[4]\ntemp c f32[4]\n"
      "block 0 {\n  a = exp(x)\n  b = relu(a)\n  c = relu(b)\n}\n");
  EXPECT_EQ(made.root("c"), "a");
  EXPECT_EQ(made.storage("a").life, (Life{0, 3}));
  EXPECT_EQ(made.root("a"), "a") << "not in the memory of an input, which is fed";
  EXPECT_TRUE(made.logged("inplace 1, b in a"));
  EXPECT_TRUE(made.logged("inplace 0, a not in x, which is fed"));
}

TEST(InPlace, NotIfTheInputIsNeededLater) {
  const Shared made(
      "input x f32[4]\ntemp a f32[4]\ntemp b f32[4]\ntemp c f32[4]\n"
      "block 0 {\n  a = exp(x)\n  b = relu(a)\n  c = add(a, b)\n}\n");
  EXPECT_EQ(made.root("b"), "b");
  EXPECT_TRUE(made.logged("inplace 1, b not in a, which is needed later"));
}

TEST(InPlace, NotIfAViewOfTheInputIsNeededLater) {
  const Shared made(
      "input x f32[4]\ntemp a f32[4]\ntemp seen f32[2,2]\ntemp b f32[4]\ntemp c f32[2,2]\n"
      "block 0 {\n  a = exp(x)\n  seen = reshape(a) {shape=[2,2]}\n  b = relu(a)\n  c = exp(seen)\n}\n");
  EXPECT_EQ(made.root("b"), "b");
  EXPECT_EQ(made.root("seen"), "a");
  EXPECT_EQ(made.root("c"), "a") << "through the view, which is the last to be read";
}

TEST(InPlace, NotIfTheOutputsWholeWouldBeginBeforeTheInputs) {
  const Shared made(
      "input x f32[4,2]\ninput z f32[2,2]\ntemp a f32[4,2]\ntemp s f32[2,2]\ntemp p f32[2,2]\ntemp q f32[2,2]\n"
      "temp w f32[4,2]\ntemp e f32[4,2]\nblock 0 {\n  a = exp(x)\n  s = slice_view(a) {axis=0, begin=0}\n"
      "  q = relu(s)\n  p = exp(z)\n  w = concat_view(p, q) {axis=0}\n  e = exp(w)\n}\n");
  EXPECT_EQ(made.root("q"), "w") << "the second half of w, which is written first; s is the first half of a";
  for (const std::int64_t offset : made.sharing.offset) EXPECT_GE(offset, 0);
}

TEST(InPlace, NotInAPartThatIsSmallerThoughItsWholeHasRoom) {
  const Shared made(
      "input x f32[4,2]\ninput z f32[4,2]\ntemp a f32[4,2]\ntemp s f32[1,2]\ntemp y f32[4,2]\ntemp e f32[4,2]\n"
      "block 0 {\n  a = exp(x)\n  s = slice_view(a) {axis=0, begin=0}\n  y = add(z, s)\n  e = exp(y)\n}\n");
  EXPECT_EQ(made.root("y"), "y") << "each row of s is read again after the first row of y is written";
}

TEST(InPlace, NotIfTheOpReadsTheInputTwice) {
  const Shared made("input x f32[4]\ntemp a f32[4]\ntemp b f32[4]\nblock 0 {\n  a = exp(x)\n  b = mul(a, a)\n}\n");
  EXPECT_EQ(made.root("b"), "b");
  EXPECT_TRUE(made.logged("inplace 1, b not in a, which is read twice by the op"));
}

TEST(InPlace, NotIntoASmallerInput) {
  const Shared made(
      "input x f32[1]\ntemp a f32[1]\ntemp b f32[4]\ntemp c f32[4]\n"
      "block 0 {\n  a = exp(x)\n  b = fill_constant() {dtype=\"f32\",shape=[4],value=1.0}\n  c = add(b, a)\n}\n");
  EXPECT_EQ(made.root("c"), "b");
}

TEST(InPlace, NotOverAFetchedValue) {
  const char* text =
      "input x f32[4]\ntemp a f32[4]\ntemp b f32[4]\ntemp c f32[4]\n"
      "block 0 {\n  a = exp(x)\n  b = relu(a)\n  c = relu(b)\n}\n";
  const Shared made(text, {.fetched = {find_var(parse_program(text), "b")}});
  EXPECT_EQ(made.root("b"), "b");
  EXPECT_EQ(made.root("c"), "c");
  EXPECT_EQ(made.storage("b").life.dies, kForever);
  EXPECT_EQ(made.storage("b").pin, Pin::Fetched);
}

TEST(InPlace, TwoOutputsNeverTakeTheSameInput) {
  for (const int seed : random_seeds()) {
    const Program program = random_program(static_cast<std::uint64_t>(seed)).network.program;
    Log log;
    const Sharing sharing = share_in_place(program, liveness(program), collect_pins(program, {}), log);
    for (const Op& op : program.blocks[0].ops)
      for (std::size_t i = 1; i < op.out.size(); ++i) EXPECT_NE(sharing.of[op.out[0]], sharing.of[op.out[i]]);
  }
}

/// The inner loop begins p as h and q, which becomes h, as b; b is read later.
TEST(InPlace, WhatALoopCarriesIsNotMadeWhereAnotherOfItsInitialValuesLies) {
  const Shared made(
      "input x f32[4]\ntemp zero i64[]\ntemp trip i64[]\ntemp h f32[4]\n"
      "temp test u8[] block 1\ntemp more i64[] block 2\ntemp b f32[4] block 2\ntemp none i64[] block 2\n"
      "temp n i64[] block 2\ntemp p f32[4] block 2\ntemp q f32[4] block 2\ntemp later f32[4] block 2\n"
      "temp go u8[] block 3\ntemp next i64[] block 4\ntemp pp f32[4] block 4\ntemp qq f32[4] block 4\n"
      "block 0 {\n  zero = fill_constant() {dtype=\"i64\", shape=[], value=0}\n"
      "  trip, h = while(zero, x) {max_trips=3} block 1 block 2\n}\n"
      "block 1 parent 0 results (test) {\n  test = less(trip) {value=2}\n}\n"
      "block 2 parent 0 results (more, q) {\n  more = offset(trip) {by=1}\n  b = exp(h)\n"
      "  none = fill_constant() {dtype=\"i64\", shape=[], value=0}\n"
      "  n, p, q = while(none, h, b) {max_trips=3} block 3 block 4\n  later = exp(b)\n}\n"
      "block 3 parent 2 results (go) {\n  go = less(n) {value=2}\n}\n"
      "block 4 parent 2 results (next, pp, qq) {\n  next = offset(n) {by=1}\n  pp = exp(p)\n  qq = add(q, p)\n}\n");
  EXPECT_EQ(made.root("q"), "q");
  EXPECT_TRUE(made.logged("inplace 1, q not in h, which is read later in the trip"));
}

TEST(InPlace, ASumTakesTheMemoryOfTheBranchBornLast) {
  const Shared made(
      "input x f32[4]\ntemp a f32[4]\ntemp b f32[4]\ntemp c f32[4]\ntemp y f32[4]\n"
      "block 0 {\n  a = exp(x)\n  b = square(x)\n  c = sigmoid(x)\n  y = sum_n(b, c, a)\n}\n");
  EXPECT_EQ(made.root("y"), "c");
}

TEST(InPlace, ASumTakesWhicheverBranchIsFree) {
  const char* text =
      "input x f32[4]\ntemp a f32[4]\ntemp b f32[4]\ntemp y f32[4]\n"
      "block 0 {\n  a = exp(x)\n  b = square(x)\n  y = sum_n(a, b)\n}\n";
  const Shared made(text, {.fetched = {find_var(parse_program(text), "b")}});
  EXPECT_EQ(made.root("y"), "a");
}

TEST(InPlace, AConcatOfBranchesThatEndInReluKeepsEachApart) {
  const Shared made(
      "input x f32[2,4]\ntemp a f32[2,4]\ntemp ra f32[2,4]\ntemp b f32[2,4]\ntemp rb f32[2,4]\ntemp y f32[2,8]\n"
      "block 0 {\n  a = exp(x)\n  ra = relu(a)\n  b = square(x)\n  rb = relu(b)\n  y = concat(ra, rb) {axis=1}\n}\n");
  EXPECT_EQ(made.root("ra"), "a");
  EXPECT_EQ(made.root("rb"), "b");
  EXPECT_EQ(made.storage("a").life, (Life{0, 5})) << "up to the concat";
}

TEST(Pins, SkipGradsPinsEachGradientGivenToAnOptimizerOp) {
  const TrainingProgram made = with_updates(random_program(1), "adam");
  const std::vector<Pin> pins = collect_pins(made.network.program, {.skip_grads = true});
  int pinned = 0;
  for (const Pin pin : pins) pinned += pin == Pin::Gradient;
  EXPECT_EQ(pinned, static_cast<int>(made.grads.size()));
  for (const ParamGrad& pair : made.grads) EXPECT_EQ(pins[pair.grad], Pin::Gradient);
}

TEST(Pins, AnUnknownNameIsRefusedWithASuggestion) {
  const Program program = parse_program("input image f32[4]\ntemp a f32[4]\nblock 0 {\n  a = exp(image)\n}\n");
  try {
    collect_pins(program, {.skip_vars = {"imege"}});
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "`skip_vars`: no var named 'imege'; did you mean 'image'?");
  }
}

TEST(Sharing, AParamStaysInTheStoreWhateverIsFetchedOfIt) {
  const Program program =
      parse_program("temp v f32[4]\nparam w f32[2,2]\nblock 0 {\n  v = reshape(w) {shape=[4]}\n}\n");
  const Sharing sharing = share_views(program, liveness(program), collect_pins(program, {.fetched = {0}}));
  EXPECT_EQ(sharing.storages[static_cast<std::size_t>(sharing.of[0])].pin, Pin::Persistable);
}

}  // namespace
}  // namespace lethe::testing
