// The largest of each window and where in the window it stands (rows of the window one after the other): one byte, so
// that the gradient reads neither x nor y; attribute index: of that dtype instead. Padding never wins, NaN always does.
#include "framework/autodiff/autodiff.h"
#include "framework/builder/layer_call.h"
#include "framework/language/op_def.h"
#include "kernels/dtypes.h"
#include "kernels/pool_grad.h"
#include "kernels/pool_windows.h"

namespace lethe {
namespace {

/// Unless named, u8 where the window has so few positions.
DType index_dtype(const Op& op, const Pooling& p) {
  if (op.attrs.has("index")) return dtype_named(op.attrs.text("index"));
  return p.height.k * p.width.k <= 255 ? DType::u8 : DType::i32;
}

template <class Body>
auto for_index(DType dtype, const Body& body) {
  if (dtype == DType::u8) return body(std::uint8_t{});
  if (dtype == DType::i32) return body(std::int32_t{});
  if (dtype == DType::i64) return body(std::int64_t{});
  return for_wide(dtype, body);
}

template <class T, class I>
struct MaxPool {
  Pooling p;
  Pixels<const T> x;
  Pixels<T> y;
  Pixels<I> index;

  template <int B>
  HD void block(std::int64_t pixel, std::int64_t first, std::int64_t count) const {
    const Pixel at = p.out_pixels.at(pixel);
    Compute<T> most[B];
    std::int32_t where[B];
    over_window<B>(p, at, [&](const WindowPlace& place) {
      const auto from = channels_at<B>(x.at(place.row, place.column, first));
      const bool start = place.first;
      const std::int32_t here = place.place;
      for (std::int64_t c = 0; c < count; ++c) {
        const Compute<T> v = from[c];
        const bool taken = start || wins(v, most[c]);
        most[c] = taken ? v : most[c];
        where[c] = taken ? here : where[c];
      }
    });
    auto&& to = channels_to<B>(y.at(pixel, first));
    auto&& chosen = channels_to<B>(index.at(pixel, first));
    for (std::int64_t c = 0; c < count; ++c) to[c] = static_cast<T>(most[c]);
    for (std::int64_t c = 0; c < count; ++c) chosen[c] = static_cast<I>(where[c]);
  }

  static constexpr int kElements = kPack<T>;
  bool can_pack() const { return can_pack_pixels<kElements>(x, y, index); }
};

/// A window gives what it got to the place that it chose.
template <class T, class I>
struct MaxPoolGiven {
  Pixels<const I> index;
  Pixels<const T> dy;

  template <int B>
  HD auto of(const Pooling&, std::int64_t pixel, std::int64_t, std::int64_t, std::int64_t first, bool exists) const {
    return [chosen = channels_at<B>(index.at(pixel, first)), of_dy = channels_or_zeros<B>(dy.at(pixel, first), exists)](
               std::int64_t c, std::int32_t place) -> Compute<T> {
      const Compute<T> given = of_dy[c];  // read in any case: a condition would keep the loop from vectorising
      return chosen[c] == static_cast<I>(place) ? given : 0;
    };
  }

  template <int B>
  bool can_pack() const {
    return can_pack_pixels<B>(index, dy);
  }
  static constexpr bool kInPatches = sizeof(I) == 1 && sizeof(T) <= sizeof(float);
};

struct PrepareMaxPool {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const Pooling p = pooling_of(args.op, args.in(0).shape);
    return for_float(args.in(0).dtype, [&](auto zero) {
      return for_index(args.out(1).dtype, [&](auto whole) {
        using T = decltype(zero);
        using I = decltype(whole);
        return make_kernel([p, x = row_step(args.in(0)), y = row_step(args.out(0)),
                            index = row_step(args.out(1))](const KernelArgs& a) {
          for_each_pixel(Device{}, a.stream, p.images * p.height.out * p.width.out, p.channels, p.height.k * p.width.k,
                         MaxPool<T, I>{p, {a.in<T>(0), x}, {a.out<T>(0), y}, {a.out<I>(1), index}});
        });
      });
    });
  }
};

struct PrepareMaxPoolGrad {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const Pooling p = pooling_of_grad(args.op, args.in(1).shape);
    return for_float(args.in(1).dtype, [&](auto zero) {
      return for_index(args.in(0).dtype, [&](auto whole) {
        using T = decltype(zero);
        using I = decltype(whole);
        return make_kernel([p, index = row_step(args.in(0)), dy = row_step(args.in(1)),
                            dx = row_step(args.out(0))](const KernelArgs& a) {
          pool_gradient(Device{}, a.stream, p, MaxPoolGiven<T, I>{{a.in<I>(0), index}, {a.in<T>(1), dy}},
                        Pixels<T>{a.out<T>(0), dx});
        });
      });
    });
  }
};

const Register max_pool{{
    .type = "max_pool",
    .inputs = {"x"},
    .outputs = {"y", "index"},
    .infer =
        [](const InferArgs& args) {
          const Pooling p = pooling_of(args.op, args.in(0).shape);
          return std::vector<Type>{{p.out_shape(), args.in(0).dtype}, {p.out_shape(), index_dtype(args.op, p)}};
        },
    .grad =
        [](GradBuilder& g) {
          g.set(0, "max_pool_grad", {g.y(1), g.dy()}, pooling_grad_attrs(g.attrs(), g.var(g.x(0)).shape));
        },
    .pitched = true,
    .again =
        [](const Op& op) {
          Op value = op;
          value.type = "max_pool_value";
          value.out.resize(1);
          return value;
        },
    .part = FusionPart::Pick,
    .kernels = each_device<PrepareMaxPool>(),
    .layer = {.name = "max_pool",
              .aliases = {"MaxPool"},
              .keys = pooling_keys(),
              .build =
                  [](LayerCall& c) {  // nothing but a gradient asks for the index
                    return c.emit(c.training() ? "max_pool" : "max_pool_value", {c.in()}, pooling_attrs(c));
                  },
              .help = "the largest value of each window"},
}};

const Register max_pool_grad{{
    .type = "max_pool_grad",
    .inputs = {"index", "dy"},
    .outputs = {"dx"},
    .infer =
        [](const InferArgs& args) {
          const Pooling p = pooling_of_grad(args.op, args.in(1).shape);
          return std::vector<Type>{{p.in_shape(), args.in(1).dtype}};
        },
    .pitched = true,
    .part = FusionPart::PickGradient,
    .kernels = each_device<PrepareMaxPoolGrad>(),
}};

}  // namespace
}  // namespace lethe
