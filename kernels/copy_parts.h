// Ops that only move elements: slice, concat, transpose, pad... Each input gives one box of its elements to the output.
#pragma once
#include <vector>

#include "kernels/dtypes.h"
#include "kernels/for_each_pair.h"
#include "kernels/packs.h"

namespace lethe {

/// The box (first: output, second: input) and where it begins in each, in elements.
struct Part {
  Box box;
  std::int64_t to = 0, from = 0;
};

template <class T>
struct CopyElement {
  T* to;
  const T* from;
  HD void operator()(std::int64_t i, std::int64_t j) const { to[i] = from[j]; }
};

/// Of a box in packs.
template <class T>
struct CopyPack {
  T* to;
  const T* from;
  HD void operator()(std::int64_t i, std::int64_t j) const {
    constexpr int V = kPack<T>;
    store_pack(to + i * V, load_pack<V>(from + j * V));
  }
};

template <class T>
struct CopyRun {
  T* to;
  const T* from;
  HD void operator()(std::int64_t i) const { to[i] = from[i]; }
  template <int V>
  HD void pack(std::int64_t i) const {
    store_pack(to + i, load_pack<V>(from + i));
  }
};
/// Copies n elements without a gap.
template <class T, class Device>
void copy_run(Device device, void* stream, std::int64_t n, const T* from, T* to) {
  for_each_pack<kPack<T>>(device, stream, n, can_pack({to, from}), CopyRun<T>{to, from});
}

template <class T>
void copy_part(Cpu device, void* stream, const Box& box, T* to, const T* from) {
  for_each_pair(device, stream, box, CopyElement<T>{to, from});
}
#ifdef LETHE_DEVICE_CODE
template <class T>
void copy_part(Cuda device, void* stream, const Box& box, T* to, const T* from) {
  if (box.is_one_run())
    copy_run(device, stream, box.count(), from, to);
  else if (const auto packs = in_packs(box, kPack<T>); packs && can_pack({to, from}))
    for_each_pair(device, stream, *packs, CopyPack<T>{to, from});
  else
    for_each_pair(device, stream, box, CopyElement<T>{to, from});
}
#endif

/// A kernel that copies `parts[i]` from input i into output 0; with `clear`, all else becomes zero.
template <class Device>
std::unique_ptr<Kernel> copy_parts(const PrepareArgs& args, std::vector<Part> parts, bool clear = false) {
  const std::int64_t cleared = clear ? elements(args.out(0).shape) : 0;
  std::int64_t again = 0;  // elements that are cleared and then written
  for (const Part& part : parts) again += clear ? part.box.count() : 0;
  return for_width(args.out(0).dtype, [&](auto zero) {
    using T = decltype(zero);
    const auto run = [parts = std::move(parts), cleared](const KernelArgs& a) {
      set_zero(Device{}, a.stream, cleared, a.out<T>(0));
      for (int i = 0; i < static_cast<int>(parts.size()); ++i)
        copy_part(Device{}, a.stream, parts[i].box, a.out<T>(0) + parts[i].to, a.in<T>(i) + parts[i].from);
    };
    return make_kernel(run, 0, again * std::int64_t{sizeof(T)});
  });
}
// Compiled once for all ops: ops/concat.cpp.
extern template std::unique_ptr<Kernel> copy_parts<Cpu>(const PrepareArgs&, std::vector<Part>, bool);
#ifdef LETHE_DEVICE_CODE
extern template std::unique_ptr<Kernel> copy_parts<Cuda>(const PrepareArgs&, std::vector<Part>, bool);
#endif

}  // namespace lethe
