// Where the heads of queries, keys, values and outputs lie.
#pragma once
#include "framework/language/kernel.h"
#include "kernels/attention/shape.h"

namespace lethe {

/// Heads of a var [batch, positions, width], from that at `data` on.
template <class T>
struct Heads {
  T* data;
  std::int64_t positions, width, size;
  HD T* at(std::int64_t sample, std::int64_t position, std::int64_t head) const {
    return data + (sample * positions + position) * width + head * size;
  }
};

template <class T>
struct QueryKeyValue {
  Heads<T> q, k, v;
};

/// Of their memory; where all three are packed, `q` is that of all.
template <class T>
QueryKeyValue<T> heads_of(const AttentionShape& s, T* q, T* k, T* v) {
  if (s.packed) k = q + s.heads * s.size, v = k + s.kv_heads * s.size;
  const std::int64_t kv_width = s.width_of_kv();
  return {{q, s.rows, s.width_of_q(), s.size}, {k, s.keys, kv_width, s.size}, {v, s.keys, kv_width, s.size}};
}
template <class T>
Heads<T> output_heads(const AttentionShape& s, T* y) {
  return {y, s.rows, s.heads * s.size, s.size};
}

inline constexpr int kSlotOfMask = 6, kSlotOfY = 7;  // y of a gradient; then lse, dy

// What a run of the op or of its gradient has. Slots of absent inputs need not be there.
template <class T>
QueryKeyValue<const T> inputs_of(const AttentionShape& s, const KernelArgs& a) {
  return s.packed ? heads_of<const T>(s, a.in<T>(0), nullptr, nullptr)
                  : heads_of<const T>(s, a.in<T>(0), a.in<T>(1), a.in<T>(2));
}
template <class T>
QueryKeyValue<T> gradients_of(const AttentionShape& s, const KernelArgs& a) {
  return s.packed ? heads_of<T>(s, a.out<T>(0), nullptr, nullptr)
                  : heads_of<T>(s, a.out<T>(0), a.out<T>(1), a.out<T>(2));
}
inline KeyLimits limits_of(const AttentionShape& s, const KernelArgs& a) {
  return {s.lengths ? a.in<std::int32_t>(3) : nullptr, s.texts ? a.in<std::int32_t>(5) : nullptr};
}

}  // namespace lethe
