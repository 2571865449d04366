#include "framework/language/init.h"

#include <bit>
#include <cmath>

#include "framework/error.h"
#include "framework/random.h"

namespace lethe {
namespace {

constexpr double kTau = 6.283185307179586;

/// Standard normal by Box and Muller, from the four words of one Philox block.
double normal_at(std::uint64_t key, std::uint64_t index) {
  const Philox4 r = philox(key, 0, index);
  const double radius = std::sqrt(-2 * std::log(1 - uniform_of(r.word[0], r.word[1])));
  return radius * std::cos(kTau * uniform_of(r.word[2], r.word[3]));
}

double uniform_between(std::uint64_t key, std::uint64_t index, double half_width) {
  const Philox4 r = philox(key, 0, index);
  return half_width * (2 * uniform_of(r.word[0], r.word[1]) - 1);
}

double value_at(const Init& init, std::uint64_t key, std::uint64_t index) {
  const auto fan_in = static_cast<double>(init.fan_in), fan_out = static_cast<double>(init.fan_out);
  switch (init.kind) {
    case Init::Constant:
      return init.value;
    case Init::Normal:
      return init.value * normal_at(key, index);
    case Init::Uniform:
      return uniform_between(key, index, init.value);
    case Init::He:
      return std::sqrt(2 / fan_in) * normal_at(key, index);
    case Init::Lecun:
      return std::sqrt(1 / fan_in) * normal_at(key, index);
    case Init::Xavier:
      return uniform_between(key, index, std::sqrt(6 / (fan_in + fan_out)));
  }
  fail("unknown initialiser");
}

/// The bits of a finite f32 in bf16 or f16, to nearest, ties to even.
std::uint16_t rounded_bits(float value, DType to) {
  if (to == DType::f16) return std::bit_cast<std::uint16_t>(static_cast<_Float16>(value));
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

}  // namespace

void fill_initial(const Init& init, std::uint64_t seed, std::string_view name, DType dtype, std::int64_t count,
                  void* data, std::int64_t first) {
  const std::uint64_t key = stream_key(seed, hash_of(name));
  const auto fill = [&](auto* values) {
    for (std::int64_t i = 0; i < count; ++i)
      values[i] = static_cast<std::remove_reference_t<decltype(*values)>>(
          value_at(init, key, static_cast<std::uint64_t>(first + i)));
  };
  check(is_float(dtype) || init.kind == Init::Constant, "'", name, "': random values need a float dtype");
  switch (dtype) {
    case DType::f32:
      return fill(static_cast<float*>(data));
    case DType::f64:
      return fill(static_cast<double*>(data));
    case DType::i32:
      return fill(static_cast<std::int32_t*>(data));
    case DType::i64:
      return fill(static_cast<std::int64_t*>(data));
    case DType::u8:
      return fill(static_cast<std::uint8_t*>(data));
    case DType::bf16:
    case DType::f16:
      for (std::int64_t i = 0; i < count; ++i)
        static_cast<std::uint16_t*>(data)[i] =
            rounded_bits(static_cast<float>(value_at(init, key, static_cast<std::uint64_t>(first + i))), dtype);
      return;
    default:
      fail("'", name, "': no initial values in ", name_of(dtype));
  }
}

}  // namespace lethe
