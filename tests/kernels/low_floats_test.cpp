// bf16 and f16 against what their formats are: all patterns, and all that lies between two neighbours. Subnormals of
// bf16 are those of f32, which threads of ours flush to zero: they are left out where values are widened.
#include "kernels/low_floats.h"

#include <gtest/gtest.h>

#include <cmath>

namespace lethe::testing {
namespace {

/// The value of a pattern with `exponent` bits of exponent and `mantissa` of mantissa after a sign, by IEEE 754.
double value_of(unsigned pattern, int exponent, int mantissa) {
  const unsigned fraction = pattern & ((1U << mantissa) - 1), power = pattern >> mantissa & ((1U << exponent) - 1);
  const double sign = pattern >> (exponent + mantissa) ? -1 : 1;
  const int bias = (1 << (exponent - 1)) - 1;
  if (power == (1U << exponent) - 1) return fraction == 0 ? sign * INFINITY : NAN;
  if (power == 0) return sign * std::ldexp(fraction, 1 - bias - mantissa);
  return sign * std::ldexp(fraction + (1U << mantissa), static_cast<int>(power) - bias - mantissa);
}

template <class T>
T of_bits(unsigned bits) {
  T x;
  x.bits = static_cast<std::uint16_t>(bits);
  return x;
}

constexpr unsigned kLeastBf16 = 0x80, kLeastF16 = 0;  // of what is tested

template <class T>
void hold_what_their_bits_say(int exponent, int mantissa, unsigned least) {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    if ((bits & 0x7FFF) < least) continue;
    const double value = value_of(bits, exponent, mantissa);
    const T x = of_bits<T>(bits);
    if (std::isnan(value)) {
      ASSERT_TRUE(std::isnan(compute(x))) << bits;
      ASSERT_TRUE(std::isnan(compute(T(compute(x))))) << bits;
      continue;
    }
    ASSERT_EQ(compute(x), value) << bits;
    ASSERT_EQ(T(value).bits, bits);
    ASSERT_EQ(T(static_cast<float>(value)).bits, bits);
  }
}

TEST(LowFloats, HoldWhatTheirBitsSay) {
  hold_what_their_bits_say<Bf16>(8, 7, kLeastBf16);
  hold_what_their_bits_say<F16>(5, 10, kLeastF16);
}

/// Between two neighbours the middle goes to the even one, all else to the nearer one; `largest` is finite still.
template <class T>
void round_to_the_nearest(unsigned least, unsigned largest) {
  for (unsigned bits = least; bits < largest; ++bits) {
    const double low = compute(of_bits<T>(bits)), high = compute(of_bits<T>(bits + 1)), middle = (low + high) / 2;
    const unsigned even = bits % 2 == 0 ? bits : bits + 1;
    ASSERT_EQ(T(middle).bits, even) << bits;
    ASSERT_EQ(T(-middle).bits, even | 0x8000) << bits;
    ASSERT_EQ(T(std::nextafter(middle, low)).bits, bits) << bits;
    ASSERT_EQ(T(std::nextafter(middle, high)).bits, bits + 1) << bits;
    if (const auto near = static_cast<float>(middle); near == middle && std::isnormal(near)) {
      ASSERT_EQ(T(near).bits, even) << bits;
      ASSERT_EQ(T(std::nextafterf(near, 0)).bits, bits) << bits;
    }
  }
}

TEST(LowFloats, RoundToTheNearestTiesToEven) {
  round_to_the_nearest<Bf16>(kLeastBf16, 0x7F7F);
  round_to_the_nearest<F16>(kLeastF16, 0x7BFF);
}

template <class T>
void tell_what_becomes_zero(float most) {
  for (const float size :
       {0.0F, std::nextafterf(most, 0), most, std::nextafterf(most, 1), 0x1p-24F, 1.0F, INFINITY, NAN})
    for (const float x : {size, -size}) EXPECT_EQ(rounds_to_at_most_zero<T>(x), compute(static_cast<T>(x)) <= 0) << x;
}

TEST(LowFloats, TellWithoutRoundingWhatBecomesZero) {
  tell_what_becomes_zero<Bf16>(Bf16::kMostToZero);
  tell_what_becomes_zero<F16>(F16::kMostToZero);
  tell_what_becomes_zero<float>(0);
}

TEST(LowFloats, BecomeInfiniteBeyondHalfAStepAboveTheLargest) {
  EXPECT_EQ(F16(65519.99).bits, 0x7BFF);
  EXPECT_EQ(F16(65520).bits, 0x7C00);
  EXPECT_EQ(F16(-1e30F).bits, 0xFC00);
  EXPECT_EQ(F16(1e300).bits, 0x7C00);
  EXPECT_EQ(Bf16(3.4e38F).bits, 0x7F80);
  EXPECT_EQ(Bf16(-1e300).bits, 0xFF80);
  EXPECT_EQ(F16(1e-300).bits, 0);
}

}  // namespace
}  // namespace lethe::testing
