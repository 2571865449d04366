#include "framework/language/text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "framework/builder/builder.h"
#include "tests/support/expect_error.h"
#include "tests/support/op_program.h"
#include "tests/support/random_program.h"

namespace lethe::testing {
namespace {

void expect_round_trip(const Program& program) {
  const std::string text = to_text(program);
  const Program read = parse_program(text);
  EXPECT_TRUE(read == program) << text;
  EXPECT_EQ(to_text(read), text);
}

TEST(Text, IsWhatTheManualShows) {
  const std::string text =
      "input image f32[2,3]\n"
      "param w f32[2,3]\n"
      "temp y f32[2,3]\n"
      "temp z f32[2,3]\n"
      "block 0 {\n"
      "  y = relu(image)\n"
      "  z = relu_grad(y, w) {at=[1,2], ratio=0.5} backward\n"
      "}\n";
  const Program program = parse_program(text);
  EXPECT_EQ(to_text(program), text);
  EXPECT_EQ(program.vars[0].kind, Kind::Input);
  EXPECT_EQ(program.blocks[0].ops[1].role, Role::Backward);
  EXPECT_EQ(program.blocks[0].ops[1].in, (std::vector<VarId>{2, 1}));
  EXPECT_EQ(program.blocks[0].ops[1].attrs.number("ratio"), 0.5);
}

TEST(Text, RoundTripsEveryOpWithItsBackward) {
  for (const Sample& sample : all_samples()) {
    SCOPED_TRACE(sample.op);
    expect_round_trip(program_of(sample, sample.dtypes.at(0)).program);
  }
}

TEST(Text, RoundTripsRandomPrograms) {
  for (const int seed : random_seeds()) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    expect_round_trip(random_program(seed).network.program);
  }
}

TEST(Text, RoundTripsSubBlocks) {
  Program program;
  const VarId x = add_var(program, {.name = "x", .shape = {2}, .kind = Kind::Input});
  program.blocks.push_back({.parent = 0});
  const VarId inner = add_var(program, {.name = "inner", .shape = {2}, .block = 1});
  const VarId result = add_var(program, {.name = "result", .shape = {2}, .block = 1});
  program.blocks[1] = {
      .parent = 0,
      .results = {result},
      .ops = {{.type = "relu", .in = {x}, .out = {inner}}, {.type = "relu", .in = {inner}, .out = {result}}}};
  program.blocks[0].ops.push_back({.type = "while", .in = {x, kNone}, .out = {}, .blocks = {1}});
  expect_round_trip(program);
}

TEST(Text, RoundTripsEveryKindOfAttributeToTheBit) {
  Program program;
  add_var(program, {.name = "x", .shape = {}, .dtype = DType::u8, .kind = Kind::State});
  const Attrs attrs{{"whole", std::numeric_limits<std::int64_t>::min()},
                    {"third", 1.0 / 3},
                    {"tiny", std::numeric_limits<double>::denorm_min()},
                    {"huge", std::numeric_limits<double>::max()},
                    {"negative_zero", -0.0},
                    {"whole_double", 2.0},
                    {"empty", Ints{}},
                    {"list", Ints{-1, 0, 7}},
                    {"doubles", Doubles{1.0 / 3, 2, -0.0, std::numeric_limits<double>::infinity()}},
                    {"text", "a \"quoted\" word, \\ and {braces}"},
                    {"nothing", ""}};
  program.blocks[0].ops.push_back({.type = "fill_constant", .out = {0}, .attrs = attrs});
  expect_round_trip(program);
  EXPECT_TRUE(std::signbit(parse_program(to_text(program)).blocks[0].ops[0].attrs.number("negative_zero")));
}

TEST(Text, ErrorsNameTheLine) {
  const std::string head = "input x f32[2]\ntemp y f32[2]\nblock 0 {\n";
  const auto reads = [&](const std::string& text) { return [text] { parse_program(text); }; };
  EXPECT_TRUE(fails_with("line 4: no var named 'z'", reads(head + "  y = relu(z)\n}\n")));
  EXPECT_TRUE(fails_with("line 4: ", reads(head + "  y = relu(x\n}\n")));
  EXPECT_TRUE(fails_with("line 4: ", reads(head + "  y relu(x)\n}\n")));
  EXPECT_TRUE(fails_with("line 4: 'sideways' is no role", reads(head + "  y = relu(x) sideways\n}\n")));
  EXPECT_TRUE(fails_with("line 4: ", reads(head + "  y = relu(x) {a=}\n}\n")));
  EXPECT_TRUE(fails_with("line 4: ", reads(head + "  y = relu(x) {a=\"open}\n}\n")));
  EXPECT_TRUE(fails_with("line 1: ", reads("input x f33[2]\nblock 0 {\n}\n")));
  EXPECT_TRUE(fails_with("line 1: 'output' is no kind of var", reads("output x f32[2]\nblock 0 {\n}\n")));
  EXPECT_TRUE(fails_with("line 2: 'x' is declared twice", reads("input x f32[2]\ninput x f32[2]\nblock 0 {\n}\n")));
  EXPECT_TRUE(fails_with("line 1: ", reads("input x f32[2,]]\nblock 0 {\n}\n")));
  EXPECT_TRUE(fails_with("the last block has no end", reads(head)));
  EXPECT_TRUE(fails_with("no block", reads("input x f32[2]\n")));
}

}  // namespace
}  // namespace lethe::testing
