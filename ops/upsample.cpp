// An image in another size, as PyTorch's interpolate has it: `nearest` takes the pixel that output o looks at, rounded
// down, at o * in / out; `bilinear` weighs the four around (o + 1/2) * in / out - 1/2 or, where corners meet corners
// (align_corners), o * (in - 1) / (out - 1). Places are fractions of whole numbers, so nothing depends on their
// rounding.
#include <algorithm>

#include "framework/autodiff/autodiff.h"
#include "framework/builder/layer_call.h"
#include "framework/builder/settings.h"
#include "framework/checked.h"
#include "framework/did_you_mean.h"
#include "framework/language/op_def.h"
#include "kernels/channels.h"
#include "kernels/dtypes.h"

namespace lethe {
namespace {

/// One axis: output o looks at place (slope * o + shift) / unit of the input, at 0 if that is before it.
struct ResizeAxis {
  std::int64_t in = 1, out = 1, shift = 0;
  Divisor slope = Divisor(), unit = Divisor();
  bool linear = false;

  HD std::int64_t place(std::int64_t o) const {
    const std::int64_t place = slope.by() * o + shift;
    return place > 0 ? place : 0;
  }
  HD std::int64_t lower(std::int64_t o) const { return unit.quotient(place(o)); }
  /// What the pixel after the lower one counts; the lower one counts the rest.
  template <class C>
  HD C upper_share(std::int64_t o) const {
    const std::int64_t at = place(o), below = unit.quotient(at);
    if (!linear || below + 1 >= in) return C(0);
    return static_cast<C>(at - below * unit.by()) / static_cast<C>(unit.by());
  }
  /// What input i counts for output o.
  template <class C>
  HD C share(std::int64_t o, std::int64_t i) const {
    const C upper = upper_share<C>(o);
    return lower(o) == i ? 1 - upper : lower(o) + 1 == i ? upper : C(0);
  }
  /// The first output whose lower pixel is `i` or after it.
  HD std::int64_t first_from(std::int64_t i) const {
    if (i <= 0) return 0;
    const std::int64_t distance = i * unit.by() - shift;
    if (i >= in || distance <= 0) return i >= in ? out : 0;
    const std::int64_t first = slope.quotient(distance + slope.by() - 1);
    return first < out ? first : out;
  }
  /// Outputs that may look at input i: from the first on, before the last.
  HD std::int64_t first_over(std::int64_t i) const { return first_from(linear ? i - 1 : i); }
  HD std::int64_t last_over(std::int64_t i) const { return first_from(i + 1); }
};

struct Resize {
  std::int64_t images = 1, channels = 1;
  ResizeAxis height = {}, width = {};
  PixelGrid in_pixels = PixelGrid(), out_pixels = PixelGrid();
};

template <class T>
struct Upsample {
  Resize r;
  const T* x;
  T* y;

  template <int B>
  HD void block(std::int64_t pixel, std::int64_t first, std::int64_t count) const {
    using C = Compute<T>;
    const Pixel at = r.out_pixels.at(pixel);
    const std::int64_t top = r.height.lower(at.h), left = r.width.lower(at.w);
    const C below = r.height.template upper_share<C>(at.h), right = r.width.template upper_share<C>(at.w);
    C sum[B] = {};
    for (int down = 0; down < 2; ++down)
      for (int along = 0; along < 2; ++along) {
        const C share = (down ? below : 1 - below) * (along ? right : 1 - right);
        if (share == C(0)) continue;  // it may lie outside
        const std::int64_t source = (at.image * r.height.in + top + down) * r.width.in + left + along;
        const auto from = channels_at<B>(x + source * r.channels + first);
        for (std::int64_t c = 0; c < count; ++c) sum[c] += from[c] * share;
      }
    auto&& to = channels_to<B>(y + pixel * r.channels + first);
    for (std::int64_t c = 0; c < count; ++c) to[c] = sum[c];
  }

  static constexpr int kElements = kPack<T>;
  bool can_pack() const { return lethe::can_pack({x, y}); }
};

/// Each input pixel adds up its shares of the outputs that look at it: no two threads write the same element.
template <class T>
struct UpsampleGrad {
  Resize r;
  const T* dy;
  T* dx;

