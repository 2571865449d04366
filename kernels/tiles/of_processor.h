// Which tiles a processor multiplies by.
#pragma once
#include <type_traits>

#include "kernels/cpu/bf16_units.h"
#include "kernels/tiles/blocks.h"
#include "kernels/tiles/dots.h"

namespace lethe::tiles {

#ifdef __AVX512BF16__
using OtherTiles = DotTiles;
#else
using OtherTiles = PlainTiles;
#endif

/// Calls make with a std::type_identity of the tiles: of AMX where the processor has it.
template <class F>
auto for_tiles(F make) {
  return has_amx() ? make(std::type_identity<AmxTiles>()) : make(std::type_identity<OtherTiles>());
}

/// Whether AVX-512's products of pairs take half of the time of f32's, and this code was compiled with them.
inline bool has_fast_dots() { return !std::is_same_v<OtherTiles, PlainTiles> && !has_slow_bf16(); }

/// Whether the processor multiplies tiles faster than numbers in f32.
inline bool are_fast() { return has_amx() || has_fast_dots(); }

}  // namespace lethe::tiles
