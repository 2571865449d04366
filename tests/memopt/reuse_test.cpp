#include "memopt/passes/reuse.h"

#include <gtest/gtest.h>

#include "framework/language/text.h"

namespace lethe::testing {
namespace {

struct Reused {
  Reused(Program given, ReuseRule rule, const PinOptions& options = {}) : program(std::move(given)), log(true) {
    const Liveness live = liveness(program);
    sharing = share_views(program, live, collect_pins(program, options));
    buffers = reuse_buffers(program, live, sharing, rule, log);
  }
  int buffer(const std::string& name) const {
    return buffers[static_cast<std::size_t>(sharing.of[find_var(program, name)])];
  }
  std::vector<std::string> hits() const {
    std::vector<std::string> lines;
    for (const std::string& line : log.lines())
      if (line.compare(0, 3, "!!!") == 0) lines.push_back(line);
    return lines;
  }
  Program program;
  Log log;
  Sharing sharing;
  std::vector<int> buffers;
};

constexpr ReuseRule kLevel0{.fit = Fit::SameShape}, kLevel1{.fit = Fit::LargeEnough};

Program chain(const std::string& second, const std::string& third) {
  return parse_program("input x f32[4]\ntemp a f32[4]\ntemp b " + second + "\ntemp c " + third +
                       "\nblock 0 {\n  a = exp(x)\n  b = exp(a)\n  c = exp(b)\n}\n");
}

TEST(Reuse, AnOutputNeverTakesAnInputOfItsOwnOp) {
  const Reused made(chain("f32[4]", "f32[4]"), kLevel0);
  EXPECT_NE(made.buffer("b"), made.buffer("a"));
  EXPECT_EQ(made.buffer("c"), made.buffer("a"));
  EXPECT_EQ(made.hits(), (std::vector<std::string>{"!!! 2, c[4] => a[4], cache idx 0, pool size 1"}));
}

/// Vars of any shape; reuse looks at no op's meaning.
Program of_shapes(const std::vector<Shape>& shapes, DType last = DType::f32) {
  Program program;
  add_var(program, {.name = "x", .shape = {1}, .kind = Kind::Input});
  VarId before = 0;
  for (const Shape& shape : shapes) {
    const bool is_last = &shape == &shapes.back();
    const VarId v = add_var(
        program, {.name = message("v", program.vars.size()), .shape = shape, .dtype = is_last ? last : DType::f32});
    program.blocks[0].ops.push_back({.type = "exp", .in = {before}, .out = {v}});
    before = v;
  }
  return program;
}

TEST(Reuse, Level0WantsTheSameShape) {
  const Reused made(of_shapes({{8}, {4}, {4, 2}}), kLevel0);
  EXPECT_NE(made.buffer("v3"), made.buffer("v1"));
  EXPECT_TRUE(made.hits().empty());
}

TEST(Reuse, Level1TakesTheSmallestThatIsLargeEnough) {
  Program program = of_shapes({{8}, {5}, {16}, {1}, {6}});
  const Reused made(program, kLevel1);
  EXPECT_EQ(made.buffer("v5"), made.buffer("v1")) << "not that of 16, nor that of 5";
}

TEST(Reuse, NeverTakesAnotherDtype) {
  const Reused made(of_shapes({{8}, {4}, {8}}, DType::i32), kLevel1);
  EXPECT_NE(made.buffer("v3"), made.buffer("v1"));
}

TEST(Reuse, ABufferKeepsTheSizeOfItsFirstOwner) {
  const Reused made(of_shapes({{8}, {9}, {2}, {10}, {8}}), kLevel1);
  EXPECT_EQ(made.buffer("v3"), made.buffer("v1"));
  EXPECT_EQ(made.buffer("v5"), made.buffer("v1")) << "8 fit in it again, though 2 were in it last";
}

TEST(Reuse, WhatNobodyReadsIsFreeAgainAtOnce) {
  const Reused made(
      parse_program("input x f32[4]\ntemp a f32[4]\ntemp b f32[4]\nblock 0 {\n  a = exp(x)\n  b = exp(x)\n}\n"),
      kLevel0);
  EXPECT_EQ(made.buffer("b"), made.buffer("a"));
}

// The program of https://github.com/PaddlePaddle/Paddle/issues/12387, in which cost was written into a.
TEST(Reuse, AFetchedValueIsNotWrittenOver) {
  const Program program = parse_program(
      "input ain f32[4,2,2]\ninput bin f32[4,2,2]\ntemp a f32[4,2,2]\ntemp b f32[4,2,2]\ntemp d f32[4,2,2]\ntemp cost "
      "f32[4,2,2]\nblock 0 {\n  a = abs(ain)\n  b = abs(bin)\n  d = sub(a, b)\n  cost = square(d)\n}\n");
  EXPECT_EQ(Reused(program, kLevel0).buffer("cost"), Reused(program, kLevel0).buffer("a")) << "nobody wants a";
  const Reused made(program, kLevel0, {.fetched = {find_var(program, "a"), find_var(program, "cost")}});
  EXPECT_NE(made.buffer("cost"), made.buffer("a"));
  EXPECT_NE(made.buffer("cost"), made.buffer("b")) << "a pinned var takes no used memory";
}

// t = f(in); u = g(t); t = h(u); v = k(in); w = m(t, v): with t written twice Fluid left it in its pool, and v took it.
TEST(Reuse, AStateWrittenTwiceIsNeverInThePool) {
  Program program;
  for (const char* name : {"in", "t", "u", "v", "w"}) add_var(program, {.name = name, .shape = {4}});
  program.vars[0].kind = Kind::Input;
  program.vars[1].kind = Kind::State;
  program.blocks[0].ops = {{.type = "exp", .in = {0}, .out = {1}},
                           {.type = "exp", .in = {1}, .out = {2}},
                           {.type = "exp", .in = {2}, .out = {1}},
                           {.type = "exp", .in = {0}, .out = {3}},
                           {.type = "add", .in = {1, 3}, .out = {4}}};
  const Reused made(program, kLevel0);
  EXPECT_EQ(made.buffer("t"), -1) << "in the store";
  EXPECT_EQ(made.buffer("v"), made.buffer("u"));
}

/// fit_a_line of https://github.com/PaddlePaddle/Paddle/pull/7321 for a batch of 20.
Program fit_a_line() {
  Program program;
  const auto var = [&](const char* name, Shape shape, Kind kind = Kind::Temp) {
    return add_var(program, {.name = name, .shape = std::move(shape), .kind = kind});
  };
  const VarId x = var("x", {20, 13}, Kind::Input), y = var("y", {20, 1}, Kind::Input);
  const VarId w = var("w", {13, 1}, Kind::Param), b = var("b", {1}, Kind::Param), lr = var("lr", {1}, Kind::Param);
  const VarId fc0 = var("fc.tmp_0", {20, 1}), fc1 = var("fc.tmp_1", {20, 1}), sec0 = var("sec.tmp_0", {20, 1}),
              sec1 = var("sec.tmp_1", {20, 1}), mean = var("mean", {1}), mean_grad = var("mean@GRAD", {1}),
              sec1_grad = var("sec.tmp_1@GRAD", {20, 1}), sec0_grad = var("sec.tmp_0@GRAD", {20, 1}),
              fc1_grad = var("fc.tmp_1@GRAD", {20, 1}), b_grad = var("b@GRAD", {1}),
              fc0_grad = var("fc.tmp_0@GRAD", {20, 1}), w_grad = var("w@GRAD", {13, 1});
  const auto op = [&](std::vector<VarId> in, std::vector<VarId> out) {
    program.blocks[0].ops.push_back({.type = "add", .in = std::move(in), .out = std::move(out)});
  };
  op({x, w}, {fc0});
  op({fc0, b}, {fc1});
  op({fc1, y}, {sec0});
  op({sec0}, {sec1});
  op({sec1}, {mean});
  op({}, {mean_grad});
  op({sec1, mean_grad}, {sec1_grad});
  op({sec0, sec1, sec1_grad}, {sec0_grad});
  op({fc1, y, sec0, sec0_grad}, {fc1_grad});
  op({fc0, b, fc1, fc1_grad}, {b_grad, fc0_grad});
  op({x, w, fc0, fc0_grad}, {w_grad});
  op({w, w_grad, lr}, {w});
  op({b, b_grad, lr}, {b});
  return program;
}

TEST(Reuse, FitALineHasThePublishedHits) {
  const Program program = fit_a_line();
  const Reused made(program, {.fit = Fit::SameShape, .by_size = false},
                    {.fetched = {find_var(program, "mean")}});  // Fluid never gave away what nobody reads
  std::vector<std::string> indices;
  for (const std::string& line : made.hits()) indices.push_back(line.substr(line.find("cache idx"), 11));
  EXPECT_EQ(indices, (std::vector<std::string>{"cache idx 1", "cache idx 0", "cache idx 0"}));
}

}  // namespace
}  // namespace lethe::testing
