// Elementwise ops of two operands, the second of which may broadcast: it is a scalar, or has size 1 along some axes.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "framework/autodiff/autodiff.h"
#include "framework/builder/layer_call.h"
#include "framework/language/op_def.h"
#include "kernels/for_each_pair.h"
#include "kernels/map.h"

namespace lethe {

/// The shape of input 0, for inputs 0 and 1 of one dtype of which the second may broadcast; fails if they do not fit.
Type broadcast_type(const InferArgs& args);
/// The shape rule of arithmetic on such inputs.
std::vector<Type> same_as_broadcast(const InferArgs& args);

/// Whether a layer's op gives the same of its two operands in either order.
enum class Commutes : bool { No, Yes };
/// Emits an op of two operands as numpy broadcasts them, the axes of a sample aligned at the last one: the op
/// broadcasts the second itself; the first is expanded where it has not the shape of the result.
VarId emit_pair(LayerCall& call, const std::string& type, VarId a, VarId b, Commutes commutes, Attrs attrs = {});
/// Likewise of all inputs from left to right: the op of the first two, then of that and the next one...
VarId emit_pairs(LayerCall& call, const std::string& type, Commutes commutes);

/// Sets the gradient of operand 1: dy, times `factor` if there is one, summed to its shape.
void set_second(GradBuilder& g, VarId factor = kNone);
/// Likewise to what an op gives, which has the shape of the result.
void set_second(GradBuilder& g, const std::string& type, std::vector<VarId> in, Attrs attrs);

/// `x` with axes of 1 after its batch until it has `rank` axes, stated as of `layout`; a scalar stays one.
VarId aligned(LayerCall& call, VarId x, std::size_t rank, Layout layout);
/// The shape that both broadcast to, of one rank or scalars; none if they do not fit.
std::optional<Shape> common_shape(const Shape& a, const Shape& b);
/// `x`, which is aligned, if it has that shape, else expanded to it and called path/`as`.
VarId in_shape(LayerCall& call, VarId x, const Shape& shape, Layout layout, const std::string& as);
/// What the op "expand" is told to make shape `to` of shape `from`: the sizes that change.
Attrs expansion(const Shape& from, const Shape& to);

/// All elements of `shape`, and where an operand of shape `broadcast` is read for each.
Box broadcast_box(const Shape& shape, const Shape& broadcast);

template <class F, class T, int N>
struct PairElement {
  MapIndex<F, T, N> map;
  HD void operator()(std::int64_t i, std::int64_t j) const {
    if constexpr (N == 2)
      map.out[i] = map.f(compute(map.in[0][i]), compute(map.in[1][j]));
    else
      map.out[i] = map.f(compute(map.in[0][i]), compute(map.in[1][j]), compute(map.in[2][i]));
  }
};

template <class F, class DTypes, int N = 2>
struct Pairs {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    return prepare<Device>(args, args.in(1).shape);
  }
  /// With operand 1 taken to be of another shape.
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args, const Shape& second) {
    return DTypes::visit(args.in(0).dtype, [&](auto zero) {
      using T = decltype(zero);
      const Box box = broadcast_box(args.in(0).shape, second);
      return make_kernel([box, f = functor_of<F>(args.op.attrs, args.in(0).dtype)](const KernelArgs& a) {
        const auto map = Map<F, N, DTypes>::template index<T>(f, a);
        if constexpr (std::is_same_v<Device, Cuda>)
          if (box.is_one_run()) return run_map(Device{}, a.stream, box.count(), map);
        for_each_pair(Device{}, a.stream, box, PairElement<F, T, N>{map});
      });
    });
  }
};

/// Kernels of y[i] = f(a[i], b[i]), or f(a[i], b[i], c[i]), with b broadcast. y may stand in the memory of a or c, or
/// of b if that is as large.
template <class F, class DTypes = Numbers, int N = 2>
constexpr Kernels map_pairs() {
  Kernels kernels = each_device<Pairs<F, DTypes, N>>();
  kernels.is_map = true;
  return kernels;
}

}  // namespace lethe
