#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "framework/language/dynamic_codes.h"
#include "framework/random.h"

namespace lethe {
namespace {

/// tests/oracles/dynamic_map.py writes it.
std::vector<float> map_of_oracle(const char* name) {
  std::ifstream file(LETHE_SOURCE_DIR "/tests/oracles/dynamic_map.json");
  return nlohmann::json::parse(file)[name].get<std::vector<float>>();
}

template <bool kSigned>
void expect_values(const std::vector<float>& map) {
  ASSERT_EQ(map.size(), 256u);
  for (int code = 0; code < 256; ++code) {
    EXPECT_EQ(dynamic_value<kSigned>(code), map[code]) << code;
    volatile int place = std::abs(code - kDynamicZero<kSigned>);  // as a GPU computes it: not before the program runs
    EXPECT_EQ(dynamic_magnitude<kSigned>(place), std::fabs(map[code])) << code;
    EXPECT_EQ(dynamic_code<kSigned>(map[code]), code);
  }
}

TEST(DynamicMap, IsThatOfBitsandbytes) {
  expect_values<true>(map_of_oracle("signed"));
  expect_values<false>(map_of_oracle("unsigned"));
}

/// No other value is nearer by more than f32 can tell.
template <bool kSigned>
void expect_nearest(float x) {
  const double taken = std::fabs(double{x} - double{dynamic_value<kSigned>(dynamic_code<kSigned>(x))});
  double least = 2;
  for (const float value : kDynamicValues<kSigned>) least = std::min(least, std::fabs(double{x} - double{value}));
  EXPECT_LE(taken, least + 1e-7 * std::fabs(x)) << x;
}

TEST(DynamicMap, TakesTheNearestValue) {
  Random random(1);
  for (int i = 0; i < 20000; ++i) {
    const auto u = static_cast<float>(random.uniform());
    const float x = i % 2 == 0 ? u : std::pow(10.0f, -8 * u);
    expect_nearest<true>(x);
    expect_nearest<true>(-x);
    expect_nearest<false>(x);
  }
  for (const float x : {0.0f, 1.0f, 1e-30f, 1e-6f, 0.1f, 0.01f}) expect_nearest<true>(-x), expect_nearest<false>(x);
  EXPECT_EQ(dynamic_code<true>(0), 127);
  EXPECT_EQ(dynamic_code<false>(0), 0);
  const float none = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(dynamic_code<true>(none), 127);
  EXPECT_EQ(dynamic_code<true>(-none), 127);
}

template <bool kSigned>
void expect_same_by_table(float x) {
  ASSERT_EQ(dynamic_code_by_table<kSigned>(x), dynamic_code<kSigned>(x)) << std::hexfloat << x;
  if constexpr (kSigned) {
    ASSERT_EQ(dynamic_code_by_table<kSigned>(-x), dynamic_code<kSigned>(-x)) << std::hexfloat << -x;
  }
}

/// Where codes change, and where floats with the same upper bits end.
template <bool kSigned>
void expect_same_at_all_ends() {
  using Steps = DynamicSteps<kSigned>;
  const auto around = [](std::uint32_t bits) {
    for (int off = -2; off <= 2; ++off) {
      const auto x = std::bit_cast<float>(bits + static_cast<std::uint32_t>(off));
      if (x <= 1) expect_same_by_table<kSigned>(x);
    }
  };
  for (int upper = Steps::kFirst - 1; upper <= Steps::kLast; ++upper)
    around(static_cast<std::uint32_t>(upper) << Steps::kLowBits);
  for (int place = 0; place + kDynamicZero<kSigned> < 255; ++place)
    around(
        std::bit_cast<std::uint32_t>((dynamic_magnitude<kSigned>(place) + dynamic_magnitude<kSigned>(place + 1)) / 2));
}

TEST(DynamicMap, ACpuTableGivesTheSameCodes) {
  expect_same_at_all_ends<true>();
  expect_same_at_all_ends<false>();
  Random random(2);
  for (int i = 0; i < 100000; ++i) {
    const auto u = static_cast<float>(random.uniform());
    const float x = i % 2 == 0 ? u : std::pow(10.0f, -9 * u);
    expect_same_by_table<true>(x);
    expect_same_by_table<false>(x);
  }
  const float none = std::numeric_limits<float>::quiet_NaN();
  for (const float x : {none, -none}) {
    EXPECT_EQ(dynamic_code_by_table<true>(x), 127);
    EXPECT_EQ(dynamic_code_by_table<false>(x), 0);
  }
  EXPECT_EQ(dynamic_code_by_table<false>(-0.5f), 0);
  EXPECT_EQ(dynamic_code<false>(-0.5f), 0);
}

}  // namespace
}  // namespace lethe
