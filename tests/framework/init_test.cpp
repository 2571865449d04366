#include "framework/language/init.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <vector>

#include "framework/builder/builder.h"
#include "framework/run/store.h"
#include "kernels/low_floats.h"
#include "tests/support/counting_device.h"

namespace lethe::testing {
namespace {

constexpr int kDrawn = 100000;

struct Moments {
  double mean = 0, deviation = 0, largest = 0;
};

std::vector<double> values_of(const Init& init, std::uint64_t seed = 3, const char* name = "conv1.weight") {
  std::vector<double> values(kDrawn);
  fill_initial(init, seed, name, DType::f64, kDrawn, values.data());
  return values;
}

Moments moments_of(const Init& init) {
  Moments m;
  const std::vector<double> values = values_of(init);
  for (const double v : values) {
    m.mean += v / kDrawn;
    m.largest = std::max(m.largest, std::abs(v));
  }
  for (const double v : values) m.deviation += (v - m.mean) * (v - m.mean) / kDrawn;
  m.deviation = std::sqrt(m.deviation);
  return m;
}

TEST(Init, ValuesInLowFloatsAreThoseInF32Rounded) {
  constexpr int kFew = 1000;
  const Init init{.kind = Init::Normal, .value = 1};
  std::vector<float> wide(kFew);
  std::vector<std::uint16_t> bf16(kFew), f16(kFew);
  fill_initial(init, 3, "w", DType::f32, kFew, wide.data());
  fill_initial(init, 3, "w", DType::bf16, kFew, bf16.data());
  fill_initial(init, 3, "w", DType::f16, kFew, f16.data());
  for (int i = 0; i < kFew; ++i) {
    EXPECT_EQ(bf16[i], std::bit_cast<std::uint16_t>(Bf16(wide[i]))) << wide[i];
    EXPECT_EQ(f16[i], std::bit_cast<std::uint16_t>(F16(wide[i]))) << wide[i];
  }
}

/// Mean and deviation within five standard errors.
void expect_moments(const Init& init, double deviation) {
  const Moments m = moments_of(init);
  EXPECT_NEAR(m.mean, 0, 5 * deviation / std::sqrt(kDrawn));
  EXPECT_NEAR(m.deviation, deviation, 5 * deviation / std::sqrt(2.0 * kDrawn));
}

TEST(Init, NormalKindsHaveTheirMeanAndDeviation) {
  expect_moments({.kind = Init::Normal, .value = 0.01}, 0.01);
  expect_moments({.kind = Init::He, .fan_in = 50}, std::sqrt(2.0 / 50));
  expect_moments({.kind = Init::Lecun, .fan_in = 50}, std::sqrt(1.0 / 50));
}

TEST(Init, UniformKindsFillTheirRangeEvenly) {
  const Init uniform{.kind = Init::Uniform, .value = 0.2}, xavier{.kind = Init::Xavier, .fan_in = 30, .fan_out = 70};
  expect_moments(uniform, 0.2 / std::sqrt(3.0));
  expect_moments(xavier, std::sqrt(6.0 / 100) / std::sqrt(3.0));
  EXPECT_LE(moments_of(uniform).largest, 0.2);
  EXPECT_GT(moments_of(uniform).largest, 0.199);
}

TEST(Init, ConstantFillsEveryDType) {
  for (const DType dtype : {DType::f32, DType::f64, DType::i32, DType::i64, DType::u8}) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(4 * bytes_of(dtype)));
    EXPECT_NO_THROW(fill_initial({.value = 1}, 0, "x", dtype, 4, bytes.data())) << name_of(dtype);
    EXPECT_NE(bytes, std::vector<std::byte>(bytes.size())) << name_of(dtype);
  }
}

TEST(Init, DependsOnSeedAndName) {
  const Init he{.kind = Init::He, .fan_in = 9};
  EXPECT_EQ(values_of(he, 3, "a"), values_of(he, 3, "a"));
  EXPECT_NE(values_of(he, 3, "a"), values_of(he, 4, "a"));
  EXPECT_NE(values_of(he, 3, "a"), values_of(he, 3, "b"));
}

TEST(Init, SinglePrecisionIsDoublePrecisionRounded) {
  const Init he{.kind = Init::He, .fan_in = 9};
  std::vector<float> narrow(kDrawn);
  fill_initial(he, 3, "conv1.weight", DType::f32, kDrawn, narrow.data());
  const std::vector<double> wide = values_of(he);
  for (std::size_t i = 0; i < wide.size(); ++i) ASSERT_EQ(narrow[i], static_cast<float>(wide[i])) << i;
}

/// The first values of parameter "b" in a program that holds "a" and "b" in the given order.
std::vector<std::byte> second_param(bool reversed) {
  CountingDevice device;
  Store store(device);
  Program program;
  std::vector<ParamInfo> params;
  for (const char* name : {reversed ? "b" : "a", reversed ? "a" : "b"})
    params.push_back(
        {add_var(program, {.name = name, .shape = {8}, .kind = Kind::Param}), {.kind = Init::He, .fan_in = 4}});
  store.initialize(program, params, 1);
  return store.read("b");
}

TEST(Init, ValuesAreIndependentOfTheOrderOfParameters) { EXPECT_EQ(second_param(false), second_param(true)); }

}  // namespace
}  // namespace lethe::testing
