// The largest of each window, as max_pool, without a word on where it stands: the gradient finds that again from x, y
// and dy. Padding never wins, NaN always does.
#include "framework/autodiff/autodiff.h"
#include "framework/language/op_def.h"
#include "kernels/dtypes.h"
#include "kernels/pool_windows.h"

namespace lethe {
namespace {

template <class T>
struct MaxPoolValue {
  Pooling p;
  Pixels<const T> x;
  Pixels<T> y;

  template <int B>
  HD void block(std::int64_t pixel, std::int64_t first, std::int64_t count) const {
    const Pixel at = p.out_pixels.at(pixel);
    Compute<T> most[B];
    over_window<B>(p, at, [&](const WindowPlace& place) {
      const auto from = channels_at<B>(x.at(place.row, place.column, first));
      for (std::int64_t c = 0; c < count; ++c) {
        const Compute<T> v = from[c];
        most[c] = place.first || wins(v, most[c]) ? v : most[c];
      }
    });
    auto&& to = channels_to<B>(y.at(pixel, first));
    for (std::int64_t c = 0; c < count; ++c) to[c] = static_cast<T>(most[c]);
  }

  static constexpr int kElements = kPack<T>;
  bool can_pack() const { return can_pack_pixels<kElements>(x, y); }
};

/// Each input position asks the windows over it whether they took it: no two threads write the same element.
template <class T>
struct MaxPoolValueGrad {
  Pooling p;
  const T *x, *y, *dy;
  T* dx;

  template <int B>
  HD void block(std::int64_t pixel, std::int64_t first, std::int64_t count) const {
    if (p.is_dense())
      sum_windows<B, true>(pixel, first, count);
    else
      sum_windows<B, false>(pixel, first, count);
  }

 private:
  template <int B, bool kDense>
  HD void sum_windows(std::int64_t pixel, std::int64_t first, std::int64_t count) const {
    const Pixel at = p.in_pixels.at(pixel);
    const Reach rows = p.height.windows_over(at.h), columns = p.width.windows_over(at.w);
    const T* const here = x + pixel * p.channels + first;
    Compute<T> sum[B] = {};
    for (std::int64_t h = rows.first; h < rows.first + rows.count; ++h)
      for (std::int64_t w = columns.first; w < columns.first + columns.count; ++w) {
        if (!kDense && !p.has(at, h, w)) continue;
        const std::int64_t from = ((at.image * p.height.out + h) * p.width.out + w) * p.channels + first;
        for (std::int64_t c = 0; c < count; ++c)
          if (equal(here[c], y[from + c]) && is_taken<kDense>(at, h, w, first + c)) sum[c] += dy[from + c];
      }
    for (std::int64_t c = 0; c < count; ++c) dx[pixel * p.channels + first + c] = sum[c];
  }

  HD static bool equal(T a, T b) { return a == b || (a != a && b != b); }

  /// Of several equal values the window (h, w) took the first, of several NaN the last; `at` has such a value.
  template <bool kDense>
  HD bool is_taken(const Pixel& at, std::int64_t h, std::int64_t w, std::int64_t channel) const {
    const Reach rows = kDense ? p.height.dense_window(h) : p.height.window(h);
    const Reach columns = kDense ? p.width.dense_window(w) : p.width.window(w);
    const std::int64_t image = at.image * p.height.in;
    const T value = x[((image + at.h) * p.width.in + at.w) * p.channels + channel];
    bool taken = false;
    const std::int64_t down = kDense ? 1 : p.height.dilation.by(), along = kDense ? 1 : p.width.dilation.by();
    const std::int64_t bottom = rows.first + rows.count * down, right = columns.first + columns.count * along;
    for (std::int64_t r = rows.first; r < bottom; r += down)
      for (std::int64_t s = columns.first; s < right; s += along) {
        if (!equal(x[((image + r) * p.width.in + s) * p.channels + channel], value)) continue;
        taken = r == at.h && s == at.w;
        if (value == value) return taken;
      }
    return taken;
  }
};

struct PrepareMaxPoolValue {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const Pooling p = pooling_of(args.op, args.in(0).shape);
    return for_float(args.in(0).dtype, [&](auto zero) {
      using T = decltype(zero);
      return make_kernel([p, x = row_step(args.in(0)), y = row_step(args.out(0))](const KernelArgs& a) {
        for_each_pixel(Device{}, a.stream, p.images * p.height.out * p.width.out, p.channels, p.height.k * p.width.k,
                       MaxPoolValue<T>{p, {a.in<T>(0), x}, {a.out<T>(0), y}});
      });
    });
  }
};

struct PrepareMaxPoolValueGrad {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const Pooling p = pooling_of(args.op, args.in(0).shape);
    return for_float(args.in(0).dtype, [&](auto zero) {
      using T = decltype(zero);
      return make_kernel([p](const KernelArgs& a) {
        for_each_pixel(Device{}, a.stream, p.images * p.height.in * p.width.in, p.channels, p.windows_over_most(),
                       MaxPoolValueGrad<T>{p, a.in<T>(0), a.in<T>(1), a.in<T>(2), a.out<T>(0)});
      });
    });
  }
};

const Register max_pool_value{{
    .type = "max_pool_value",
    .inputs = {"x"},
    .outputs = {"y"},
    .infer =
        [](const InferArgs& args) {
          return std::vector<Type>{{pooling_of(args.op, args.in(0).shape).out_shape(), args.in(0).dtype}};
        },
    .grad =
        [](GradBuilder& g) {
          g.set(0, "max_pool_value_grad", {g.x(0), g.y(), g.dy()}, g.attrs());
        },
    .pitched = true,
    .kernels = each_device<PrepareMaxPoolValue>(),
}};

const Register max_pool_value_grad{{
    .type = "max_pool_value_grad",
    .inputs = {"x", "y", "dy"},
    .outputs = {"dx"},
    .infer = same_as_first,
    .kernels = each_device<PrepareMaxPoolValueGrad>(),
}};

}  // namespace
}  // namespace lethe
