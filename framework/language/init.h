// Initial values of parameters: a function of the seed and the parameter's name alone, so independent of order,
// dtype (f32 is f64 rounded), threads and device.
#pragma once
#include <cstdint>
#include <string_view>

#include "framework/language/program.h"

namespace lethe {

struct Init {
  enum Kind : std::uint8_t { Constant, Normal, Uniform, He, Xavier, Lecun } kind = Constant;
  double value = 0;                      // Constant: the value; Normal: deviation; Uniform: half width
  std::int64_t fan_in = 0, fan_out = 0;  // He: N(0, 2/fan_in); Xavier: U(+-sqrt(6/(in+out))); Lecun: N(0, 1/fan_in)
  bool operator==(const Init&) const = default;
};

/// Fills `count` elements, from element `first` on, at `data` (host memory, of a float dtype; for Constant of any). In
/// bf16 and f16 they are those in f32, rounded.
void fill_initial(const Init& init, std::uint64_t seed, std::string_view name, DType dtype, std::int64_t count,
                  void* data, std::int64_t first = 0);

/// A stable 64-bit hash (FNV-1a): keys random streams by name.
constexpr std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 14695981039346656037ull;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  return hash;
}

}  // namespace lethe
