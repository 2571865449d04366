// Blocks of numbers, held to those of bitsandbytes and ggml.
#include "framework/language/quantize.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "framework/error.h"
#include "kernels/quantized/dequantize.h"
#include "tests/support/expect_error.h"

namespace lethe::testing {
namespace {

nlohmann::json oracle() {
  std::ifstream file(LETHE_SOURCE_DIR "/tests/oracles/blocks.json");
  return nlohmann::json::parse(file);
}

std::vector<float> numbers(std::int64_t count) {
  std::vector<float> made;
  for (std::int64_t i = 0; i < count; ++i)
    made.push_back(static_cast<float>(std::sin(3.0 * static_cast<double>(i)) * static_cast<double>(1 + i % 7) / 64));
  return made;
}

std::vector<std::byte> quantized(const std::vector<float>& values, DType dtype, const Shape& shape) {
  std::vector<std::byte> blocks(static_cast<std::size_t>(bytes_of(dtype, shape)));
  Quantizer quantizer(dtype, shape, blocks.data());
  const std::int64_t piece = quantizer.grain(), all = std::ssize(values);
  for (std::int64_t first = 0; first < all; first += piece)
    quantizer.add(values.data() + first, std::min(piece, all - first));
  quantizer.finish();
  return blocks;
}

std::vector<float> dequantized(const std::vector<std::byte>& blocks, DType dtype, const Shape& shape) {
  std::vector<float> values(static_cast<std::size_t>(elements(shape)));
  dequantize(Cpu{}, nullptr, {dtype, shape}, blocks.data(), 0, std::ssize(values), values.data());
  return values;
}

std::string hex_of(const std::vector<std::byte>& bytes) {
  std::string text;
  for (const std::byte byte : bytes) {
    constexpr const char* kDigits = "0123456789abcdef";
    text += kDigits[std::to_integer<int>(byte) >> 4];
    text += kDigits[std::to_integer<int>(byte) & 15];
  }
  return text;
}

TEST(Quantize, GivesTheBytesOfTheLibrariesThatMadeTheFormats) {
  const Shape shape = {4, 96};
  const nlohmann::json rows = oracle();
  ASSERT_EQ(rows.size(), 5U);
  for (const nlohmann::json& row : rows) {
    SCOPED_TRACE(row["dtype"].get<std::string>());
    const DType dtype = dtype_named(row["dtype"].get<std::string>());
    const std::vector<std::byte> blocks = quantized(numbers(4 * 96), dtype, shape);
    EXPECT_EQ(hex_of(blocks), row["bytes"].get<std::string>());
    const std::vector<float> values = dequantized(blocks, dtype, shape);
    double sum = 0;
    for (std::size_t i = 0; i < values.size(); ++i) sum += static_cast<double>(i) * values[i];
    EXPECT_DOUBLE_EQ(sum, row["sum"].get<double>());
    for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(values[i], row["values"][i].get<float>()) << i;
  }
}

/// Magnitudes of nf4 in 8 bits, by the definition: what they are apart from their mean, as parts of the largest such.
TEST(Quantize, DoubleQuantisedMagnitudesAreNearThoseOfNf4) {
  const Shape shape = {130, 256};  // of three blocks of magnitudes the last is not full
  const std::vector<float> values = numbers(elements(shape));
  const std::vector<std::byte> once = quantized(values, DType::nf4, shape),
                               twice = quantized(values, DType::nf4_dq, shape);
  const std::vector<float> from_once = dequantized(once, DType::nf4, shape),
                           from_twice = dequantized(twice, DType::nf4_dq, shape);
  double error = 0, size = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    error += std::pow(from_once[i] - from_twice[i], 2);
    size += std::pow(values[i], 2);
  }
  EXPECT_LT(std::sqrt(error / size), 0.01);
  EXPECT_GT(error, 0);
}

TEST(Quantize, RowsOfAnyLengthAndBlocksThatAreNotFullComeBack) {
  for (const DType dtype : {DType::int8, DType::nf4, DType::nf4_dq}) {
    const Shape shape = {3, 37};
    const std::vector<float> values = numbers(elements(shape));
    const std::vector<float> back = dequantized(quantized(values, dtype, shape), dtype, shape);
    for (std::size_t i = 0; i < values.size(); ++i)
      EXPECT_NEAR(back[i], values[i], dtype == DType::int8 ? 5e-4 : 2e-2) << name_of(dtype) << ' ' << i;
  }
}

TEST(Quantize, RefusesWhatIsNoNumberAndNoFormatOfWeights) {
  std::vector<float> values = numbers(64);
  values[33] = std::numeric_limits<float>::infinity();
  EXPECT_EQ(error_of([&] { quantized(values, DType::nf4, {2, 32}); }), "inf at 33 cannot be quantised");
  values[33] = 1e9F;
  EXPECT_EQ(error_of([&] { quantized(values, DType::q8_0, {2, 32}); }), "a scale of 7.87402e+06 is too large for f16");
  EXPECT_EQ(error_of([&] {
              quantized(values, DType::q4_0, {4, 16});
            }),
            "q4_0 takes rows of a multiple of 32, not of 16");
  EXPECT_EQ(error_of([&] { quantized(values, DType::dynamic8, {2, 32}); }), "no weights are in dynamic8");
}

}  // namespace
}  // namespace lethe::testing