  template <int B>
  HD void block(std::int64_t pixel, std::int64_t first, std::int64_t count) const {
    using C = Compute<T>;
    const Pixel at = r.in_pixels.at(pixel);
    const std::int64_t left = r.width.first_over(at.w), right = r.width.last_over(at.w);
    const std::int64_t top = r.height.first_over(at.h), bottom = r.height.last_over(at.h);
    C sum[B] = {};
    for (std::int64_t h = top; h < bottom; ++h)
      for (std::int64_t w = left; w < right; ++w) {
        const C share = r.height.template share<C>(h, at.h) * r.width.template share<C>(w, at.w);
        if (share == C(0)) continue;  // it does not look here after all
        const std::int64_t source = (at.image * r.height.out + h) * r.width.out + w;
        const auto from = channels_at<B>(dy + source * r.channels + first);
        for (std::int64_t c = 0; c < count; ++c) sum[c] += from[c] * share;
      }
    auto&& to = channels_to<B>(dx + pixel * r.channels + first);
    for (std::int64_t c = 0; c < count; ++c) to[c] = sum[c];
  }

  static constexpr int kElements = kPack<T>;
  bool can_pack() const { return lethe::can_pack({dy, dx}); }
};

const std::vector<std::string> kModes = {"nearest", "bilinear"};

ResizeAxis axis_between(const Attrs& attrs, std::int64_t in, std::int64_t out) {
  const bool linear = attrs.text("mode") == "bilinear";
  checked_mul(checked_mul(2, in, "the size of an image"), out, "the number of places between pixels");
  ResizeAxis a{.in = in, .out = out, .slope = Divisor(in), .unit = Divisor(out), .linear = linear};
  if (linear && attrs.flag("align_corners", false)) {
    const bool spread = in > 1 && out > 1;  // otherwise all look at the first
    a.slope = Divisor(spread ? in - 1 : 1);
    a.unit = Divisor(spread ? out - 1 : out);
  } else if (linear) {
    a.slope = Divisor(2 * in);
    a.unit = Divisor(2 * out);
    a.shift = in - out;
  }
  return a;
}

/// From the input's size to attribute `size`.
Resize resize_of(const Op& op, const Shape& image) {
  const Ints& size = op.attrs.ints("size");
  const std::string& mode = op.attrs.text("mode");
  const auto is_size = [](std::int64_t pixels) { return pixels >= 1 && pixels <= INT32_MAX; };
  check(image.size() == 4, op.type, ": input ", text_of(image), " is no image [N,H,W,C]");
  check(image[1] >= 1 && image[2] >= 1, op.type, ": the image is of ", image[1], " * ", image[2],
        " pixels, expected at least 1 * 1");
  check(size.size() == 2 && is_size(size[0]) && is_size(size[1]), op.type, ": size is ", text_of(size),
        ", expected a height and a width of 1 to ", INT32_MAX);
  check(std::find(kModes.begin(), kModes.end(), mode) != kModes.end(), op.type, ": unknown mode ", quote(mode),
        did_you_mean(mode, kModes), "; known: ", joined(kModes));
  return {.images = image[0],
          .channels = image[3],
          .height = axis_between(op.attrs, image[1], size[0]),
          .width = axis_between(op.attrs, image[2], size[1]),
          .in_pixels = PixelGrid(image[1], image[2]),
          .out_pixels = PixelGrid(size[0], size[1])};
}

/// That which a gradient belongs to; the image was as high and wide as its attributes say.
Resize resize_of_grad(const Op& op, const Shape& dy) {
  check(dy.size() == 4, op.type, ": input ", text_of(dy), " is no image [N,H,W,C]");
  return resize_of(op, {dy[0], op.attrs.integer("height"), op.attrs.integer("width"), dy[3]});
}

struct PrepareUpsample {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const Resize r = resize_of(args.op, args.in(0).shape);
    return for_float(args.in(0).dtype, [&](auto zero) {
      using T = decltype(zero);
      return make_kernel([r](const KernelArgs& a) {
        for_each_pixel(Device{}, a.stream, r.images * r.height.out * r.width.out, r.channels, r.height.linear ? 4 : 1,
                       Upsample<T>{r, a.in<T>(0), a.out<T>(0)});
      });
    });
  }
};

struct PrepareUpsampleGrad {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const Resize r = resize_of_grad(args.op, args.in(0).shape);
    const std::int64_t pixels = r.height.in * r.width.in, work = r.height.out * r.width.out / pixels + 1;
    return for_float(args.in(0).dtype, [&](auto zero) {
      using T = decltype(zero);
      return make_kernel([=](const KernelArgs& a) {
        for_each_pixel(Device{}, a.stream, r.images * pixels, r.channels, work,
                       UpsampleGrad<T>{r, a.in<T>(0), a.out<T>(0)});
      });
    });
  }
};

