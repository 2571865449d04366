// y[(n * oh + oy) * ow + ox, (ky * kw + kx) * C + c] = x[n, oy * stride - pad + ky * dilation, ..., c]: an image as the
// matrix that, times the weights of a convolution, is its output; zeros in the padding. Its gradient is fold.
#include "framework/autodiff.h"
#include "framework/error.h"
#include "framework/op_def.h"
#include "kernels/each_device.h"

namespace lethe {
namespace {

/// One axis of the windows: `in` positions, `out` windows.
struct WindowAxis {
  std::int64_t in = 1, out = 1, k = 1, stride = 1, pad = 0, dilation = 1;
  /// The input position under place `at` of window `o`; it may lie in the padding.
  HD std::int64_t position(std::int64_t o, std::int64_t at) const { return o * stride - pad + at * dilation; }
  HD bool has(std::int64_t position) const { return position >= 0 && position < in; }
  /// The window whose place `at` lies over input position `i`, or -1.
  HD std::int64_t window_over(std::int64_t i, std::int64_t at) const {
    const std::int64_t start = i + pad - at * dilation;
    return start >= 0 && start % stride == 0 && start / stride < out ? start / stride : -1;
  }
};

struct Windows {
  std::int64_t images = 1, channels = 1;
  WindowAxis height = {}, width = {};
  std::int64_t positions() const { return images * height.out * width.out; }
  std::int64_t places() const { return height.k * width.k; }
};

WindowAxis axis_of(const Op& op, std::int64_t in, std::size_t axis) {
  WindowAxis a{.in = in,
               .k = op.attrs.ints("kernel").at(axis),
               .stride = op.attrs.ints("stride").at(axis),
               .pad = op.attrs.ints("pad").at(axis),
               .dilation = op.attrs.ints("dilation").at(axis)};
  check(a.k >= 1 && a.stride >= 1 && a.dilation >= 1 && a.pad >= 0, op.type, ": kernel ", a.k, ", stride ", a.stride,
        ", dilation ", a.dilation, " and padding ", a.pad, ", expected at least 1, 1, 1 and 0");
  const std::int64_t room = in + 2 * a.pad - ((a.k - 1) * a.dilation + 1);
  check(room >= 0, op.type, ": a kernel of ", a.k, " does not fit ", in, " positions with padding ", a.pad);
  a.out = room / a.stride + 1;
  return a;
}

Windows windows_of(const Op& op, const Shape& image) {
  check(image.size() == 4, op.type, ": input ", text_of(image), " is no image [N,H,W,C]");
  return {
      .images = image[0], .channels = image[3], .height = axis_of(op, image[1], 0), .width = axis_of(op, image[2], 1)};
}

/// Of a fold: the image is as high and wide as the attributes say.
Windows windows_of_columns(const Op& op, const Shape& columns) {
  check(columns.size() == 2, op.type, ": input ", text_of(columns), " is no matrix");
  Windows w = windows_of(op, {1, op.attrs.integer("height"), op.attrs.integer("width"), 1});
  check(columns[0] % w.positions() == 0 && columns[1] % w.places() == 0, op.type, ": columns are ", text_of(columns),
        ", expected multiples of ", w.positions(), " and ", w.places());
  w.images = columns[0] / w.positions();
  w.channels = columns[1] / w.places();
  return w;
}

/// Index i: one place of one window.
template <class T>
struct UnfoldPlace {
  Windows w;
  const T* x;
  T* y;
  HD void operator()(std::int64_t i) const {
    const std::int64_t kx = i % w.width.k, ky = i / w.width.k % w.height.k, window = i / w.width.k / w.height.k;
    const std::int64_t column = w.width.position(window % w.width.out, kx);
    const std::int64_t row = w.height.position(window / w.width.out % w.height.out, ky);
    const std::int64_t image = window / w.width.out / w.height.out;
    const bool inside = w.height.has(row) && w.width.has(column);
    const T* const from = inside ? x + ((image * w.height.in + row) * w.width.in + column) * w.channels : nullptr;
    for (std::int64_t c = 0; c < w.channels; ++c) y[i * w.channels + c] = inside ? from[c] : T(0);
  }
};

/// Index i: one pixel, which adds up what each place of the kernel has for it: no two threads write the same element.
template <class T>
struct FoldPixel {
  Windows w;
  const T* columns;
  T* x;
  HD void operator()(std::int64_t i) const {
    const std::int64_t column = i % w.width.in, row = i / w.width.in % w.height.in,
                       image = i / w.width.in / w.height.in;
    for (std::int64_t c = 0; c < w.channels; ++c) x[i * w.channels + c] = T(0);
    for (std::int64_t ky = 0; ky < w.height.k; ++ky)
      for (std::int64_t kx = 0; kx < w.width.k; ++kx) {
        const std::int64_t oy = w.height.window_over(row, ky), ox = w.width.window_over(column, kx);
        if (oy < 0 || ox < 0) continue;
        const std::int64_t window = (image * w.height.out + oy) * w.width.out + ox;
        const T* const from = columns + ((window * w.height.k + ky) * w.width.k + kx) * w.channels;
        for (std::int64_t c = 0; c < w.channels; ++c) x[i * w.channels + c] += from[c];
      }
  }
};

struct PrepareUnfold {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const Windows w = windows_of(args.op, args.in(0).shape);
    return for_float(args.in(0).dtype, [&](auto zero) {
      using T = decltype(zero);
      return make_kernel([w](const KernelArgs& a) {
        parallel_for(Device{}, a.stream, w.positions() * w.places(), UnfoldPlace<T>{w, a.in<T>(0), a.out<T>(0)},
                     kElementGrain / w.channels + 1);
      });
    });
  }
};

struct PrepareFold {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const Windows w = windows_of_columns(args.op, args.in(0).shape);
    return for_float(args.in(0).dtype, [&](auto zero) {
      using T = decltype(zero);
      return make_kernel([w](const KernelArgs& a) {
        parallel_for(Device{}, a.stream, w.images * w.height.in * w.width.in, FoldPixel<T>{w, a.in<T>(0), a.out<T>(0)},
                     kElementGrain / (w.channels * w.places()) + 1);
      });
    });
  }
};

void unfold_gradient(GradBuilder& g) {
  const Shape& x = g.var(g.x(0)).shape;
  Attrs attrs = g.attrs();
  attrs.set("height", x[1]);
  attrs.set("width", x[2]);
  g.set(0, "fold", {g.dy()}, attrs);
}

const Register unfold{{
    .type = "unfold",
    .inputs = {"x"},
    .outputs = {"columns"},
    .infer =
        [](const InferArgs& args) {
          const Windows w = windows_of(args.op, args.in(0).shape);
          return std::vector<Type>{{{w.positions(), w.places() * w.channels}, args.in(0).dtype}};
        },
    .grad = unfold_gradient,
    .kernels = each_device<PrepareUnfold>(),
}};

const Register fold{{
    .type = "fold",
    .inputs = {"columns"},
    .outputs = {"x"},
    .infer =
        [](const InferArgs& args) {
          const Windows w = windows_of_columns(args.op, args.in(0).shape);
          return std::vector<Type>{{{w.images, w.height.in, w.width.in, w.channels}, args.in(0).dtype}};
        },
    .kernels = each_device<PrepareFold>(),
}};

}  // namespace
}  // namespace lethe
