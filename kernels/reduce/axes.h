// Reductions over any axes: keys of layers, shape rules and steps. Neighbouring axes are one middle; groups of axes
// that stand apart are reduced one after the other, the last first.
#pragma once
#include <vector>

#include "framework/builder/layer_call.h"
#include "framework/language/op_def.h"
#include "kernels/box.h"
#include "kernels/reduce/plan.h"

namespace lethe {

/// The keys of a layer that reduces, and the attributes that they stand for: `axes`, counted in the shape as it is in
/// memory (none: all, the batch too), and `keep_dims`.
std::vector<Key> reduction_keys();
Attrs reduction_attrs(const LayerCall& call);
/// The steps that lead from `shape` to its reduction over `axes`; at least one.
std::vector<SumExtent> reduction_steps(const Shape& shape, const Ints& axes);
/// Attribute `axes` in ascending order, all axes if it is absent or empty; fails for one that `shape` does not have.
Ints reduced_axes(const Op& op, const Shape& shape);
/// Shape rule: without the reduced axes, or with 1 in their place if attribute `keep_dims` is set.
std::vector<Type> infer_reduction(const InferArgs& args);
/// Shape rule of the gradient: attribute `shape`, which is the input's.
std::vector<Type> infer_reduction_grad(const InferArgs& args);
/// The attributes of the gradient.
Attrs reduction_grad_attrs(const Attrs& attrs, const Shape& shape);
/// Every element of `shape` (first), each with its place in the reduction over `axes` (second).
Box reduction_box(const Shape& shape, const Ints& axes);
/// Product of the sizes of `axes`.
std::int64_t reduced_count(const Shape& shape, const Ints& axes);

}  // namespace lethe
