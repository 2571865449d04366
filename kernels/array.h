// Arrays of entries: vars of shape [m1, .., mk] + the shape of an entry. An op reads or writes the entry that k scalars
// in device memory name when it runs. Indices outside of the array name no entry: what is read there is zero, and what
// is written there goes nowhere, on every device; gradients follow the same rule.
#pragma once
#include "framework/builder/layer_call.h"
#include "framework/language/op_def.h"
#include "kernels/copy_parts.h"

namespace lethe {

inline constexpr int kMaxIndices = 16;

/// All dtypes, for what only moves elements.
struct AnyDType {
  template <class Body>
  static auto visit(DType dtype, const Body& body) {
    return for_width(dtype, body);
  }
};

/// Which entry of an array: sizes are known before the run, indices in it.
struct EntryPlace {
  int indices = 0;
  std::int64_t size[kMaxIndices] = {};  // of the leading axes
  std::int64_t elements = 1;            // of an entry
  const std::int64_t* index[kMaxIndices] = {};

  /// The first element of the entry; null if there is none.
  template <class T>
  HD T* in(T* array) const {
    std::int64_t entry = 0;
    for (int k = 0; k < indices; ++k) {
      const std::int64_t i = *index[k];
      if (i < 0 || i >= size[k]) return nullptr;
      entry = entry * size[k] + i;
    }
    return array + entry * elements;
  }
};

/// Shape rules: input 0 is the array, the indices stand from slot `first` on. The shape of an entry; fails unless the
/// indices are i64 scalars, one for each of the leading axes that are not the entry's.
Shape entry_shape(const InferArgs& args, int first);
/// The array is changed in place; `value`, input 1, is as an entry.
std::vector<Type> infer_entry_update(const InferArgs& args);

/// A layer that is the op `type` on the layer's inputs.
VarId build_entry_op(LayerCall& call, const std::string& type);

EntryPlace entry_place(const Shape& array, int indices);

/// Calls f.inside(entry, i) for each element i of an entry of f.array, or f.outside(i) if there is no such entry.
template <class F>
void for_each_in_entry(Cpu, void* stream, const EntryPlace& place, F f) {
  if (auto* const entry = place.in(f.array))
    parallel_for(Cpu{}, stream, place.elements, [entry, f](std::int64_t i) { f.inside(entry, i); });
  else
    parallel_for(Cpu{}, stream, place.elements, [f](std::int64_t i) { f.outside(i); });
}

#ifdef LETHE_DEVICE_CODE
template <class F>
struct EntryElement {
  EntryPlace place;
  F f;
  HD void operator()(std::int64_t i) const {
    if (auto* const entry = place.in(f.array))
      f.inside(entry, i);
    else
      f.outside(i);
  }
};

template <class F>
void for_each_in_entry(Cuda, void* stream, const EntryPlace& place, F f) {
  parallel_for(Cuda{}, stream, place.elements, EntryElement<F>{place, f});
}
#endif

/// An op on one entry, its indices from slot `First` on: F<T>, made from KernelArgs, is as above.
template <template <class> class F, int First, class DTypes = AnyDType>
struct OnEntry {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const EntryPlace sizes = entry_place(args.in(0).shape, static_cast<int>(args.op.in.size()) - First);
    return DTypes::visit(args.in(0).dtype, [&](auto zero) {
      using T = decltype(zero);
      return make_kernel([sizes](const KernelArgs& a) {
        EntryPlace place = sizes;
        for (int k = 0; k < place.indices; ++k) place.index[k] = a.in<std::int64_t>(First + k);
        for_each_in_entry(Device{}, a.stream, place, F<T>(a));
      });
    });
  }
};

}  // namespace lethe
