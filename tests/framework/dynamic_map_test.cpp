#include "framework/language/dynamic_map.h"

#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

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
  EXPECT_LT(dynamic_code<true>(none), 256);
  EXPECT_GE(dynamic_code<true>(none), 0);
}

}  // namespace
}  // namespace lethe
