// Elementwise ops of two operands, the second of which may broadcast: it is a scalar, or has size 1 along some axes.
#pragma once
#include "framework/builder/layer_call.h"
#include "framework/language/op_def.h"
#include "kernels/for_each_pair.h"
#include "kernels/map.h"

namespace lethe {

/// The shape of input 0, for inputs 0 and 1 of one dtype of which the second may broadcast; fails if they do not fit.
Type broadcast_type(const InferArgs& args);
/// The shape rule of arithmetic on such inputs.
std::vector<Type> same_as_broadcast(const InferArgs& args);

/// The two inputs of a layer whose operands commute, the smaller one second.
std::vector<VarId> broadcast_second(const LayerCall& call);

/// `x` with axes of 1 after its batch until it has `rank` axes, stated as of `layout`; a scalar stays one.
VarId aligned(LayerCall& call, VarId x, std::size_t rank, Layout layout);
/// What the op "expand" is told to make shape `to` of shape `from`: the sizes that change.
Attrs expansion(const Shape& from, const Shape& to);

/// All elements of `shape`, and where an operand of shape `broadcast` is read for each.
Box broadcast_box(const Shape& shape, const Shape& broadcast);

template <class F, class T>
struct PairElement {
  F f;
  const T *a, *b;
  using Result = StoredAs<T, std::invoke_result_t<F, Compute<T>, Compute<T>>>;
  Result* y;
  HD void operator()(std::int64_t i, std::int64_t j) const { y[i] = f(compute(a[i]), compute(b[j])); }
};

template <class F, class DTypes>
struct Pairs {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    return DTypes::visit(args.in(0).dtype, [&](auto zero) {
      using T = decltype(zero);
      const Box box = broadcast_box(args.in(0).shape, args.in(1).shape);
      return make_kernel([box](const KernelArgs& a) {
        if constexpr (std::is_same_v<Device, Cuda>)
          if (box.is_one_run()) {
            using Index = MapIndex<F, T, 2>;
            const Index index{F{}, {a.in<T>(0), a.in<T>(1)}, a.out<typename Index::Result>(0)};
            return run_map(Device{}, a.stream, box.count(), index);
          }
        using Element = PairElement<F, T>;
        auto* const y = a.out<typename Element::Result>(0);
        for_each_pair(Device{}, a.stream, box, Element{F{}, a.in<T>(0), a.in<T>(1), y});
      });
    });
  }
};

/// Kernels of y[i] = f(a[i], b[i]) with b broadcast. y may stand in the memory of a, or of b if that is as large.
template <class F, class DTypes = Numbers>
constexpr Kernels map_pairs() {
  Kernels kernels = each_device<Pairs<F, DTypes>>();
  kernels.is_map = true;
  return kernels;
}

}  // namespace lethe
