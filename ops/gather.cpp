// y = the places `indices` of x along an axis, in their order. The gradient of a place sums dy where it was taken, in
// that order.
#include <limits>
#include <numeric>

#include "framework/autodiff/autodiff.h"
#include "framework/builder/layer_call.h"
#include "framework/builder/settings.h"
#include "framework/language/op_def.h"
#include "kernels/divisor.h"
#include "kernels/dtypes.h"
#include "kernels/index_table.h"

namespace lethe {
namespace {

/// x [outer, size, inner], y [outer, count, inner].
struct GatherExtent {
  std::int64_t outer = 1, size = 1, count = 1, inner = 1;
};

GatherExtent gather_extent(const Op& op, const Shape& x) {
  const auto axis = op.attrs.integer("axis");
  const auto count = static_cast<std::int64_t>(op.attrs.ints("indices").size());
  return {elements({x.begin(), x.begin() + axis}), x[static_cast<std::size_t>(axis)], count,
          elements({x.begin() + axis + 1, x.end()})};
}

/// f.element(outer, place, column) for all places, `inner` columns each.
template <class F>
void for_each_place(Cpu, void*, std::int64_t outer, std::int64_t places, std::int64_t inner, const F& f) {
  parallel_ranges(outer * places, kElementGrain / inner + 1, [&](std::int64_t begin, std::int64_t end) {
    std::int64_t o = begin / places, place = begin % places;
    for (std::int64_t row = begin; row < end; ++row) {
      for (std::int64_t column = 0; column < inner; ++column) f.element(o, place, column);
      if (++place == places) place = 0, ++o;
    }
  });
}
#ifdef LETHE_DEVICE_CODE
template <class F>
struct EachPlace {
  F f;
  Divisor places, inner;
  HD void operator()(std::int64_t i) const {
    const std::int64_t row = inner.quotient(i), o = places.quotient(row);
    f.element(o, row - o * places.by(), i - row * inner.by());
  }
};
template <class F>
void for_each_place(Cuda device, void* stream, std::int64_t outer, std::int64_t places, std::int64_t inner,
                    const F& f) {
  parallel_for(device, stream, outer * places * inner, EachPlace<F>{f, Divisor(places), Divisor(inner)});
}
#endif

template <class T>
struct GatherPlaces {
  GatherExtent extent;
  const std::int32_t* indices;
  const T* x;
  T* y;
  HD void element(std::int64_t outer, std::int64_t k, std::int64_t column) const {
    y[(outer * extent.count + k) * extent.inner + column] =
        x[(outer * extent.size + indices[k]) * extent.inner + column];
  }
};

/// Place p was taken as ks[first[p]], ks[first[p] + 1]... before first[p + 1].
template <class T>
struct GatherSums {
  GatherExtent extent;
  const std::int32_t *first, *ks;
  const T* dy;
  T* dx;
  HD void element(std::int64_t outer, std::int64_t p, std::int64_t column) const {
    double sum = 0;
    for (std::int32_t at = first[p]; at < first[p + 1]; ++at)
      sum += static_cast<double>(compute(dy[(outer * extent.count + ks[at]) * extent.inner + column]));
    dx[(outer * extent.size + p) * extent.inner + column] = static_cast<T>(sum);
  }
};

struct Gather {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const GatherExtent extent = gather_extent(args.op, args.in(0).shape);
    const Ints& indices = args.op.attrs.ints("indices");
    WorkspaceLayout layout;
    const IndexTable<Device> table({indices.begin(), indices.end()}, layout);
    return for_width(args.in(0).dtype, [&](auto zero) {
      using T = decltype(zero);
      return make_kernel(
          [=](const KernelArgs& a) {
            for_each_place(Device{}, a.stream, extent.outer, extent.count, extent.inner,
                           GatherPlaces<T>{extent, table.bring(a), a.in<T>(0), a.out<T>(0)});
          },
          layout.bytes());
    });
  }
};

struct GatherGrad {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const GatherExtent extent = gather_extent(args.op, args.out(0).shape);
    const Ints& indices = args.op.attrs.ints("indices");
    std::vector<std::int32_t> first(static_cast<std::size_t>(extent.size) + 1), ks(indices.size());
    for (const std::int64_t index : indices) ++first[static_cast<std::size_t>(index) + 1];
    std::partial_sum(first.begin(), first.end(), first.begin());
    std::vector<std::int32_t> next = first;
    for (std::size_t k = 0; k < indices.size(); ++k)
      ks[static_cast<std::size_t>(next[static_cast<std::size_t>(indices[k])]++)] = static_cast<std::int32_t>(k);
    WorkspaceLayout layout;
    const IndexTable<Device> firsts(std::move(first), layout), takers(std::move(ks), layout);
    return for_float(args.out(0).dtype, [&](auto zero) {
      using T = decltype(zero);
      return make_kernel(
          [=](const KernelArgs& a) {
            for_each_place(Device{}, a.stream, extent.outer, extent.size, extent.inner,
                           GatherSums<T>{extent, firsts.bring(a), takers.bring(a), a.in<T>(0), a.out<T>(0)});
          },
          layout.bytes());
    });
  }
};

