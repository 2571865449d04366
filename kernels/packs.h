// Several elements at a time: a GPU comes near its bandwidth only if each thread has 16 bytes on the way at once. The
// CPU's compiler does the same by itself.
#pragma once
#include <initializer_list>
#include <type_traits>

#include "kernels/each_device.h"

namespace lethe {

inline constexpr std::int64_t kPackBytes = 16;

template <class T, int V>
struct alignas(sizeof(T) * V < kPackBytes ? sizeof(T) * V : kPackBytes) Pack {
  T at[V];
  HD const T& operator[](std::int64_t k) const { return at[k]; }
};
/// A GPU takes a pack at multiples of its size alone; where device code runs on the host, that is held.
template <class P>
HD void expect_aligned([[maybe_unused]] const void* at) {
#ifdef LETHE_SIMT
  simt::expect_aligned(at, alignof(P));
#endif
}
template <int V, class T>
HD Pack<T, V> load_pack(const T* from) {
  expect_aligned<Pack<T, V>>(from);
  return *reinterpret_cast<const Pack<T, V>*>(from);
}
/// On a GPU 16 bytes at a time where it has so many, or 8: left to itself nvcc cuts stores in loops into elements.
template <int V, class T>
HD void store_pack(T* to, const Pack<T, V>& pack) {
  expect_aligned<Pack<T, V>>(to);
#ifdef __CUDA_ARCH__
  if constexpr (sizeof pack % sizeof(uint2) == 0) {
    using Word = std::conditional_t<sizeof pack % sizeof(uint4) == 0, uint4, uint2>;
    Word words[sizeof pack / sizeof(Word)];
    memcpy(words, &pack, sizeof pack);
    for (Word& word : words) __stwb(reinterpret_cast<Word*>(to) + (&word - words), word);
    return;
  }
#endif
  *reinterpret_cast<Pack<T, V>*>(to) = pack;
}

template <class T>
inline constexpr int kPack = static_cast<int>(kPackBytes / sizeof(T));  // elements of T

/// Whether packs of any size may be read and written at these addresses.
inline bool can_pack(std::initializer_list<const void*> addresses) {
  for (const void* address : addresses)
    if (reinterpret_cast<std::uintptr_t>(address) % kPackBytes != 0) return false;
  return true;
}

/// f.pack<V>(i) for packs that begin at element i, f(i) for the elements left; with `packed` false for all, and on the
/// CPU in any case.
template <int V, class F>
void for_each_pack(Cpu device, void* stream, std::int64_t n, bool, const F& f) {
  parallel_for(device, stream, n, f);
}
#ifdef LETHE_DEVICE_CODE
/// An index a pack, then one each element that is left.
template <class F, int V>
struct PackIndex {
  std::int64_t n, packs;
  F f;
  PackIndex(std::int64_t n, bool packed, const F& f) : n(n), packs(packed ? n / V : 0), f(f) {}
  std::int64_t size() const { return packs + (n - packs * V); }
  HD void operator()(std::int64_t i) const {
    if (i < packs)
      f.template pack<V>(i * V);
    else
      f(packs * V + (i - packs));
  }
};

template <int V, class F>
void for_each_pack(Cuda device, void* stream, std::int64_t n, bool packed, const F& f) {
  const PackIndex<F, V> index(n, packed, f);
  parallel_for(device, stream, index.size(), index);
}
#endif

template <class T>
struct ZeroElement {
  T* to;
  HD void operator()(std::int64_t i) const { to[i] = T(0); }
  template <int V>
  HD void pack(std::int64_t i) const {
    store_pack(to + i, Pack<T, V>{});
  }
};
/// Makes n elements zero.
template <class T, class Device>
void set_zero(Device device, void* stream, std::int64_t n, T* to) {
  for_each_pack<kPack<T>>(device, stream, n, can_pack({to}), ZeroElement<T>{to});
}

}  // namespace lethe
