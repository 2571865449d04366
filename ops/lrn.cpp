// Across channels, as in Caffe and Torch: y = x / s^beta with s = k + alpha / size * sum of x^2 over the `size`
// channels around each. The gradient reads x and computes s again: x is there anyway where a relu stands before.
#include <cmath>

#include "framework/autodiff.h"
#include "framework/op_def.h"
#include "kernels/dtypes.h"
#include "kernels/pool_pixels.h"

namespace lethe {
namespace {

constexpr std::int64_t kMostSize = 32;

template <class T>
struct Lrn {
  using C = Compute<T>;
  std::int64_t channels, before, after;  // the window of channel c is [c - before, c + after]
  C factor, beta, k;                     // factor = alpha / size
  explicit Lrn(const Attrs& attrs, std::int64_t channels)
      : channels(channels),
        before(attrs.integer("size") / 2),
        after((attrs.integer("size") - 1) / 2),
        factor(static_cast<C>(attrs.number("alpha") / static_cast<double>(attrs.integer("size")))),
        beta(static_cast<C>(attrs.number("beta"))),
        k(static_cast<C>(attrs.number("k"))) {}

  /// Calls add(j, c) for each j < count and each channel c in [first + j + from, first + j + to] that exists.
  template <class Add>
  HD void over_window(std::int64_t first, std::int64_t count, std::int64_t from, std::int64_t to,
                      const Add& add) const {
    for (std::int64_t apart = from; apart <= to; ++apart) {
      const std::int64_t at = first + apart, begin = at < 0 ? -at : 0;
      const std::int64_t end = at + count > channels ? channels - at : count;
      for (std::int64_t j = begin; j < end; ++j) add(j, at + j);
    }
  }
  /// s of `count` channels from `first`, of the pixel whose channels begin at x.
  HD void scales(const T* x, std::int64_t first, std::int64_t count, C* s) const {
    for (std::int64_t j = 0; j < count; ++j) s[j] = C(0);
    over_window(first, count, -before, after, [=](std::int64_t j, std::int64_t c) { s[j] += x[c] * x[c]; });
    for (std::int64_t j = 0; j < count; ++j) s[j] = k + factor * s[j];
  }
  /// s[j]^-beta into p. The usual 3/4 takes two square roots, a fraction of the time of a power.
  HD void powers(const C* s, std::int64_t count, C* p) const {
    if (beta == C(0.75))
      for (std::int64_t j = 0; j < count; ++j) p[j] = 1 / (std::sqrt(s[j]) * std::sqrt(std::sqrt(s[j])));
    else
      for (std::int64_t j = 0; j < count; ++j) p[j] = std::pow(s[j], -beta);
  }
};

template <class T>
struct LrnForward {
  Lrn<T> lrn;
  const T* in;
  T* out;
  template <int B>
  HD void block(std::int64_t pixel, std::int64_t first, std::int64_t count) const {
    const T* const x = in + pixel * lrn.channels;
    T* const y = out + pixel * lrn.channels + first;
    Compute<T> s[B], p[B];
    lrn.scales(x, first, count, s);
    lrn.powers(s, count, p);
    for (std::int64_t j = 0; j < count; ++j) y[j] = x[first + j] * p[j];
  }
};

/// dx[c] = dy[c] * s[c]^-beta - 2 * beta * alpha / size * x[c] * sum of dy[d] * x[d] * s[d]^(-beta - 1) over the
/// channels d whose window holds c.
template <class T>
struct LrnBackward {
  Lrn<T> lrn;
  const T *in, *dy;
  T* out;
  template <int B>
  HD void block(std::int64_t pixel, std::int64_t first, std::int64_t count) const {
    const T *const x = in + pixel * lrn.channels, *const g = dy + pixel * lrn.channels;
    T* const dx = out + pixel * lrn.channels + first;
    const std::int64_t low = first < lrn.after ? 0 : first - lrn.after;
    const std::int64_t most = first + count + lrn.before, high = most < lrn.channels ? most : lrn.channels;
    Compute<T> s[B + kMostSize], p[B + kMostSize], through[B] = {};
    lrn.scales(x, low, high - low, s);
    lrn.powers(s, high - low, p);
    for (std::int64_t j = 0; j < high - low; ++j) s[j] = g[low + j] * x[low + j] * p[j] / s[j];
    const Compute<T>* const t = s;
    Compute<T>* const sum = through;
    lrn.over_window(first, count, -lrn.after, lrn.before,
                    [=](std::int64_t j, std::int64_t d) { sum[j] += t[d - low]; });
    const Compute<T> factor = 2 * lrn.beta * lrn.factor;
    for (std::int64_t j = 0; j < count; ++j)
      dx[j] = g[first + j] * p[first - low + j] - factor * x[first + j] * through[j];
  }
};

template <template <class> class Pass, int N>
struct PrepareLrn {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const Shape& shape = args.in(0).shape;
    const std::int64_t channels = shape.back(), pixels = elements(shape) / channels;
    return for_float(args.in(0).dtype, [&](auto zero) {
      using T = decltype(zero);
      return make_kernel([=, lrn = Lrn<T>(args.op.attrs, channels)](const KernelArgs& a) {
        const auto pass = [&] {
          if constexpr (N == 1)
            return Pass<T>{lrn, a.in<T>(0), a.out<T>(0)};
          else
            return Pass<T>{lrn, a.in<T>(0), a.in<T>(1), a.out<T>(0)};
        }();
        for_each_pixel(Device{}, a.stream, pixels, channels, 1 + lrn.before + lrn.after, pass);
      });
    });
  }
};

std::vector<Type> infer_lrn(const InferArgs& args) {
  const std::int64_t size = args.op.attrs.integer("size");
  check(!args.in(0).shape.empty(), "lrn: the input is a scalar");
  check(size >= 1 && size <= kMostSize, "lrn: size is ", size, ", expected 1 to ", kMostSize);
  return same_as_first(args);
}

const Register lrn{{
    .type = "lrn",
    .inputs = {"x"},
    .outputs = {"y"},
    .infer = infer_lrn,
    .grad =
        [](GradBuilder& g) {
          g.set(0, "lrn_grad", {g.x(0), g.dy()}, g.attrs());
        },
    .kernels = each_device<PrepareLrn<LrnForward, 1>>(),
    .layer = {.name = "lrn",
              .aliases = {"LRN"},
              .keys = {{.name = "size",
                        .type = KeyType::Int,
                        .absent = 5,
                        .min = 1,
                        .max = kMostSize,
                        .help = "channels in a window"},
                       {.name = "alpha", .type = KeyType::Number, .absent = 1e-4, .help = "weight of the mean square"},
                       {.name = "beta", .type = KeyType::Number, .absent = 0.75, .help = "exponent"},
                       {.name = "k", .type = KeyType::Number, .absent = 1.0, .help = "added to it"}},
              .build = [](LayerCall& c) { return c.emit("lrn", {c.in()}, c.settings()); },
              .help = "divide by the strength of neighbouring channels"},
}};

const Register lrn_grad{{
    .type = "lrn_grad",
    .inputs = {"x", "dy"},
    .outputs = {"dx"},
    .infer = same_as_first,
    .kernels = each_device<PrepareLrn<LrnBackward, 2>>(),
}};

}  // namespace
}  // namespace lethe
