// Listed places of an axis, pads along any axes, running sums.
#include <gtest/gtest.h>

#include "tests/support/expect_error.h"
#include "tests/support/run_layer.h"

namespace lethe::testing {
namespace {

TEST(Gather, TakesListedPlacesOfAnAxis) {
  EXPECT_EQ(run_op("gather", {counted({2, 3, 2})}, {{"axis", 1}, {"indices", Ints{2, 0, 0}}}),
            (Tensor{{2, 3, 2}, {5, 6, 1, 2, 1, 2, 11, 12, 7, 8, 7, 8}}));
  EXPECT_EQ(run_op("gather", {counted({2, 2}, DType::u8)}, {{"axis", 0}, {"indices", Ints{1}}}),
            (Tensor{{1, 2}, {3, 4}, DType::u8}));
}

TEST(Gather, GradientSumsWhereAPlaceWasTaken) {
  const Attrs attrs{{"axis", 1}, {"indices", Ints{2, 0, 0}}, {"size", 3}};
  EXPECT_EQ(run_op("gather_grad", {counted({2, 3})}, attrs), (Tensor{{2, 3}, {5, 0, 1, 11, 0, 4}}));
}

TEST(Gather, TakesManyPlaces) {
  constexpr std::int64_t kCount = 100000, kSize = 1000;
  Ints indices;
  for (std::int64_t k = 0; k < kCount; ++k) indices.push_back(k * 7 % kSize);
  const Tensor y = run_op("gather", {counted({2, kSize})}, {{"axis", 1}, {"indices", indices}});
  ASSERT_EQ(y.shape, (Shape{2, kCount}));
  for (std::int64_t k = 0; k < kCount; ++k)
    ASSERT_EQ(y.values[static_cast<std::size_t>(kCount + k)], static_cast<double>(kSize + k * 7 % kSize + 1)) << k;
  const Tensor dy{{2, kCount}, std::vector<double>(2 * kCount, 0.5)};
  EXPECT_EQ(run_op("gather_grad", {dy}, {{"axis", 1}, {"indices", indices}, {"size", kSize}}),
            (Tensor{{2, kSize}, std::vector<double>(2 * kSize, 50)}));
}

TEST(GatherLayer, CountsFromBothEnds) {
  const Tensor image = counted({1, 2, 3, 2});
  EXPECT_EQ(run_layer("gather", image, {{"axis", "width"}, {"indices", Ints{-1, 0}}}),
            (Tensor{{1, 2, 2, 2}, {5, 6, 1, 2, 11, 12, 7, 8}}));
  EXPECT_EQ(run_layer("Gather", image, {{"axis", 0}, {"indices", Ints{1, 1, 0}}}).values,
            (std::vector<double>{2, 2, 1, 4, 4, 3, 6, 6, 5, 8, 8, 7, 10, 10, 9, 12, 12, 11}));
}

TEST(Gather, SaysWhatDoesNotFit) {
  const auto fails = [](const Ints& indices) {
    return error_of([&] { run_layer("gather", counted({1, 2, 3}), {{"axis", 0}, {"indices", indices}}); });
  };
  EXPECT_EQ(fails({0, 2}), "index 2 is no place of an axis of 2, expected -2 to 1");
  EXPECT_EQ(fails({-3}), "index -3 is no place of an axis of 2, expected -2 to 1");
  EXPECT_EQ(fails({}), "'indices' names no place");
  const Attrs two{{"axis", 1}, {"indices", Ints{0, -1}}};
  EXPECT_EQ(complaint("gather", {{2, 3}}, two), "gather: index -1 is no place of 3");
  EXPECT_EQ(complaint("gather", {{2}}, two), "gather: axis is 1, input has 1 axes");
  EXPECT_EQ(complaint("gather_grad", {{2, 3}}, {{"axis", 1}, {"indices", Ints{0}}, {"size", 3}}),
            "gather_grad: dy has 3 places, expected 1");
}

/// Of a row of numbers.
std::vector<double> padded_row(const std::vector<double>& row, const Ints& pads, const char* mode) {
  const Tensor x{{1, static_cast<std::int64_t>(row.size())}, row};
  return run_layer("pad", x, {{"pads", pads}, {"mode", mode}}).values;
}

TEST(PadLayer, HasTheModesOfOnnx) {
  using Row = std::vector<double>;
  EXPECT_EQ(padded_row({1, 2, 3, 4}, {2, 3}, "reflect"), (Row{3, 2, 1, 2, 3, 4, 3, 2, 1}));
  EXPECT_EQ(padded_row({1, 2, 3, 4}, {2, 3}, "edge"), (Row{1, 1, 1, 2, 3, 4, 4, 4, 4}));
  EXPECT_EQ(padded_row({1, 2, 3, 4}, {2, 3}, "wrap"), (Row{3, 4, 1, 2, 3, 4, 1, 2, 3}));
  EXPECT_EQ(padded_row({1, 2, 3, 4}, {2, 3}, "constant"), (Row{0, 0, 1, 2, 3, 4, 0, 0, 0}));
  EXPECT_EQ(run_layer("pad", counted({1, 2, 3}), {{"pads", Ints{1, 1, 0, 0}}, {"mode", "reflect"}}),
            (Tensor{{1, 3, 4}, {5, 4, 5, 6, 2, 1, 2, 3, 5, 4, 5, 6}}));
}

TEST(PadLayer, PadsAnyAxesOfASample) {
  EXPECT_EQ(run_layer("pad", counted({1, 2, 2}), {{"pads", Ints{1, 0, 0, 1}}, {"value", -1}}),
            (Tensor{{1, 3, 3}, {-1, -1, -1, 1, 2, -1, 3, 4, -1}}));
  // An image [2, 2, 1]: a channel before, a row after.
  EXPECT_EQ(run_layer("pad", counted({1, 2, 1, 2}), {{"pads", Ints{1, 0, 0, 0, 1, 0}}}),
            (Tensor{{1, 3, 1, 3}, {0, 1, 2, 0, 3, 4, 0, 0, 0}}));
  EXPECT_EQ(run_layer("pad", counted({1, 1, 2, 1}), {{"pad", Ints{0, 1}}, {"value", 0.5}}),
            (Tensor{{1, 1, 4, 1}, {0.5, 1, 2, 0.5}}));
}

TEST(PadLayer, CutsOffWhereNumbersAreBelowZero) {
  using Row = std::vector<double>;
  EXPECT_EQ(padded_row({1, 2, 3, 4}, {-1, 2}, "constant"), (Row{2, 3, 4, 0, 0}));
  EXPECT_EQ(padded_row({1, 2, 3, 4}, {-1, -1}, "constant"), (Row{2, 3}));
  EXPECT_EQ(padded_row({1, 2, 3, 4}, {-1, 2}, "reflect"), (Row{2, 3, 4, 3, 2}));
  EXPECT_EQ(run_layer("pad", counted({1, 3, 3, 1}), {{"pad", -1}}), (Tensor{{1, 1, 1, 1}, {5}}));
}

TEST(PadLayer, SaysWhatDoesNotFit) {
  const auto fails = [](const Attrs& settings) {
    return error_of([&] { run_layer("pad", counted({1, 4}), settings); });
  };
  EXPECT_EQ(fails({{"pads", Ints{4, 0}}, {"mode", "reflect"}}), "'reflect' gives an axis of 4 at most 3 pads, found 4");
  EXPECT_EQ(fails({{"pads", Ints{0, 5}}, {"mode", "wrap"}}), "'wrap' gives an axis of 4 at most 4 pads, found 5");
  EXPECT_EQ(fails({{"pads", Ints{1, 1}}, {"mode", "edge"}, {"value", 1}}),
            "'value' is for the mode \"constant\", found \"edge\"");
  EXPECT_EQ(fails({{"pads", Ints{1, 1, 1}}}),
            "'pads' is [1,1,1], expected 2 numbers for a sample [4]: those before each axis and then those after");
  EXPECT_EQ(fails({}), "'pad' takes either 'pad', with 'after' beside it, or 'pads'");
  EXPECT_EQ(fails({{"pads", Ints{1, 1}}, {"after", 1}}), "'after' stands beside 'pad'; 'pads' says both sides itself");
  EXPECT_EQ(fails({{"pads", Ints{-2, -2}}}), "pad: pads of -2 and -2 leave nothing of 4");
  const Attrs half{{"before", Ints{1}}, {"after", Ints{0}}, {"value", 0.5}};
  EXPECT_EQ(complaint("pad", {{2}}, half, {{0, DType::i32}}), "pad: value is 0.5, which i32 does not hold");
  const Attrs large{{"before", Ints{1}}, {"after", Ints{0}}, {"value", 256}};
  EXPECT_EQ(complaint("pad", {{2}}, large, {{0, DType::u8}}), "pad: value is 256, which u8 does not hold");
  EXPECT_EQ(complaint("pad", {{2}}, large, {{0, DType::i64}}), "");
}

TEST(CumSum, AddsUpFromEitherEnd) {
  const auto sums = [](const Attrs& settings) {
    Attrs attrs = settings;
    attrs.set("axis", 0);
    return run_layer("cumsum", counted({1, 4}), attrs).values;
  };
  using Row = std::vector<double>;
  EXPECT_EQ(sums({}), (Row{1, 3, 6, 10}));
  EXPECT_EQ(sums({{"exclusive", 1}}), (Row{0, 1, 3, 6}));
  EXPECT_EQ(sums({{"reverse", 1}}), (Row{10, 9, 7, 4}));
  EXPECT_EQ(sums({{"exclusive", 1}, {"reverse", 1}}), (Row{9, 7, 4, 0}));
  EXPECT_EQ(run_op("cumsum", {counted({2, 2, 2})}, {{"axis", 1}}), (Tensor{{2, 2, 2}, {1, 2, 4, 6, 5, 6, 12, 14}}));
  EXPECT_EQ(complaint("cumsum", {{2, 3}}, {{"axis", 2}}), "cumsum: axis is 2, input has 2 axes");
}

}  // namespace
}  // namespace lethe::testing
