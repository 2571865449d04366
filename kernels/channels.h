// Channels of one pixel: a CPU thread takes a block of them in memory, a GPU thread a pack in registers.
#pragma once
#include <bit>

#include "kernels/pool_pixels.h"

namespace lethe {

/// Bytes of a pack. nvcc takes bytes out of words by an instruction each, and by three out of a pack of bytes.
template <int B>
struct PackOfBytes {
  Pack<std::uint32_t, B / 4> words;
  HD std::uint8_t operator[](std::int64_t c) const {
    return static_cast<std::uint8_t>(words[static_cast<int>(c / 4)] >> (c % 4 * 8));
  }
};
/// Channels from an address on, [0], [1]...; a GPU reads its few at once.
template <int B, class T>
HD auto channels_at(const T* from) {
  if constexpr (B == 1 || B >= kChannelBlock)
    return from;
  else if constexpr (sizeof(T) == 1 && B % 4 == 0)
    return PackOfBytes<B>{load_pack<B / 4>(reinterpret_cast<const std::uint32_t*>(from))};
  else
    return load_pack<B>(from);
}
/// The same, or zeros if those channels do not exist: then what is read is any that does, so that no load is a branch.
template <int B, class T>
HD auto channels_or_zeros(const T* from, [[maybe_unused]] bool exist) {
  if constexpr (B == 1 || B >= kChannelBlock) {
    return from;
  } else {
    constexpr int kWords = static_cast<int>(B * sizeof(T) / sizeof(std::uint32_t));
    auto words = load_pack<kWords>(reinterpret_cast<const std::uint32_t*>(from));
    for (std::uint32_t& word : words.at) word = exist ? word : 0;
    return std::bit_cast<Pack<T, B>>(words);
  }
}
/// A pack that is written when its life ends.
template <class T, int B>
struct PackWriter {
  T* to;
  Pack<T, B> pack;
  HD explicit PackWriter(T* to) : to(to) {}
  HD ~PackWriter() { store_pack(to, pack); }
  PackWriter(const PackWriter&) = delete;
  PackWriter& operator=(const PackWriter&) = delete;
  HD T& operator[](std::int64_t c) { return pack.at[c]; }
};
/// Where channels go, likewise: a block writes all of its own.
template <int B, class T>
HD auto channels_to(T* to) {
  if constexpr (B > 1 && B < kChannelBlock)
    return PackWriter<T, B>(to);
  else
    return to;
}

}  // namespace lethe
