// Numbers of a weight in blocks, as floats.
#pragma once
#include <algorithm>

#include "kernels/dtypes.h"
#include "kernels/each_device.h"
#include "kernels/quantized/groups.h"

namespace lethe {

/// Calls `body` with the groups of its format.
template <class Body>
auto for_groups(const BlockedWeight& weight, const Body& body) {
  const BlockFormat format = block_format(weight.dtype, weight.shape);
  switch (weight.dtype) {
    case DType::int8:
      return body(Int8Groups{format});
    case DType::q8_0:
      return body(Q80Groups{format});
    case DType::q4_0:
      return body(Q40Groups{{format}});
    case DType::q4_1:
      return body(Q41Groups{{format}});
    case DType::nf4:
      return body(Nf4Groups{format});
    default:
      check(weight.dtype == DType::nf4_dq, "no weights are in ", name_of(weight.dtype));
      return body(Nf4DoubleGroups{{format}});
  }
}

/// Number first + i of the weight at to[i].
template <class Groups, class T>
struct Dequantize {
  Groups groups;
  const std::byte* memory;
  std::int64_t first;
  T* to;
  HD void operator()(std::int64_t i) const {
    const std::int64_t at = first + i, g = at / groups.size();
    to[i] = static_cast<T>(groups.value(groups.group(memory, g), at - g * groups.size()));
  }
  /// Numbers of one group.
  void group(std::int64_t i, std::int64_t count) const {
    const std::int64_t at = first + i, g = at / groups.size(), within = at - g * groups.size();
    const CodeGroup of = groups.group(memory, g);
    for (std::int64_t k = 0; k < count; ++k) to[i + k] = static_cast<T>(groups.value(of, within + k));
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
      while (begin < end) {
        const std::int64_t left = groups.size() - (first + begin) % groups.size(), some = std::min(left, end - begin);
        of.group(begin, some);
        begin += some;
      }
    });
  });
}
#ifdef LETHE_DEVICE_CODE
template <class T>
void dequantize(Cuda device, void* stream, const BlockedWeight& weight, const void* memory, std::int64_t first,
                std::int64_t count, T* to) {
  for_groups(weight, [&](const auto& groups) {
    parallel_for(
        device, stream, count,
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
