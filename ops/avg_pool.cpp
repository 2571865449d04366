// The mean of each window. Attribute count_include_pad: padding counts as zeros; without it only what lies in the image
// counts. The gradient reads no tensor but dy.
#include "framework/autodiff/autodiff.h"
#include "framework/builder/layer_call.h"
#include "framework/language/op_def.h"
#include "kernels/dtypes.h"
#include "kernels/pool_grad.h"
#include "kernels/pool_windows.h"

namespace lethe {
namespace {

/// By how many positions a window's sum is divided.
struct WindowCount {
  bool padding_counts;
  template <class N>
  HD N operator()(const Pooling& p, N h, N w) const {
    return p.is_dense() ? of<true>(p, h, w) : of<false>(p, h, w);
  }

 private:
  template <bool kDense, class N>
  HD N of(const Pooling& p, N h, N w) const {
    if (padding_counts) return p.height.padded_count<kDense>(h) * p.width.padded_count<kDense>(w);
    return p.height.count<kDense>(h) * p.width.count<kDense>(w);
  }
};

template <class T>
struct AvgPool {
  Pooling p;
  WindowCount window_count;
  Pixels<const T> x;
  Pixels<T> y;

  template <int B>
  HD void block(std::int64_t pixel, std::int64_t first, std::int64_t count) const {
    const Pixel at = p.out_pixels.at(pixel);
    const Compute<T> positions = static_cast<Compute<T>>(window_count(p, at.h, at.w));
    Compute<T> sum[B] = {};
    over_window<B>(p, at, [&](const WindowPlace& place) {
      const auto from = channels_at<B>(x.at(place.row, place.column, first));
      for (std::int64_t c = 0; c < count; ++c) sum[c] += place.inside ? Compute<T>(from[c]) : 0;
    });
    auto&& to = channels_to<B>(y.at(pixel, first));
    for (std::int64_t c = 0; c < count; ++c) to[c] = sum[c] / positions;
  }

  static constexpr int kElements = kPack<T>;
  bool can_pack() const { return can_pack_pixels<kElements>(x, y); }
};

/// A window gives each position an equal share.
template <class T>
struct AvgPoolGiven {
  WindowCount window_count;
  Pixels<const T> dy;

  template <int B, class N>
  HD auto of(const Pooling& p, std::int64_t pixel, N h, N w, std::int64_t first, bool exists) const {
    const Compute<T> share = exists ? 1 / static_cast<Compute<T>>(window_count(p, h, w)) : 0;
    return [share, of_dy = channels_or_zeros<B>(dy.at(pixel, first), exists)](
               std::int64_t c, std::int32_t) -> Compute<T> { return of_dy[c] * share; };
  }

  template <int B>
  bool can_pack() const {
    return can_pack_pixels<B>(dy);
  }
  static constexpr bool kInPatches = sizeof(T) <= sizeof(float);
};

struct PrepareAvgPool {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const Pooling p = pooling_of(args.op, args.in(0).shape);
    const WindowCount window_count{args.op.attrs.flag("count_include_pad", true)};
    return for_float(args.in(0).dtype, [&](auto zero) {
      using T = decltype(zero);
      return make_kernel([=, x = row_step(args.in(0)), y = row_step(args.out(0))](const KernelArgs& a) {
        for_each_pixel(Device{}, a.stream, p.images * p.height.out * p.width.out, p.channels, p.height.k * p.width.k,
                       AvgPool<T>{p, window_count, {a.in<T>(0), x}, {a.out<T>(0), y}});
      });
    });
  }
};

struct PrepareAvgPoolGrad {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const Pooling p = pooling_of_grad(args.op, args.in(0).shape);
    const WindowCount window_count{args.op.attrs.flag("count_include_pad", true)};
    return for_float(args.in(0).dtype, [&](auto zero) {
      using T = decltype(zero);
      return make_kernel([=, dy = row_step(args.in(0)), dx = row_step(args.out(0))](const KernelArgs& a) {
        pool_gradient(Device{}, a.stream, p, AvgPoolGiven<T>{window_count, {a.in<T>(0), dy}},
                      Pixels<T>{a.out<T>(0), dx});
      });
    });
  }
};

std::vector<Key> avg_pool_keys() {
  std::vector<Key> keys = pooling_keys();
  keys.push_back({.name = "count_include_pad",
                  .type = KeyType::Bool,
                  .absent = true,
                  .help = "padding counts as zeros in the mean"});
  return keys;
}

VarId build_avg_pool(LayerCall& c) {
  Attrs attrs = pooling_attrs(c);
  attrs.set("count_include_pad", c.settings().flag("count_include_pad"));
  return c.emit("avg_pool", {c.in()}, attrs);
}

const Register avg_pool{{
    .type = "avg_pool",
    .inputs = {"x"},
    .outputs = {"y"},
    .infer =
        [](const InferArgs& args) {
          return std::vector<Type>{{pooling_of(args.op, args.in(0).shape).out_shape(), args.in(0).dtype}};
        },
    .grad =
        [](GradBuilder& g) { g.set(0, "avg_pool_grad", {g.dy()}, pooling_grad_attrs(g.attrs(), g.var(g.x(0)).shape)); },
    .pitched = true,
    .kernels = each_device<PrepareAvgPool>(),
    .layer = {.name = "avg_pool",
              .aliases = {"AveragePool"},
              .keys = avg_pool_keys(),
              .build = build_avg_pool,
              .help = "the mean of each window"},
}};

const Register avg_pool_grad{{
    .type = "avg_pool_grad",
    .inputs = {"dy"},
    .outputs = {"dx"},
    .infer =
        [](const InferArgs& args) {
          return std::vector<Type>{{pooling_of_grad(args.op, args.in(0).shape).in_shape(), args.in(0).dtype}};
        },
    .pitched = true,
    .kernels = each_device<PrepareAvgPoolGrad>(),
}};

}  // namespace
}  // namespace lethe
