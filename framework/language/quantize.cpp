#include "framework/language/quantize.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>

#include "framework/error.h"
#include "framework/language/dynamic_map.h"

namespace lethe {
namespace {

constexpr float kLeastMagnitude = 1e-38F;  // a block of zeros is divided by it

/// What brings numbers to codes; 0 where they are too small for that.
float inverse_of(float scale) {
  const float by = 1 / scale;
  return std::isfinite(by) ? by : 0;
}

template <class T>
void put(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

/// Of an f16.
std::uint16_t half_bits(float value) {
  const auto half = static_cast<_Float16>(value);
  check_as(Exit::Data, std::isfinite(static_cast<float>(half)), "a scale of ", value, " is too large for f16");
  return std::bit_cast<std::uint16_t>(half);
}

float largest(const float* values, std::int64_t count) {
  return std::accumulate(values, values + count, 0.0F, [](float most, float x) { return std::max(most, std::abs(x)); });
}

/// Halfway between what neighbours of N ascending codes mean; a value has the code that is the number of bounds below.
template <std::size_t N>
std::array<float, N - 1> bounds_of(float (*value)(int code)) {
  std::array<float, N - 1> bounds{};
  for (int code = 0; code + 1 < static_cast<int>(N); ++code) bounds[code] = (value(code) + value(code + 1)) / 2;
  return bounds;
}

std::uint8_t nf4_code(float part) {
  static const auto kBounds = bounds_of<16>(nf4_value);
  int code = 0;
  for (const float bound : kBounds) code += bound < part;
  return static_cast<std::uint8_t>(code);
}

/// Of 64 numbers; gives their largest magnitude.
float nf4_codes(const float* values, std::int64_t count, std::byte* codes) {
  const float most = largest(values, count), by = 1 / std::max(most, kLeastMagnitude);
  const auto code = [&](std::int64_t i) { return nf4_code(i < count ? std::clamp(values[i] * by, -1.0F, 1.0F) : 0); };
  for (std::int64_t i = 0; i < count; i += 2) codes[i / 2] = static_cast<std::byte>(code(i) << 4 | code(i + 1));
  return most;
}

void int8_row(const float* values, std::int64_t count, std::byte* block) {
  const float most = largest(values, count), by = std::isfinite(127 / most) ? 127 / most : 0;
  put(block, most);
  for (std::int64_t i = 0; i < count; ++i) put(block + 4 + i, static_cast<std::int8_t>(std::nearbyint(values[i] * by)));
}

void q8_0_block(const float* values, std::byte* block) {
  const float scale = largest(values, kGgufBlock) / 127, by = inverse_of(scale);
  put(block, half_bits(scale));
  for (std::int64_t i = 0; i < kGgufBlock; ++i)
    put(block + 2 + i, static_cast<std::int8_t>(std::round(values[i] * by)));
}

/// code(x): of a number before it is cut off to 0 .. 15.
template <class Code>
void put_nibbles(const float* values, std::byte* codes, const Code& code) {
  constexpr std::int64_t kHalf = kGgufBlock / 2;
  const auto cut = [&](float x) { return static_cast<std::uint8_t>(std::clamp(std::trunc(code(x)), 0.0F, 15.0F)); };
  for (std::int64_t i = 0; i < kHalf; ++i)
    codes[i] = static_cast<std::byte>(cut(values[i]) | cut(values[i + kHalf]) << 4);
}

void q4_0_block(const float* values, std::byte* block) {
  const float* const most =
      std::max_element(values, values + kGgufBlock, [](float a, float b) { return std::abs(a) < std::abs(b); });
  const float scale = *most / -8, by = inverse_of(scale);
  put(block, half_bits(scale));
  put_nibbles(values, block + 2, [&](float x) { return x * by + 8.5F; });
}

void q4_1_block(const float* values, std::byte* block) {
  const auto [least, most] = std::minmax_element(values, values + kGgufBlock);
  const float scale = (*most - *least) / 15, by = inverse_of(scale), from = *least;
  put(block, half_bits(scale));
  put(block + 2, half_bits(from));
  put_nibbles(values, block + 4, [&](float x) { return (x - from) * by + 0.5F; });
}

std::int64_t grain_of(DType dtype, const BlockFormat& format) {
  return dtype == DType::nf4_dq ? kNf4Block : format.elements;
}

}  // namespace

Quantizer::Quantizer(DType dtype, const Shape& shape, std::byte* memory)
    : dtype_(dtype),
      format_(block_format(dtype, shape)),
      memory_(memory),
      elements_(lethe::elements(shape)),
      grain_(grain_of(dtype, format_)) {
  const std::string complaint = complaint_about_blocks(dtype, shape);
  check(complaint.empty(), complaint);
  check(is_in_blocks(dtype) && dtype < DType::dynamic8, "no weights are in ", name_of(dtype));
  std::memset(memory, 0, static_cast<std::size_t>(bytes_of(Var{.name = "", .shape = shape, .dtype = dtype})));
}

void Quantizer::add(const float* values, std::int64_t count) {
  check_as(Exit::Internal, added_ + count <= elements_ && (added_ + count == elements_ || count % grain_ == 0), "adds ",
           count, " numbers after ", added_, " of ", elements_);
  for (std::int64_t i = 0; i < count; ++i)
    check_as(Exit::Data, std::isfinite(values[i]), values[i], " at ", added_ + i, " cannot be quantised");
  for (std::int64_t i = 0; i < count; i += grain_) add_group(values + i, std::min(grain_, count - i));
}

void Quantizer::add_group(const float* values, std::int64_t count) {
  const std::int64_t within = added_ % format_.elements;
  std::byte* const block = memory_ + format_.offset(added_ - within);
  added_ += count;
  switch (dtype_) {
    case DType::int8:
      return int8_row(values, count, block);
    case DType::q8_0:
      return q8_0_block(values, block);
    case DType::q4_0:
      return q4_0_block(values, block);
    case DType::q4_1:
      return q4_1_block(values, block);
    case DType::nf4:
      return put(block, nf4_codes(values, count, block + 4));
    default:
      magnitudes_.push_back(nf4_codes(values, count, block + 4 + kNf4Blocks + within / 2));
  }
}

void Quantizer::finish() {
  check_as(Exit::Internal, added_ == elements_, "has ", added_, " of ", elements_, " numbers");
  if (dtype_ != DType::nf4_dq) return;
  static const auto kBounds = bounds_of<256>(dynamic_value<true>);
  const double sum = std::accumulate(magnitudes_.begin(), magnitudes_.end(), 0.0);
  const auto from = static_cast<float>(sum / static_cast<double>(magnitudes_.size()));
  put(memory_, from);
  for (int code = 0; code < 256; ++code) put(memory_ + 4 + 4 * code, dynamic_value<true>(code));
  for (float& magnitude : magnitudes_) magnitude -= from;
  const std::int64_t all = std::ssize(magnitudes_);
  for (std::int64_t first = 0; first < all; first += kNf4Blocks) {
    std::byte* const block = memory_ + format_.offset(first * kNf4Block);
    const std::int64_t count = std::min(kNf4Blocks, all - first);
    const float most = largest(magnitudes_.data() + first, count), by = 1 / std::max(most, kLeastMagnitude);
    put(block, most);
    for (std::int64_t i = 0; i < count; ++i) {
      const float part = std::clamp(magnitudes_[first + i] * by, -1.0F, 1.0F);
      put(block + 4 + i,
          static_cast<std::uint8_t>(std::lower_bound(kBounds.begin(), kBounds.end(), part) - kBounds.begin()));
    }
  }
}

}  // namespace lethe
