// AMX's tile registers: eight of 16 rows of 64 bytes, and products of bf16 tiles with sums in f32. `AmxTiles` are a
// processor's; `PlainTiles` compute the same but for rounding on any, slowly, so that what is written for tiles is
// tested everywhere.
#pragma once
#include <cstdint>
#include <cstring>

#include "kernels/low_floats.h"

namespace lethe::tiles {

/// A tile of f32 is 16 x 16. One of bf16 is 16 rows of 32 as a left factor; as a right one [k / 2][column][k % 2], 32
/// rows k of 16 columns.
inline constexpr std::int64_t kRows = 16, kColumns = 16, kDepth = 32, kSize = kColumns * kDepth;

class PlainTiles {
 public:
  static constexpr const char* kName = "plain tiles";

  template <int Tile>
  void zero() {
    std::memset(tiles_[Tile], 0, sizeof tiles_[Tile]);
  }
  /// Rows of 64 bytes, `stride` bytes from one to the next.
  template <int Tile>
  void load(const void* from, std::int64_t stride) {
    for (std::int64_t row = 0; row < kRows; ++row)
      std::memcpy(tiles_[Tile] + row * kRowBytes, static_cast<const char*>(from) + row * stride, kRowBytes);
  }
  template <int Tile>
  void store(float* to, std::int64_t stride) const {
    for (std::int64_t row = 0; row < kRows; ++row)
      std::memcpy(reinterpret_cast<char*>(to) + row * stride, tiles_[Tile] + row * kRowBytes, kRowBytes);
  }
  /// sum += left right
  template <int Sum, int Left, int Right>
  void multiply() {
    float sum[kRows][kColumns];
    Bf16 left[kRows][kDepth], right[kDepth / 2][kColumns][2];
    std::memcpy(sum, tiles_[Sum], sizeof sum);
    std::memcpy(left, tiles_[Left], sizeof left);
    std::memcpy(right, tiles_[Right], sizeof right);
    for (std::int64_t i = 0; i < kRows; ++i)
      for (std::int64_t k = 0; k < kDepth; ++k)
        for (std::int64_t j = 0; j < kColumns; ++j) sum[i][j] += compute(left[i][k]) * compute(right[k / 2][j][k % 2]);
    std::memcpy(tiles_[Sum], sum, sizeof sum);
  }

 private:
  static constexpr std::int64_t kRowBytes = 64;
  char tiles_[8][kRows * kRowBytes];
};

#ifdef __x86_64__
/// While it lives, the thread's tiles are those of this. GCC and clang name tiles by number in assembly alone.
class AmxTiles {
 public:
  static constexpr const char* kName = "AMX";

  AmxTiles() {
    struct alignas(64) Config {
      std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
      std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
      std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
    };
    static constexpr Config config;
    asm volatile("ldtilecfg %0" ::"m"(config));
  }
  AmxTiles(const AmxTiles&) = delete;
  AmxTiles& operator=(const AmxTiles&) = delete;
  ~AmxTiles() { asm volatile("tilerelease"); }

  template <int Tile>
  void zero() {
    asm volatile("tilezero %%tmm%c0" ::"i"(Tile));
  }
  template <int Tile>
  void load(const void* from, std::int64_t stride) {
    asm volatile("tileloadd (%0,%1,1), %%tmm%c2" ::"r"(from), "r"(stride), "i"(Tile) : "memory");
  }
  template <int Tile>
  void store(float* to, std::int64_t stride) const {
    asm volatile("tilestored %%tmm%c2, (%0,%1,1)" ::"r"(to), "r"(stride), "i"(Tile) : "memory");
  }
  template <int Sum, int Left, int Right>
  void multiply() {
    asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(Sum), "i"(Left), "i"(Right));
  }
};
#else
using AmxTiles = PlainTiles;
#endif

}  // namespace lethe::tiles
