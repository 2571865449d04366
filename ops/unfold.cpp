// y[(n * oh + oy) * ow + ox, (ky * kw + kx) * C + c] = x[n, oy * stride - pad + ky * dilation, ..., c]: an image as the
// matrix that, times the weights of a convolution, is its output; zeros in the padding. Its gradient is fold.
#include "framework/autodiff/autodiff.h"
#include "framework/checked.h"
#include "framework/language/op_def.h"
#include "kernels/conv/attrs.h"
#include "kernels/conv/windows.h"
#include "kernels/dtypes.h"

namespace lethe {
namespace {

WindowAxis axis_of(const Op& op, std::int64_t in, std::size_t axis) {
  const auto along = [&](const char* key) { return extent_of(op.type.c_str(), op.attrs, key, 0, 0)[axis]; };
  WindowAxis a{
      .in = in, .k = along("kernel"), .stride = along("stride"), .pad = along("pad"), .dilation = along("dilation")};
  check(a.k >= 1 && a.stride >= 1 && a.dilation >= 1 && a.pad >= 0, op.type, ": kernel ", a.k, ", stride ", a.stride,
        ", dilation ", a.dilation, " and padding ", a.pad, ", expected at least 1, 1, 1 and 0");
  const std::int64_t room = padded_size(in, a.pad) - reach_of(a.k, a.dilation);
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

struct PrepareUnfold {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const Windows w = windows_of(args.op, args.in(0).shape);
    return for_float(args.in(0).dtype, [&](auto zero) {
      using T = decltype(zero);
      return make_kernel([w](const KernelArgs& a) { unfold_windows(Device{}, a.stream, w, a.in<T>(0), a.out<T>(0)); });
    });
  }
};

struct PrepareFold {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const Windows w = windows_of_columns(args.op, args.in(0).shape);
    return for_float(args.in(0).dtype, [&](auto zero) {
      using T = decltype(zero);
      return make_kernel([w](const KernelArgs& a) { fold_windows(Device{}, a.stream, w, a.in<T>(0), a.out<T>(0)); });
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
