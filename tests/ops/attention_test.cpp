#include "kernels/attention/attention.h"

#include <gtest/gtest.h>

#include <cmath>

#include "framework/builder/builder.h"
#include "tests/ops/attention_definition.h"
#include "tests/support/expect_error.h"

namespace lethe::testing {
namespace {

TEST(Attention, FollowsItsDefinition) {
  expect_definition({2, 7, 9, kScale, sees_all}, {}, {});
  expect_definition({2, 9, 4, 0.25, sees_all}, {}, {{"scale", 0.25}});
}

/// More than a tile of rows and of keys; as one sample and two, of which the workers share the heads otherwise.
TEST(Attention, GoesThroughManyTiles) {
  constexpr std::int64_t kLength = 270;
  const auto causal = [](auto, auto t, auto s) { return s <= t; };
  const auto near = [](auto, auto t, auto s) { return s <= t && s > t - 150; };
  for (const DType dtype : {DType::f32, DType::f64})
    for (const std::int64_t batch : {1, 2}) {
      SCOPED_TRACE(message(name_of(dtype), ", batch ", batch));
      expect_definition({batch, kLength, kLength, kScale, causal}, {}, {{"causal", 1}}, dtype);
      expect_definition({batch, kLength, kLength, kScale, near}, {}, {{"causal", 1}, {"window", 150}}, dtype);
      expect_definition({batch, 5, kLength, kScale, sees_all}, {}, {}, dtype);
    }
}

/// Of 270 and 269 keys: groups of four that a tile's first or last key is in the middle of.
TEST(Attention, DropsSharesByWhereTheyStand) {
  const auto near = [](auto, auto t, auto s) { return s <= t && s > t - 150; };
  for (const DType dtype : {DType::f32, DType::f64}) {
    expect_definition({2, 270, 270, kScale, near, 0.25}, {}, {{"causal", 1}, {"window", 150}}, dtype);
    expect_definition({1, 5, 269, kScale, sees_all, 0.5}, {}, {}, dtype);
  }
}

TEST(Attention, PartsOfABatchDropWhatTheWholeDoes) {
  const Attrs attrs{{"heads", 2}, {"dropout", 0.5}, {"seed", kSeed}, {"key", kLayer}};
  const Tensor whole = random_tensor({3, 5, 24}, 1), step{{}, {kStep}, DType::i64};
  const auto from = [](const Tensor& all, std::int64_t sample) {
    const std::int64_t size = elements(all.shape) / all.shape[0];
    return Tensor{{1, all.shape[1], all.shape[2]},
                  {all.values.begin() + sample * size, all.values.begin() + (sample + 1) * size}};
  };
  const Tensor y = run_op("attention", {whole, {}, {}, {}, step}, attrs);
  for (std::int64_t sample = 0; sample < 3; ++sample) {
    Attrs of_part = attrs;
    of_part.set(kFirstElement, sample * 5 * 8);  // of y
    EXPECT_EQ(run_op("attention", {from(whole, sample), {}, {}, {}, step}, of_part), from(y, sample)) << sample;
  }
}

TEST(Attention, TheLayerDropsWhileTraining) {
  for (const bool training : {true, false}) {
    Builder net({.batch = 2, .training = training});
    net.layer("attention", net.input("x", {5, 12}), {{"heads", 2}, {"dropout", 0.1}});
    const Op& op = net.program().blocks[0].ops.back();
    EXPECT_EQ(op.in.size(), training ? 5U : 1U);
    EXPECT_EQ(op.attrs.has("key"), training);
  }
}

TEST(Attention, RowsAreTheLastOfMoreKeys) {
  expect_definition({2, 7, 9, kScale, [](auto, auto t, auto s) { return s <= 2 + t; }}, {}, {{"causal", 1}});
  expect_definition({2, 7, 9, kScale, [](auto, auto t, auto s) { return s <= 2 + t && s > t - 1; }}, {},
                    {{"causal", 1}, {"window", 3}});
  expect_definition({2, 7, 9, kScale, [](auto, auto t, auto s) { return std::abs(s - 2 - t) < 3; }}, {},
                    {{"window", 3}});
}

TEST(Attention, NoKeyBeyondItsSamplesLengthIsSeen) {
  const Tensor lengths{{2}, {8, 5}, DType::i32};
  const auto length = [&](std::int64_t b) { return static_cast<std::int64_t>(lengths.values[b]); };
  expect_definition({2, 7, 9, kScale, [&](auto b, auto, auto s) { return s < length(b); }}, lengths, {});
  expect_definition({2, 9, 9, kScale, [&](auto b, auto t, auto s) { return s < length(b) && s <= t; }}, lengths,
                    {{"causal", 1}});
  // Of the second sample, of length 5, the first two of the seven rows have no position.
  expect_definition({2, 7, 9, kScale, [&](auto b, auto t, auto s) { return s <= length(b) - 7 + t; }}, lengths,
                    {{"causal", 1}});
}

TEST(Attention, OnePackedInputIsTheSame) {
  constexpr std::int64_t kBatch = 2, kRows = 7;
  const Shape one{kBatch, kRows, kHeads * kSize};
  const Tensor q = random_tensor(one, 4), k = random_tensor(one, 5), v = random_tensor(one, 6);
  Tensor all{{kBatch, kRows, 3 * kHeads * kSize}, {}};
  for (std::int64_t row = 0; row < kBatch * kRows; ++row)
    for (const Tensor* part : {&q, &k, &v}) {
      const auto begin = part->values.begin() + row * kHeads * kSize;
      all.values.insert(all.values.end(), begin, begin + kHeads * kSize);
    }
  const Attrs attrs{{"heads", kHeads}, {"causal", 1}};
  EXPECT_EQ(run_op("attention", {all}, attrs), run_op("attention", {q, k, v}, attrs));
}

TEST(Attention, LargeScoresStayInRange) {
  const Tensor q{{1, 2, 1}, {300, -300}}, k{{1, 2, 1}, {300, -300}}, v{{1, 2, 1}, {1, 2}};
  for (const DType dtype : {DType::f32, DType::f64}) {
    std::vector<Tensor> in = {q, k, v};
    for (Tensor& tensor : in) tensor.dtype = dtype;
    EXPECT_EQ(run_op("attention", in, {{"heads", 1}}).values, (std::vector<double>{1, 2})) << name_of(dtype);
  }
}

/// Keys grow along one ray, so of the keys that row t sees the last has by far the largest score, and its share is 1.
TEST(Attention, GradientsOfHugeScoresAreThoseOfTheLargest) {
  const Shape shape{1, 150, 5};  // more than a tile of rows and of keys
  for (const DType dtype : {DType::f32, DType::f64, DType::bf16, DType::f16}) {
    const Attrs to{{"dtype", std::string(name_of(dtype))}};
    const Tensor v = run_op("cast", {random_tensor(shape, 3)}, to), dy = run_op("cast", {random_tensor(shape, 4)}, to);
    Tensor q{shape, {}, dtype}, k = q;
    for (int t = 1; t <= 150; ++t)
      for (const double x : {1.1, 0.3, -0.7, 0.2, 0.9}) q.values.push_back(x), k.values.push_back(x * t);
    for (const double scale : {1e4, 1e6, 1e8, 1e12, 1e18, 1e22, 1e30}) {
      SCOPED_TRACE(message(name_of(dtype), ", scale ", scale));
      const Attrs attrs{{"heads", 1}, {"causal", 1}, {"scale", scale}};
      const Tensor y = run_op("attention", {q, k, v}, attrs), lse = run_op("attention", {q, k, v}, attrs, 1);
      EXPECT_EQ(y, v);
      const std::vector<Tensor> in = {q, k, v, {}, {}, {}, {}, y, lse, dy};
      for (const int slot : {0, 1})
        for (const double gradient : run_op("attention_grad", in, attrs, slot).values) ASSERT_EQ(gradient, 0) << slot;
      EXPECT_EQ(run_op("attention_grad", in, attrs, 2), dy);
    }
  }
}

TEST(Attention, WhatDoesNotFitIsToldByName) {
  const auto told = [](const std::vector<Shape>& shapes, const Attrs& attrs, const std::map<int, DType>& dtypes = {}) {
    return complaint("attention", shapes, attrs, dtypes);
  };
  EXPECT_EQ(told({{2, 5}}, {{"heads", 1}}), "attention: q is f32[2,5], expected [B,T,width]");
  EXPECT_EQ(told({{2, 5, 100}}, {{"heads", 12}}),
            "attention: 36 heads of queries, keys and values do not divide a width of 100");
  EXPECT_EQ(told({{2, 5, 20}, {2, 5, 20}, {2, 5, 20}}, {{"heads", 3}}),
            "attention: 3 heads do not divide a width of 20");
  EXPECT_EQ(told({{2, 5, 20}}, {{"heads", 4}, {"kv_heads", 3}}),
            "attention: 3 heads of keys and values do not divide 4 of queries");
  EXPECT_EQ(told({{2, 5, 20}}, {{"heads", 0}}), "attention: 0 heads and 0 of keys and values, expected at least 1");
  EXPECT_EQ(told({{2, 5, 12}, {2, 7, 6}, {2, 7, 12}}, {{"heads", 4}, {"kv_heads", 2}}),
            "attention: v is f32[2,7,12], expected f32[2,7,6]");
  EXPECT_EQ(told({{2, 5, 12}, {2, 3, 12}, {2, 3, 12}}, {{"heads", 4}, {"causal", 1}}),
            "attention: 5 rows and 3 keys, expected as many keys at least where rows have positions among them");
  EXPECT_EQ(told({{2, 5, 12}, {2, 5, 12}, {2, 5, 12}, {3}}, {{"heads", 4}}, {{3, DType::i32}}),
            "attention: lengths is i32[3], expected i32[2]");
  EXPECT_EQ(told({{2, 5, 12}}, {{"heads", 4}, {"window", -1}}), "attention: window is -1, expected at least 0");
  EXPECT_EQ(told({{2, 5, 12}, {2, 5, 12}, {2, 5, 12}, {2}, {}}, {{"heads", 4}, {"dropout", 1.0}},
                 {{3, DType::i32}, {4, DType::i64}}),
            "attention: dropout is 1, expected at least 0 and below 1");
  EXPECT_EQ(told({{2, 5, 12}, {2, 5, 12}, {2, 5, 12}, {2}, {}}, {{"heads", 4}, {"dropout", 0.1}}, {{3, DType::i32}}),
            "attention: step is f32[], expected i64[]");
  EXPECT_EQ(told({{2, 5, 12}, {2, 5, 12}, {2, 5, 12}, {2}, {}, {2, 4}}, {{"heads", 4}},
                 {{3, DType::i32}, {4, DType::i64}, {5, DType::i32}}),
            "attention: positions is i32[2,4], expected i32[2,5]");
}

TEST(Attention, TheLayerTakesLengthsAfterOneInputOrThree) {
  Builder net({.batch = 2});
  const VarId packed = net.input("packed", {5, 12}), x = net.input("x", {5, 4});
  const VarId lengths = net.input("lengths", {}, DType::i32);
  const Attrs heads{{"heads", 2}};
  for (const std::vector<VarId>& in : {std::vector{packed}, {packed, lengths}, {x, x, x}, {x, x, x, lengths}})
    EXPECT_EQ(net.shape(net.layer("attention", in, heads)), (Shape{2, 5, 4}));
  EXPECT_TRUE(fails_with("attention: one of k and v is given, expected both or neither", [&] {
    Program program;
    const VarId q = add_var(program, {.name = "q", .shape = {2, 5, 4}, .kind = Kind::Input});
    append_op(program, 0, Role::Forward, "attention", {q, q}, heads, "y");
  }));
}

/// The matrices of scores that are never made: [heads, T, T] of T = 4096.
TEST(Attention, TakesMemoryThatIsLinearInTheLength) {
  AttentionShape s{.batch = 1, .heads = 12, .kv_heads = 12, .size = 64, .causal = true, .packed = true};
  const auto workspaces = [&](std::int64_t length) {
    s.rows = s.keys = length;
    return std::array{prepare_attention_cpu(s, DType::f32, 2)->workspace_bytes(),
                      prepare_attention_grad_cpu(s, DType::f32, 2)->workspace_bytes()};
  };
  const auto half = workspaces(2048), whole = workspaces(4096);
  EXPECT_EQ(whole[0], half[0]);
  EXPECT_LE(whole[1], 2 * half[1]);
  const std::int64_t lse = 12 * 4096 * 4, scores = std::int64_t{12} * 4096 * 4096 * 4;
  EXPECT_LT(whole[0] + whole[1] + lse, scores / 50);
}

}  // namespace
}  // namespace lethe::testing
