#include <gtest/gtest.h>

#include <cmath>

#include "framework/builder/builder.h"
#include "tests/support/run_op.h"

namespace lethe::testing {
namespace {

Attrs heads_of(std::int64_t size) { return {{"head_size", size}, {"base", 10000.0}}; }

Tensor offsets(const std::vector<double>& values, const Shape& shape) { return {shape, values, DType::i32}; }

void expect_values(const Tensor& given, const std::vector<double>& expected) {
  ASSERT_EQ(given.values.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(given.values[i], expected[i], 1e-14) << i;
}

TEST(Rope, TurnsPairsThatStandHalfAHeadApart) {
  // Steps 0 and 1 of one head of four: pair 0 turns by 1 a step, pair 1 by 1 / 100.
  const Tensor x{{1, 2, 4}, {1, 2, 3, 4, 1, 2, 3, 4}};
  const double c = std::cos(1), s = std::sin(1), slow_c = std::cos(0.01), slow_s = std::sin(0.01);
  expect_values(run_op("rope", {x, {}}, heads_of(4)),
                {1, 2, 3, 4,  //
                 c - 3 * s, 2 * slow_c - 4 * slow_s, 3 * c + s, 4 * slow_c + 2 * slow_s});
}

TEST(Rope, LetsTheHeadsAfterThoseThatAreRotatedPass) {
  Attrs attrs = heads_of(2);
  attrs.set("rotated", 1);
  const Tensor y = run_op("rope", {Tensor{{1, 2, 4}, {1, 0, 5, 6, 1, 0, 7, 8}}, {}}, attrs);
  expect_values(y, {1, 0, 5, 6, std::cos(1), std::sin(1), 7, 8});
}

TEST(Rope, AnOffsetIsAddedToPositions) {
  const Tensor one{{2, 1, 2}, {1, 0, 1, 0}};
  expect_values(run_op("rope", {one, offsets({5}, {})}, heads_of(2)),
                {std::cos(5), std::sin(5), std::cos(5), std::sin(5)});
  expect_values(run_op("rope", {one, offsets({5, 70000}, {2})}, heads_of(2)),
                {std::cos(5), std::sin(5), std::cos(70000), std::sin(70000)});
}

TEST(Rope, SlowsPairsByHowOftenTheyTurnInTheLength) {
  // Within 2 pi 40 positions pair 0 turns 40 times, pair 1 4 times, pair 2 0.4 times; 4 is half way from 1 to 7.
  Attrs attrs{{"head_size", 6}, {"base", 1000.0}, {"factor", 8.0}, {"high_freq_factor", 7.0}};
  attrs.set("original_length", 251.32741228718345);
  const Tensor y = run_op("rope", {Tensor{{1, 1, 6}, {1, 1, 1, 0, 0, 0}}, offsets({3}, {})}, attrs);
  const double fast = 3, between = 0.3 * (0.5 + 0.5 / 8), slow = 0.03 / 8;
  expect_values(y,
                {std::cos(fast), std::cos(between), std::cos(slow), std::sin(fast), std::sin(between), std::sin(slow)});
}

TEST(Rope, SaysWhatDoesNotFit) {
  EXPECT_EQ(complaint("rope", {{2, 3}}, heads_of(2)), "rope: input is [2,3], expected sequences [N,T,heads*head_size]");
  EXPECT_EQ(complaint("rope", {{2, 3, 6}}, heads_of(3)), "rope: head_size is 3, expected an even number from 2");
  EXPECT_EQ(complaint("rope", {{2, 3, 6}}, heads_of(4)), "rope: a width of 6 is not made of heads of 4");
  Attrs attrs = heads_of(2);
  attrs.set("rotated", 4);
  EXPECT_EQ(complaint("rope", {{2, 3, 6}}, attrs), "rope: rotated is 4, expected 0 to the 3 heads");
  Attrs slowed = heads_of(2);
  slowed.set("factor", 0.5);
  EXPECT_EQ(complaint("rope", {{2, 3, 6}}, slowed), "rope: factor is 0.5, expected at least 1");
  slowed.set("factor", 8.0);
  slowed.set("low_freq_factor", 4.0);
  EXPECT_EQ(complaint("rope", {{2, 3, 6}}, slowed),
            "rope: low_freq_factor is 4, high_freq_factor 4, expected the first above 0 and below the second");
  EXPECT_EQ(complaint("rope", {{2, 3, 6}, {3}}, heads_of(2), {{1, DType::i32}}),
            "rope: offset is i32[3], expected an i32 scalar or i32[2]");
}

TEST(SinusoidalPositions, AreSinesAndCosinesSideBySide) {
  const Attrs attrs{{"length", 2}, {"width", 4}, {"base", 10000.0}, {"dtype", "f64"}};
  expect_values(run_op("sinusoidal_positions", {}, attrs),
                {0, 1, 0, 1, std::sin(1), std::cos(1), std::sin(0.01), std::cos(0.01)});
}

TEST(SinusoidalPositions, AreOfTheInputsLengthAndWidth) {
  Builder net({.batch = 3});
  const VarId x = net.layer("embedding", net.input("text", {5}, DType::i32), {{"vocab", 7}, {"out", 6}});
  EXPECT_EQ(net.shape(net.layer("sinusoidal_positions", x)), (Shape{1, 5, 6}));
}

}  // namespace
}  // namespace lethe::testing