/// Of a shape rule: its axis, checked.
std::size_t gather_axis(const InferArgs& args) {
  const std::int64_t axis = args.op.attrs.integer("axis");
  const std::size_t axes = args.in(0).shape.size();
  check(axis >= 0 && axis < static_cast<std::int64_t>(axes), args.op.type, ": axis is ", axis, ", input has ", axes,
        " axes");
  return static_cast<std::size_t>(axis);
}

/// The indices, which are to be places of `size`; gives how many there are.
std::int64_t check_indices(const InferArgs& args, std::int64_t size) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max() - 1;
  const Ints& indices = args.op.attrs.ints("indices");
  const auto count = static_cast<std::int64_t>(indices.size());
  check(count >= 1 && count <= kMost && size <= kMost, args.op.type, ": ", count, " indices of ", size,
        " places, expected 1 to ", kMost);
  for (const std::int64_t index : indices)
    check(index >= 0 && index < size, args.op.type, ": index ", index, " is no place of ", size);
  return count;
}

std::vector<Type> infer_gather(const InferArgs& args) {
  const std::size_t axis = gather_axis(args);
  Shape shape = args.in(0).shape;
  shape[axis] = check_indices(args, shape[axis]);
  return {{shape, args.in(0).dtype}};
}

std::vector<Type> infer_gather_grad(const InferArgs& args) {
  const std::size_t axis = gather_axis(args);
  Shape shape = args.in(0).shape;
  const std::int64_t size = args.op.attrs.integer("size"), count = check_indices(args, size);
  check(shape[axis] == count, "gather_grad: dy has ", shape[axis], " places, expected ", count);
  shape[axis] = size;
  return {{shape, args.in(0).dtype}};
}

void gather_gradient(GradBuilder& g) {
  Attrs attrs = g.attrs();
  attrs.set("size", g.var(g.x(0)).shape[static_cast<std::size_t>(attrs.integer("axis"))]);
  g.set(0, "gather_grad", {g.dy()}, attrs);
}

VarId build_gather(LayerCall& c) {
  const std::int64_t axis = c.axis("axis"), size = c.shape()[static_cast<std::size_t>(axis)];
  Ints indices = c.settings().ints("indices");
  if (indices.empty()) throw SettingError("indices", "'indices' names no place");
  for (std::int64_t& index : indices) {
    if (index < -size || index >= size)
      throw SettingError("indices", message("index ", index, " is no place of an axis of ", size, ", expected ", -size,
                                            " to ", size - 1));
    if (index < 0) index += size;
  }
  return c.emit("gather", {c.in()}, {{"axis", axis}, {"indices", indices}});
}

const Register gather{{
    .type = "gather",
    .inputs = {"x"},
    .outputs = {"y"},
    .infer = infer_gather,
    .grad = gather_gradient,
    .kernels = each_device<Gather>(),
    .layer =
        {.name = "gather",
         .aliases = {"Gather"},
         .keys = {{.name = "axis", .type = KeyType::Axis, .absent = "channels", .help = "axis whose places it takes"},
                  {.name = "indices",
                   .type = KeyType::IntList,
                   .help = "places from 0, or from the end, -1 being the last; one may stand several times"}},
         .build = build_gather,
         .help = "listed places of one axis, in their order"},
}};

const Register gather_grad{{
    .type = "gather_grad",
    .inputs = {"dy"},
    .outputs = {"dx"},
    .infer = infer_gather_grad,
    .kernels = each_device<GatherGrad>(),
}};

}  // namespace
}  // namespace lethe
