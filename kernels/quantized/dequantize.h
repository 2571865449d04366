// Numbers of a weight in blocks, as floats.
#pragma once
#include <algorithm>

#include "kernels/dtypes.h"
#include "kernels/packs.h"
#include "kernels/quantized/for_groups.h"

namespace lethe {

/// Number first + i of the weight at to[i].
template <class Groups, class T>
struct Dequantize {
  Groups groups;
  const std::byte* memory;
  std::int64_t first;
  T* to;
  HD void operator()(std::int64_t i) const { numbers(i, 1, to + i); }
  template <int V>
  HD void pack(std::int64_t i) const {
    Pack<T, V> of;
    numbers(i, V, of.at), store_pack(to + i, of);
  }
  /// `count` of them, which are in one group.
  HD void numbers(std::int64_t i, std::int64_t count, T* at) const {
    const std::int64_t g = (first + i) / groups.size(), within = first + i - g * groups.size();
    const CodeGroup of = groups.group(memory, g);
    for (std::int64_t k = 0; k < count; ++k) at[k] = static_cast<T>(groups.value(of, within + k));
  }
};

template <class From, class To>
struct ConvertNumber {
  const From* from;
  To* to;
  HD void operator()(std::int64_t i) const { to[i] = static_cast<To>(compute(from[i])); }
};

/// `count` numbers of the weight, from number `first` on.
template <class T>
void dequantize(Cpu, void*, const BlockedWeight& weight, const void* memory, std::int64_t first, std::int64_t count,
                T* to) {
  for_groups(weight, [&](const auto& groups) {
    const Dequantize<std::decay_t<decltype(groups)>, T> of{groups, static_cast<const std::byte*>(memory), first, to};
    parallel_ranges(count, kElementGrain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t some = 0; begin < end; begin += some) {
        some = std::min(groups.size() - (first + begin) % groups.size(), end - begin);
        of.numbers(begin, some, to + begin);
      }
    });
  });
}
#ifdef LETHE_DEVICE_CODE
template <class T>
void dequantize(Cuda device, void* stream, const BlockedWeight& weight, const void* memory, std::int64_t first,
                std::int64_t count, T* to) {
  for_groups(weight, [&](const auto& groups) {
    const bool whole = first % kPack<T> == 0 && groups.size() % kPack<T> == 0;
    for_each_pack<kPack<T>>(
        device, stream, count, whole && can_pack({to}),
        Dequantize<std::decay_t<decltype(groups)>, T>{groups, static_cast<const std::byte*>(memory), first, to});
  });
}
#endif

/// The same of x in blocks, or in f32, bf16 or f16, to floats of `to`.
template <class Device>
void convert_numbers(Device device, void* stream, const BlockedWeight& x, const void* memory, std::int64_t first,
                     std::int64_t count, DType to, void* values) {
  for_float(to, [&](auto zero) {
    using T = decltype(zero);
    auto* const y = static_cast<T*>(values);
    if (is_in_blocks(x.dtype)) return dequantize(device, stream, x, memory, first, count, y);
    for_float(x.dtype, [&](auto one) {
      parallel_for(device, stream, count,
                   ConvertNumber<decltype(one), T>{static_cast<const decltype(one)*>(memory) + first, y});
    });
  });
}

}  // namespace lethe