void upsample_gradient(GradBuilder& g) {
  const Shape& x = g.var(g.x(0)).shape;
  Attrs attrs = g.attrs();
  attrs.set("height", x[1]);
  attrs.set("width", x[2]);
  g.set(0, "upsample_grad", {g.dy()}, attrs);
}

VarId build_upsample(LayerCall& c) {
  const Shape& x = c.image();
  const Attrs& settings = c.settings();
  if (settings.has("scale") == settings.has("size"))
    throw SettingError("scale", "'upsample' takes either 'scale' or 'size'");
  const bool aligned = settings.flag("align_corners");
  if (aligned && settings.text("mode") != "bilinear")
    throw SettingError("align_corners", "'align_corners' is for mode bilinear");
  auto size = c.pair(settings.has("size") ? "size" : "scale");
  if (settings.has("scale"))
    size = {checked_mul(size[0], x[1], "upsample: the height"), checked_mul(size[1], x[2], "upsample: the width")};
  return c.emit("upsample", {c.in()},
                {{"size", Ints{size[0], size[1]}}, {"mode", settings.text("mode")}, {"align_corners", aligned}});
}

const Register upsample{{
    .type = "upsample",
    .inputs = {"x"},
    .outputs = {"y"},
    .infer =
        [](const InferArgs& args) {
          const Resize r = resize_of(args.op, args.in(0).shape);
          return std::vector<Type>{{{r.images, r.height.out, r.width.out, r.channels}, args.in(0).dtype}};
        },
    .grad = upsample_gradient,
    .kernels = each_device<PrepareUpsample>(),
    .layer = {.name = "upsample",
              .aliases = {"Resize", "Upsample"},
              .keys = {{.name = "scale",
                        .type = KeyType::IntPair,
                        .min = 1,
                        .max = kMostPixels,
                        .help = "times as high and wide",
                        .optional = true},
                       {.name = "size",
                        .type = KeyType::IntPair,
                        .min = 1,
                        .max = kMostPixels,
                        .help = "instead of scale",
                        .optional = true},
                       {.name = "mode",
                        .type = KeyType::Choice,
                        .absent = "nearest",
                        .help = "how pixels in between are made",
                        .choices = kModes},
                       {.name = "align_corners",
                        .type = KeyType::Bool,
                        .absent = 0,
                        .help = "of bilinear: the centres of corner pixels stay where they are"}},
              .build = build_upsample,
              .help = "an image in another size"},
}};

const Register upsample_grad{{
    .type = "upsample_grad",
    .inputs = {"dy"},
    .outputs = {"dx"},
    .infer =
        [](const InferArgs& args) {
          const Resize r = resize_of_grad(args.op, args.in(0).shape);
          check(args.in(0).shape[1] == r.height.out && args.in(0).shape[2] == r.width.out, "upsample_grad: dy is ",
                text_of(args.in(0).shape), ", expected [N,", r.height.out, ',', r.width.out, ",C]");
          return std::vector<Type>{{{r.images, r.height.in, r.width.in, r.channels}, args.in(0).dtype}};
        },
    .kernels = each_device<PrepareUpsampleGrad>(),
}};

}  // namespace
}  // namespace lethe
