#include "memopt/passes/views_for_copies.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "framework/builder/builder.h"
#include "framework/language/text.h"
#include "framework/language/verify.h"
#include "models/network.h"
#include "tests/memopt/same_result.h"

namespace lethe::testing {
namespace {

std::int64_t nothing(const Program&) { return 0; }

/// The ops of block 0 after the pass, "slice relu concat_view".
std::string ops_of(const std::string& text, const PinOptions& pins = {}, std::int64_t alignment = 64) {
  const Program program = parse_program(text);
  const Program made = views_for_copies(program, collect_pins(program, pins), alignment, nothing).value_or(program);
  verify(made);
  std::string ops;
  for (const Op& op : made.blocks[0].ops) ops.append(ops.empty() ? "" : " ").append(op.type);
  return ops;
}

const std::string kHead = "input x f32[2,16]\ntemp a f32[2,16]\ntemp b f32[2,16]\ntemp y f32[2,32]\ntemp z f32[2,32]\n";

TEST(ViewsForCopies, MapsWriteTheirPartsThemselves) {
  EXPECT_EQ(ops_of(kHead + "block 0 {\n  a = relu(x)\n  b = tanh(x)\n  y = concat(a, b) {axis=1}\n  z = exp(y)\n}\n"),
            "relu tanh concat_view exp");
}

TEST(ViewsForCopies, NotWhereAKernelWantsItsRowsSideBySide) {
  EXPECT_EQ(ops_of(kHead + "block 0 {\n  a = relu(x)\n  b = exp(x)\n  y = concat(a, b) {axis=1}\n  z = exp(y)\n}\n"),
            "relu exp concat exp")
      << "exp writes b";
  EXPECT_EQ(ops_of("input x f32[2,16]\ntemp s f32[2,4]\ntemp y f32[2,4]\n"
                   "block 0 {\n  s = slice(x) {axis=1, begin=4, end=8}\n  y = exp(s)\n}\n"),
            "slice exp");
  EXPECT_EQ(ops_of("input x f32[2,16]\ntemp s f32[2,4]\ntemp y f32[2,4]\n"
                   "block 0 {\n  s = slice(x) {axis=1, begin=4, end=8}\n  y = relu(s)\n}\n"),
            "slice_view relu");
}

TEST(ViewsForCopies, OfWholeRowsWantNothingOfKernelsButBeginAligned) {
  const auto sliced = [](int begin) {
    return "input x f32[8,16]\ntemp s f32[2,16]\ntemp y f32[2,16]\nblock 0 {\n  s = slice(x) {axis=0, begin=" +
           std::to_string(begin) + ", end=" + std::to_string(begin + 2) + "}\n  y = exp(s)\n}\n";
  };
  EXPECT_EQ(ops_of(sliced(3)), "slice_view exp");
  EXPECT_EQ(ops_of(sliced(3), {}, 128), "slice exp");
  EXPECT_EQ(ops_of(sliced(4), {}, 128), "slice_view exp");
  EXPECT_EQ(ops_of("input x f32[2,16]\ntemp a f32[2,16]\ntemp b f32[2,16]\ntemp y f32[4,16]\ntemp z f32[4,16]\n"
                   "block 0 {\n  a = exp(x)\n  b = softmax(x)\n  y = concat(a, b) {axis=0}\n  z = exp(y)\n}\n"),
            "exp softmax concat_view exp");
}

TEST(ViewsForCopies, NotOfWhatIsPinnedOrFedOrThereTwice) {
  const std::string text =
      kHead + "block 0 {\n  a = relu(x)\n  b = tanh(x)\n  y = concat(a, b) {axis=1}\n  z = exp(y)\n}\n";
  EXPECT_EQ(ops_of(text, {.skip_vars = {"a"}}), "relu tanh concat exp");
  EXPECT_EQ(ops_of(text, {.skip_vars = {"y"}}), "relu tanh concat exp");
  EXPECT_EQ(ops_of(kHead + "block 0 {\n  a = relu(x)\n  y = concat(a, x) {axis=1}\n  z = exp(y)\n}\n"),
            "relu concat exp");
  EXPECT_EQ(ops_of(kHead + "block 0 {\n  a = relu(x)\n  y = concat(a, a) {axis=1}\n  z = exp(y)\n}\n"),
            "relu concat exp");
}

TEST(ViewsForCopies, WhatIsSeenUnderAnotherShapeMovesWithIt) {
  EXPECT_EQ(
      ops_of("input x f32[2,16]\ntemp a f32[2,16]\ntemp flat f32[32]\ntemp b f32[32]\ntemp y f32[64]\ntemp z f32[64]\n"
             "block 0 {\n  a = softmax(x)\n  flat = reshape(a) {shape=[32]}\n  b = exp(flat)\n"
             "  y = concat(b, flat) {axis=0}\n  z = exp(y)\n}\n"),
      "softmax reshape exp concat_view exp");
}

/// The update may stand before who reads the slice.
TEST(ViewsForCopies, NotOfAParamUnderAnotherShape) {
  EXPECT_EQ(ops_of("param w f32[32]\ntemp v f32[2,16]\ntemp s f32[2,4]\ntemp y f32[2,4]\n"
                   "block 0 {\n  v = reshape(w) {shape=[2,16]}\n  s = slice(v) {axis=1, begin=0, end=4}\n"
                   "  y = relu(s)\n}\n"),
            "reshape slice relu");
}

TEST(ViewsForCopies, ASliceThatIsJoinedIsOneOfTheTwo) {
  EXPECT_EQ(ops_of("input x f32[4,16]\ntemp s f32[2,16]\ntemp b f32[2,16]\ntemp y f32[4,16]\ntemp z f32[4,16]\n"
                   "block 0 {\n  s = slice(x) {axis=0, begin=2, end=4}\n  b = exp(s)\n"
                   "  y = concat(b, s) {axis=0}\n  z = exp(y)\n}\n"),
            "slice exp concat_view exp");
}

TEST(ViewsForCopies, APartOfTwoWholesIsWrittenIntoOne) {
  EXPECT_EQ(ops_of(kHead + "block 0 {\n  a = relu(x)\n  b = tanh(x)\n  y = concat(a, b) {axis=1}\n"
                           "  z = concat(b, a) {axis=1}\n}\n"),
            "relu tanh concat concat_view");
}

TEST(ViewsForCopies, AWholeThatIsAPartItself) {
  EXPECT_EQ(ops_of("input x f32[2,16]\ntemp a f32[2,16]\ntemp b f32[2,16]\ntemp ab f32[2,32]\ntemp c f32[2,32]\n"
                   "temp y f32[2,64]\nblock 0 {\n  a = relu(x)\n  b = tanh(x)\n  ab = concat(a, b) {axis=1}\n"
                   "  c = relu(ab)\n  y = concat(ab, c) {axis=1}\n}\n"),
            "relu tanh concat_view relu concat_view");
}

TEST(ViewsForCopies, OnlyWhereNoMoreIsAliveAtOnce) {
  const Program program = parse_program(
      kHead +
      "temp s f32[2,4]\ntemp t f32[2,4]\nblock 0 {\n  a = relu(x)\n  b = tanh(x)\n  y = concat(a, b) {axis=1}\n"
      "  z = exp(y)\n  s = slice(z) {axis=1, begin=0, end=4}\n  t = relu(s)\n}\n");
  const auto views = [](const Program& of) {
    int count = 0;
    for (const Op& op : of.blocks[0].ops) count += op_def(op.type).is_view();
    return count;
  };
  const std::vector<Pin> pins = collect_pins(program, {});
  EXPECT_EQ(views(*views_for_copies(program, pins, 64, nothing)), 2);
  EXPECT_EQ(views_for_copies(program, pins, 64, [&](const Program& of) { return views(of); }), std::nullopt);
  const auto slices = [](const Program& of) { return of.blocks[0].ops[4].type == "slice_view" ? 1 : 0; };
  const Program made = *views_for_copies(program, pins, 64, slices);
  EXPECT_EQ(made.blocks[0].ops[2].type, "concat_view") << "the one that takes more stays a copy, the other does not";
  EXPECT_EQ(made.blocks[0].ops[4].type, "slice");
}

Planned planned_with(const TrainingProgram& made, bool views) {
  MemoptOptions options = options_of("level=2", false, made.network);
  options.views = views;
  Prepared prepared(DeviceInfo{});
  return plan_memory(made.network.program, prepared, options);
}

/// And the tests of same results meet views of all kinds.
TEST(ViewsForCopies, TakeNoByteMoreInRandomPrograms) {
  int slices = 0, concats = 0, without_gaps = 0, fewer = 0;
  for (const int seed : random_seeds(std::max(random_programs(), 150))) {  // with fewer some kind may be missing
    const TrainingProgram made = random_program(static_cast<std::uint64_t>(seed));
    const Planned viewing = planned_with(made, true), copying = planned_with(made, false);
    EXPECT_LE(viewing.plan.bytes.total(), copying.plan.bytes.total()) << "seed " << seed;
    fewer += viewing.plan.bytes.total() < copying.plan.bytes.total();
    for (const Op& op : viewing.program.blocks[0].ops) {
      slices += op.type == "slice_view", concats += op.type == "concat_view";
      without_gaps += op.type == "slice_view" && viewing.program.vars[op.out[0]].pitch == 0;
    }
  }
  EXPECT_GT(slices, 0);
  EXPECT_GT(concats, 0);
  EXPECT_GT(without_gaps, 0);
  EXPECT_GT(fewer, 0);
}

TEST(ViewsForCopies, LowerGoogLeNet) {
  const Network network = load_network("googlenet", {.batch = 8, .dtype = DType::f32, .training = true},
                                       {{"size", "64"}, {"classes", "10"}});
  const TrainingProgram made = with_updates(with_backward(network), "momentum");
  EXPECT_LT(planned_with(made, true).plan.bytes.total(), planned_with(made, false).plan.bytes.total());
}

/// What lay in the way of a sound plan once: each is planned and checked at level 2, and gives the same as without.
TEST(ViewsForCopies, OfSplitsThatAreJoinedAgainAreSound) {
  const auto split = [](Builder& net, VarId x, std::int64_t begin, std::int64_t end) {
    return net.layer("slice", x, {{"axis", "channels"}, {"begin", begin}, {"end", end}});
  };
  for (const std::int64_t batch : {1, 2})
    for (const bool reshaped : {false, true}) {
      SCOPED_TRACE(::testing::Message() << "batch " << batch << (reshaped ? ", reshaped" : ""));
      Builder net({.batch = batch});
      const VarId x = net.input("image", {4, 4, 4});
      const VarId b = net.layer("relu", net.layer("conv", x, {{"out", 8}, {"k", 1}}));
      const VarId r = net.layer("conv", x, {{"out", 16}, {"k", 1}});
      VarId a = net.layer("relu", split(net, r, 8, 16));
      if (reshaped) a = net.layer("reshape", a, {{"shape", Ints{8, 4, 4}}, {"layout", "image"}});
      VarId y = net.layer("concat", {b, a});
      y = net.layer("mul", {y, split(net, r, 3, 4)});
      y = net.layer("concat", {net.layer("tanh", split(net, y, 0, 8)), net.layer("relu", split(net, y, 8, 16))});
      net.loss("cross_entropy", net.layer("fc", y, {{"out", 3}}), net.input("label", {}, DType::i32));
      expect_the_same_under_all_settings(with_updates(with_backward(net.finish()), "momentum"), 2);
    }
}

}  // namespace
}  // namespace lethe::testing
