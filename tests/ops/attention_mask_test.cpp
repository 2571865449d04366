// Attention with a mask that is added to its scores.
#include <gtest/gtest.h>

#include "framework/autodiff/autodiff.h"
#include "framework/builder/builder.h"
#include "tests/ops/attention_definition.h"
#include "tests/support/expect_error.h"

namespace lethe::testing {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

/// All that a mask of these scores may be: each axis before the last whole, or 1.
std::vector<Shape> shapes_for(std::int64_t batch, std::int64_t rows, std::int64_t keys) {
  std::vector<Shape> shapes;
  for (const std::int64_t samples : {std::int64_t{1}, batch})
    for (const std::int64_t heads : {std::int64_t{1}, kHeads})
      for (const std::int64_t of_rows : {std::int64_t{1}, rows}) shapes.push_back({samples, heads, of_rows, keys});
  return shapes;
}

TEST(AttentionMask, IsAddedToScores) {
  for (const DType dtype : {DType::f32, DType::f64})
    for (const Shape& shape : shapes_for(2, 7, 9)) {
      SCOPED_TRACE(message(name_of(dtype), ", ", text_of(shape)));
      expect_definition({2, 7, 9, kScale, sees_all, 0, random_mask(shape)}, {}, {}, dtype);
    }
}

/// More than a tile of rows and of keys, with all else that hides keys or drops shares.
TEST(AttentionMask, GoesWithWhatElseLimitsKeys) {
  const Tensor lengths{{2}, {140, 131}, DType::i32};
  Tensor texts{{2, 140}, {}, DType::i32};
  for (int i = 0; i < 280; ++i) texts.values.push_back(i % 70);
  const auto sees = [&](auto b, auto t, auto s) {
    return s < (b == 0 ? 140 : 131) && s <= t && s > t - 60 && s >= t / 70 * 70;
  };
  for (const Shape& shape : shapes_for(2, 140, 140)) {
    SCOPED_TRACE(text_of(shape));
    expect_definition({2, 140, 140, kScale, sees, 0.25, random_mask(shape)}, lengths, {{"causal", 1}, {"window", 60}},
                      DType::f32, texts);
  }
}

/// Such rows give 0, pass nothing on, and leave the gradient of the mask 0.
TEST(AttentionMask, MayHideAllKeysOfARow) {
  Tensor mask = random_mask({1, kHeads, 140, 80});
  for (const std::int64_t row : {0, 5, 127, 128, 139})
    std::fill_n(mask.values.begin() + (2 * 140 + row) * 80, 80, kNever);
  const Defined of{1, 140, 80, kScale, sees_all, 0, mask};
  EXPECT_EQ(of.lse.values[2 * 140 + 128], 0);
  for (const DType dtype : {DType::f32, DType::f64}) expect_definition(of, {}, {}, dtype);
  Tensor none{{1, 1, 1, 9}, std::vector<double>(9, kNever)};
  expect_definition({2, 7, 9, kScale, sees_all, 0, none}, {}, {});
}

/// As networks of other libraries say it: all earlier keys 0, all later ones -inf.
TEST(AttentionMask, OfLaterKeysIsThatOfCausalAttention) {
  const Tensor qkv = random_tensor({2, 150, 24}, 1);
  Tensor mask{{1, 1, 150, 150}, {}};
  for (int i = 0; i < 150 * 150; ++i) mask.values.push_back(i % 150 <= i / 150 ? 0 : kNever);
  const Tensor causal = run_op("attention", {qkv}, {{"heads", 2}, {"causal", 1}});
  const Tensor masked = run_op("attention", {qkv, {}, {}, {}, {}, {}, mask}, {{"heads", 2}});
  for (std::size_t i = 0; i < causal.values.size(); ++i) ASSERT_NEAR(masked.values[i], causal.values[i], 1e-14) << i;
}

/// Small scores, which a series caps, large ones, and a mask that must not be capped.
TEST(AttentionMask, IsAddedAfterTheCapOfScores) {
  const auto near = [](auto, auto t, auto s) { return s <= t && s > t - 60; };
  for (const DType dtype : {DType::f32, DType::f64})
    for (const double scale : {0.1, 4.0})
      for (const double softcap : {0.7, 5.0}) {
        SCOPED_TRACE(message(name_of(dtype), ", scale ", scale, ", softcap ", softcap));
        expect_definition({2, 7, 9, scale, sees_all, 0, {}, softcap}, {}, {{"scale", scale}}, dtype);
        expect_definition({1, 140, 140, scale, near, 0.25, random_mask({1, kHeads, 1, 140}), softcap}, {},
                          {{"scale", scale}, {"causal", 1}, {"window", 60}}, dtype);
      }
  EXPECT_EQ(complaint("attention", {{2, 5, 12}}, {{"heads", 4}, {"softcap", -1.0}}),
            "attention: softcap is -1, expected at least 0");
}

TEST(AttentionMask, TheLayerTakesItLast) {
  Builder net({.batch = 2});
  const VarId packed = net.input("packed", {5, 12}), x = net.input("x", {5, 4});
  const VarId lengths = net.input("lengths", {}, DType::i32);
  const Attrs heads{{"heads", 2}, {"mask", 1}};
  const VarId of_keys = net.input("of_keys", {5}), of_rows = net.layer("parameter", packed, {{"shape", Ints{5, 5}}});
  const VarId of_heads = net.layer("parameter", packed, {{"shape", Ints{2, 5, 5}}});
  const std::map<VarId, Shape> masks = {{of_keys, {2, 1, 1, 5}}, {of_rows, {1, 1, 5, 5}}, {of_heads, {1, 2, 5, 5}}};
  for (const auto& [mask, shape] : masks)
    for (std::vector<VarId> in : {std::vector{packed}, {packed, lengths}, {x, x, x}, {x, x, x, lengths}}) {
      const bool limited = in.back() == lengths;
      in.push_back(mask);
      EXPECT_EQ(net.shape(net.layer("attention", in, heads)), (Shape{2, 5, 4}));
      const Op& op = net.program().blocks[0].ops.back();
      ASSERT_EQ(op.in.size(), 7U);
      EXPECT_EQ(net.shape(op.in[6]), shape);
      EXPECT_EQ(op.in[3] != kNone, limited);
    }
  const auto refused = [&](const std::string& why, const std::vector<VarId>& in) {
    EXPECT_TRUE(fails_with(why, [&] { net.layer("attention", in, heads); }));
  };
  refused("attention: 1 inputs, expected 1 to 4 before the mask", {packed});
  refused("attention: mask is f32[2,1,5,12], expected the shape of scores, [2,2,5,5], or 1 for any of its first three",
          {packed, packed});
  refused("attention: mask is i32[2,1,1,1], expected f32", {packed, net.input("whole", {1}, DType::i32)});
  refused("attention: the mask is an image, expected a plain value",
          {packed, net.layer("parameter", packed, {{"shape", Ints{2, 5, 5}}, {"layout", "image"}})});
  EXPECT_TRUE(fails_with("attention: 5 inputs, expected 1 to 4", [&] {
    net.layer("attention", {x, x, x, lengths, of_rows}, {{"heads", 2}});
  }));
}

TEST(AttentionMask, HasAGradientWhereOneIsNeeded) {
  const auto ops_of = [](const std::set<std::string>& frozen) {
    Builder net({.batch = 2, .frozen = frozen});
    const VarId x = net.layer("fc", net.input("x", {5, 4}), {{"out", 12}, {"flatten", 0}}, "fc");
    const VarId mask = net.layer("parameter", x, {{"shape", Ints{5, 5}}}, "mask");
    net.loss("mse", net.layer("attention", {x, mask}, {{"heads", 2}, {"mask", 1}}), net.input("t", {5, 4}));
    Network network = net.finish();
    append_backward(network.program, network.loss, {}, kNone, network.frozen);
    std::set<std::string> types;
    for (const Op& op : network.program.blocks[0].ops) types.insert(op.type);
    return std::pair{types.contains("attention_grad"), types.contains("attention_mask_grad")};
  };
  EXPECT_EQ(ops_of({}), (std::pair{true, true}));
  EXPECT_EQ(ops_of({"mask.weight"}), (std::pair{true, false}));
  EXPECT_EQ(ops_of({"fc.weight", "fc.bias"}), (std::pair{false, true}));
}

}  // namespace
}  // namespace lethe::testing
