#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/run_op.h"

namespace lethe::testing {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kInf = std::numeric_limits<double>::infinity();

double of_one(const std::string& op, double x, const Attrs& attrs = {}) {
  return run_op(op, {{{1}, {x}}}, attrs).values[0];
}

TEST(Elementwise, NanIsNeverHidden) {
  EXPECT_TRUE(std::isnan(of_one("relu", kNan)));
  EXPECT_TRUE(std::isnan(of_one("leaky_relu", kNan, {{"slope", 0.1}})));
  EXPECT_TRUE(std::isnan(of_one("threshold", kNan, {{"threshold", 0.0}, {"value", 1.0}})));
  EXPECT_TRUE(std::isnan(of_one("clip", kNan, {{"min", 0.0}, {"max", 1.0}})));
  EXPECT_TRUE(std::isnan(of_one("shrink", kNan, {{"bias", 0.5}, {"lambd", 0.5}})));
  EXPECT_TRUE(std::isnan(of_one("elu", kNan, {{"alpha", 1.0}})));
  EXPECT_TRUE(std::isnan(of_one("hard_sigmoid", kNan, {{"alpha", 0.2}, {"beta", 0.5}})));
  EXPECT_TRUE(std::isnan(run_op("prelu", {{{1}, {kNan}}, {{1}, {0.5}}}).values[0]));
  for (const char* const op : {"abs", "sign", "floor", "ceil", "round", "mish", "hard_swish", "softsign", "erf"})
    EXPECT_TRUE(std::isnan(of_one(op, kNan))) << op;
  for (const auto& [a, b] : {std::pair{kNan, 1.0}, {1.0, kNan}, {kNan, kNan}})
    for (const char* const op : {"max", "min"})
      EXPECT_TRUE(std::isnan(run_op(op, {{{1}, {a}}, {{1}, {b}}}).values[0])) << op << ' ' << a << ", " << b;
}

TEST(Elementwise, KnownValues) {
  EXPECT_NEAR(of_one("sigmoid", 2), 0.88079707797788243, 1e-15);
  EXPECT_EQ(of_one("sigmoid", -1000), 0);
  EXPECT_NEAR(of_one("gelu", 1), 0.84134474606854293, 1e-15);
  EXPECT_NEAR(of_one("gelu", 1, {{"approximate", "tanh"}}), 0.84119199060827676, 1e-15);
  EXPECT_NEAR(of_one("silu", 1), 0.73105857863000490, 1e-15);
  EXPECT_EQ(of_one("leaky_relu", -2, {{"slope", 0.25}}), -0.5);
  EXPECT_EQ(of_one("threshold", 1, {{"threshold", 1.0}, {"value", 7.0}}), 7);
  EXPECT_EQ(of_one("clip", 5, {{"min", 0.0}}), 5);
  EXPECT_EQ(of_one("clip", 5, {{"max", 3.0}}), 3);
  EXPECT_FALSE(std::signbit(of_one("abs", -0.0)));
}

TEST(Elementwise, ExponentialsInF32AreNearOverAllOfTheirRange) {
  const std::vector<double> inputs = {-200, -100, -88, -87, -20, -3, -1e-3, 0, 0.3, 2, 30, 88, 100, 1e6, kInf};
  for (const double x : inputs) {
    const double silu = run_op("silu", {{{1}, {x}, DType::f32}}).values[0], expected = x / (1 + std::exp(-x));
    EXPECT_TRUE(silu == expected || std::fabs(silu - expected) <= 4e-7 * std::fabs(expected) + 1e-36) << x;
    const double gelu = run_op("gelu", {{{1}, {x}, DType::f32}}).values[0], half = 0.5 * std::erfc(-x / std::sqrt(2.));
    EXPECT_TRUE(gelu == x || std::fabs(gelu - x * half) <= 3e-7 * (1 + std::fabs(x * half))) << x;
  }
  EXPECT_TRUE(std::isnan(run_op("silu", {{{1}, {kNan}, DType::f32}}).values[0]));
  EXPECT_TRUE(std::isnan(run_op("gelu", {{{1}, {kNan}, DType::f32}}).values[0]));
}

const std::vector<DType> kFloats = {DType::f32, DType::f64, DType::bf16, DType::f16};
const double kInexact[] = {0.1, -0.1, 0.3, -0.7, 1 / 3., 1e-6, 1000.3, -70000.1};  // no float dtype has one of them

/// In each dtype some of these bounds are rounded up and some down.
TEST(Clip, NothingPassesToWhatABoundHolds) {
  for (const DType dtype : kFloats)
    for (const double bound : kInexact)
      for (const bool is_least : {true, false}) {
        const Attrs attrs{{is_least ? "min" : "max", bound}};
        const double away = is_least ? -1.0 : 1.0;
        const Tensor x{{2}, {bound + away * (1 + std::abs(bound) / 8), bound}, dtype}, dy{{2}, {5, 5}, dtype};
        const Tensor y = run_op("clip", {x}, attrs);
        EXPECT_EQ(y.values[0], y.values[1]) << name_of(dtype) << ", " << bound;
        EXPECT_EQ(run_op("clip_grad", {y, dy}, attrs).values, (std::vector<double>{0, 0}))
            << name_of(dtype) << ", " << bound;
      }
}

TEST(Threshold, NothingPassesToWhatIsNotAboveIt) {
  for (const DType dtype : kFloats)
    for (const double threshold : kInexact) {
      const Attrs attrs{{"threshold", threshold}, {"value", threshold}};
      const Tensor x{{2}, {threshold - 1 - std::abs(threshold) / 8, threshold}, dtype}, dy{{2}, {5, 5}, dtype};
      const Tensor y = run_op("threshold", {x}, attrs);
      EXPECT_EQ(y.values[0], y.values[1]) << name_of(dtype) << ", " << threshold;
      EXPECT_EQ(run_op("threshold_grad", {y, dy}, {{"threshold", threshold}}).values, (std::vector<double>{0, 0}))
          << name_of(dtype) << ", " << threshold;
    }
}

TEST(MaxGradient, EqualOperandsShareIt) {
  const Tensor a{{3}, {1, 2, 3}}, b{{3}, {3, 2, 1}}, dy{{3}, {8, 8, 8}};
  EXPECT_EQ(run_op("max_grad", {a, b, dy}, {{"of", 0}}), (Tensor{{3}, {0, 4, 8}}));
  EXPECT_EQ(run_op("max_grad", {a, b, dy}, {{"of", 1}}), (Tensor{{3}, {8, 4, 0}}));
  EXPECT_EQ(run_op("min_grad", {a, b, dy}, {{"of", 0}}), (Tensor{{3}, {8, 4, 0}}));
}

TEST(Cast, RoundsToTheNearestBf16AndTiesToEven) {
  // Neighbours of 1 in bf16 are 2^-7 apart; the last three lie next to a tie, nearer than f32 can tell.
  const double ulp = 1.0 / 128, hair = 1e-12;
  const Tensor x{{6},
                 {1 + 0.49 * ulp, 1 + 0.5 * ulp, 1 + 1.5 * ulp, 1 + 0.5 * ulp + hair, 1 + 1.5 * ulp - hair,
                  -1 - 0.5 * ulp - hair}};
  EXPECT_EQ(run_op("cast", {x}, {{"dtype", "bf16"}}),
            (Tensor{{6}, {1, 1, 1 + 2 * ulp, 1 + ulp, 1 + ulp, -1 - ulp}, DType::bf16}));
}

TEST(Cast, KeepsInfinityAndNanInBf16) {
  const Tensor y = run_op("cast", {{{4}, {kInf, -kInf, 3.4e38, kNan}, DType::f32}}, {{"dtype", "bf16"}});
  EXPECT_EQ(y.values[0], kInf);
  EXPECT_EQ(y.values[1], -kInf);
  EXPECT_EQ(y.values[2], kInf);
  EXPECT_TRUE(std::isnan(y.values[3]));
}

TEST(Cast, CutsFractionsOffAndStaysInRange) {
  EXPECT_EQ(run_op("cast", {{{6}, {1.9, -1.9, 3e9, -3e9, kNan, kInf}}}, {{"dtype", "i32"}}),
            (Tensor{{6}, {1, -1, 2147483647, -2147483648, 0, 2147483647}, DType::i32}));
  EXPECT_EQ(run_op("cast", {{{3}, {255.5, 256, -1}, DType::f32}}, {{"dtype", "u8"}}),
            (Tensor{{3}, {255, 255, 0}, DType::u8}));
}

TEST(Offset, IsExactOnWholeNumbers) {
  const Tensor x{{2}, {9007199254740991.0, -3}, DType::i64};
  EXPECT_EQ(run_op("offset", {x}, {{"by", 1}}), (Tensor{{2}, {9007199254740992.0, -2}, DType::i64}));
  EXPECT_EQ(run_op("offset", {x}, {{"by", -1}}), (Tensor{{2}, {9007199254740990.0, -4}, DType::i64}));
  EXPECT_EQ(of_one("offset", 0.25, {{"by", -0.5}}), -0.25);
}

TEST(Offset, RefusesWhatTheDtypeCannotHold) {
  EXPECT_EQ(complaint("offset", {{}}, {{"by", 0.5}}, {{0, DType::i64}}), "offset: by is 0.5, which no i64 is");
  EXPECT_EQ(complaint("offset", {{}}, {{"by", 256}}, {{0, DType::u8}}), "offset: by is 256, which no u8 is");
}

TEST(Comparison, GivesTruthValues) {
  const Tensor a{{3}, {1, 2, 3}, DType::i32}, b{{3}, {2, 2, 2}, DType::i32};
  EXPECT_EQ(run_op("less", {a, b}), (Tensor{{3}, {1, 0, 0}, DType::u8}));
  EXPECT_EQ(run_op("greater", {a}, {{"value", 2.0}}), (Tensor{{3}, {0, 0, 1}, DType::u8}));
  EXPECT_EQ(run_op("equal", {{{2}, {kNan, 1}}, {{}, {1}}}), (Tensor{{2}, {0, 1}, DType::u8}));
}

/// As one with a second input that holds the value.
TEST(Comparison, RoundsTheValueToTheDtype) {
  for (const DType dtype : kFloats)
    for (const double value : kInexact)
      for (const char* const op : {"less", "greater", "equal"}) {
        const Tensor a{{1}, {value}, dtype};
        EXPECT_EQ(run_op(op, {a}, {{"value", value}}), run_op(op, {a, a})) << op << ", " << name_of(dtype);
      }
}

TEST(Logic, ReadsEverythingButZeroAsTrue) {
  const Tensor a{{4}, {0, 0, 2, 2}, DType::u8}, b{{4}, {0, 4, 0, 4}, DType::u8};
  EXPECT_EQ(run_op("logical_and", {a, b}), (Tensor{{4}, {0, 0, 0, 1}, DType::u8}));
  EXPECT_EQ(run_op("logical_or", {a, b}), (Tensor{{4}, {0, 1, 1, 1}, DType::u8}));
  EXPECT_EQ(run_op("logical_xor", {a, b}), (Tensor{{4}, {0, 1, 1, 0}, DType::u8}));
  EXPECT_EQ(run_op("logical_not", {a}), (Tensor{{4}, {1, 1, 0, 0}, DType::u8}));
}

}  // namespace
}  // namespace lethe::testing
