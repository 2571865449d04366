// An epilogue as a pass of its own, on both devices: one element, or one pack on a GPU, at a time.
#pragma once
#include "kernels/activation.h"
#include "kernels/divisor.h"
#include "kernels/dtypes.h"
#include "kernels/gelu.h"
#include "kernels/gemm/epilogue.h"
#include "kernels/map.h"
#include "kernels/packs.h"

namespace lethe {

template <class T>
struct EpilogueIndex {
  Divisor columns;
  std::int64_t gap;  // in memory, from the end of a row to the next
  const T* bias;     // null: none
  bool relu;
  T* y;
  HD Compute<T> value(Compute<T> y, Compute<T> bias) const { return relu ? Relu{}(y + bias) : y + bias; }
  HD T* at(std::int64_t i) const { return y + (gap == 0 ? i : i + columns.quotient(i) * gap); }
  HD void operator()(std::int64_t i) const {
    *at(i) = value(*at(i), bias ? compute(bias[columns.remainder(i)]) : Compute<T>(0));
  }
  template <int V>
  HD void pack(std::int64_t i) const {
    Pack<T, V> of_y = load_pack<V>(at(i)), of_bias{};
    if (bias) of_bias = load_pack<V>(bias + columns.remainder(i));
    for (int k = 0; k < V; ++k) of_y.at[k] = value(of_y.at[k], of_bias.at[k]);
    store_pack(at(i), of_y);
  }
};

template <class T>
void run_epilogue(Cpu device, void* stream, std::int64_t n, const EpilogueIndex<T>& index) {
  parallel_for(device, stream, n, index);
}
#ifdef LETHE_DEVICE_CODE
template <class T>
void run_epilogue(Cuda device, void* stream, std::int64_t n, const EpilogueIndex<T>& index) {
  constexpr int kV = kPack<T>;
  const bool whole = index.columns.by() % kV == 0 && index.gap % kV == 0;
  for_each_pack<kV>(device, stream, n, whole && can_pack({index.y, index.bias}), index);
}
#endif

/// `operand`: the bias, or x; null if there is none.
template <class Device>
void apply_epilogue(Device device, void* stream, DType dtype, const EpilogueRows& of, const Epilogue& epilogue,
                    const void* operand, void* y) {
  for_float(dtype, [&](auto zero) {
    using T = decltype(zero);
    const auto* const from = static_cast<const T*>(operand);
    auto* const to = static_cast<T*>(y);
    const std::int64_t n = of.rows * of.columns;
    if (epilogue.gelu_grad) return run_map(device, stream, n, MapIndex<TanhGeluGrad, T, 2>{{}, {from, to}, to});
    run_epilogue(device, stream, n, EpilogueIndex<T>{Divisor(of.columns), of.gap, from, epilogue.relu, to});
  });
}

}  // namespace lethe
