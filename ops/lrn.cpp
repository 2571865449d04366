// Across channels, as in Caffe and Torch: y = x / s^beta with s = k + alpha / size * sum of x^2 over the `size`
// channels around each. The gradient reads x and computes s again: x is there anyway where a relu stands before.
// A CPU thread loops over many channels, so that loops vectorise. A GPU thread has a pack of channels and those on
// either side in registers if the window is the usual; else it has one channel and reads its neighbours for each sum.
#include <cmath>

#include "framework/autodiff/autodiff.h"
#include "framework/builder/layer_call.h"
#include "framework/language/op_def.h"
#include "kernels/channels.h"
#include "kernels/dtypes.h"
#include "kernels/unrolled.h"

namespace lethe {
namespace {

constexpr int kMostSize = 32, kUsualSize = 5;
constexpr double kUsualBeta = 0.75;

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
  HD bool has_usual_power() const { return beta == C(kUsualBeta); }
  bool is_usual() const { return before + 1 + after == kUsualSize && has_usual_power(); }

  /// Calls add(j, c) for each j < count and each channel c in [first + j + from, first + j + to] that exists.
  template <class Add>
  void over_window(std::int64_t first, std::int64_t count, std::int64_t from, std::int64_t to, const Add& add) const {
    for (std::int64_t apart = from; apart <= to; ++apart) {
      const std::int64_t at = first + apart, begin = at < 0 ? -at : 0;
      const std::int64_t end = at + count > channels ? channels - at : count;
      for (std::int64_t j = begin; j < end; ++j) add(j, at + j);
    }
  }
  /// s of `count` channels from `first`, of the pixel whose channels begin at x.
  void scales(const T* x, std::int64_t first, std::int64_t count, C* s) const {
    for (std::int64_t j = 0; j < count; ++j) s[j] = C(0);
    over_window(first, count, -before, after, [=](std::int64_t j, std::int64_t c) { s[j] += x[c] * x[c]; });
    for (std::int64_t j = 0; j < count; ++j) s[j] = k + factor * s[j];
  }
  /// s[j]^-beta into p. The usual 3/4 takes two square roots, a fraction of the time of a power.
  void powers(const C* s, std::int64_t count, C* p) const {
    if (has_usual_power())
      for (std::int64_t j = 0; j < count; ++j) p[j] = 1 / (std::sqrt(s[j]) * std::sqrt(std::sqrt(s[j])));
    else
      for (std::int64_t j = 0; j < count; ++j) p[j] = std::pow(s[j], -beta);
  }
};

/// How many channels a GPU thread takes in packs: as many as two windows reach at least.
template <class T>
inline constexpr int kLrnPack = kPack<T> < kUsualSize - 1 ? kUsualSize - 1 : kPack<T>;

/// The channels of a pixel around B that a GPU thread has, by their distance from the first: 0 where there is none.
template <class T, int B>
struct Nearby {
  static constexpr int before = kUsualSize / 2, after = (kUsualSize - 1) / 2;
  bool has_lower, has_higher;
  Pack<T, B> lower, own, higher;
  HD Nearby(const Lrn<T>& lrn, const T* pixel, std::int64_t first)
      : has_lower(first > 0),
        has_higher(first + B < lrn.channels),
        lower(load_pack<B>(pixel + first - (has_lower ? B : 0))),
        own(load_pack<B>(pixel + first)),
        higher(load_pack<B>(pixel + first + (has_higher ? B : 0))) {}
  HD bool has(int j) const { return j < 0 ? has_lower : j < B || has_higher; }
  HD Compute<T> operator()(int j) const {
    if (j >= 0 && j < B) return own[j];
    return has(j) ? Compute<T>(j < 0 ? lower[B + j] : higher[j - B]) : 0;
  }
};
template <class T>
struct Nearby<T, 1> {
  int before, after;
  std::int64_t lowest, end;
  const T* own;
  HD Nearby(const Lrn<T>& lrn, const T* pixel, std::int64_t first)
      : before(static_cast<int>(lrn.before)),
        after(static_cast<int>(lrn.after)),
        lowest(-first),
        end(lrn.channels - first),
        own(pixel + first) {}
  HD bool has(int j) const { return j >= lowest && j < end; }
  HD Compute<T> operator()(int j) const { return has(j) ? Compute<T>(own[j]) : 0; }
};

/// x^-1/2 and x^1/2, in f32 on a GPU to some 2^-22 of x and by an instruction each, which takes subnormal numbers as 0.
HD inline float inverse_root(float x) {
#ifdef __CUDA_ARCH__
  float y;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return 1 / std::sqrt(x);
#endif
}
HD inline float root(float x) {
#ifdef __CUDA_ARCH__
  float y;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return std::sqrt(x);
#endif
}
HD inline double inverse_root(double x) { return 1 / std::sqrt(x); }
HD inline double root(double x) { return std::sqrt(x); }

/// Of channel j: s^-beta, and 1/s.
template <class C>
struct Scale {
  C power, inverse;
  template <class T, int B>
  HD Scale(const Lrn<T>& lrn, const Nearby<T, B>& x, int j) {
    C squares = x(j - x.before) * x(j - x.before);
    for (int c = j - x.before + 1; c <= j + x.after; ++c) squares += x(c) * x(c);
    const C s = lrn.k + lrn.factor * squares;
    if (B > 1 || lrn.has_usual_power()) {
      const C r = inverse_root(s);
      power = r * root(r);  // s^-1/2 * s^-1/4
      inverse = r * r;
    } else {
      power = std::pow(s, -lrn.beta);
      inverse = 1 / s;
    }
  }
};

template <class T>
struct LrnForward {
  using C = Compute<T>;
  Lrn<T> lrn;
  const T* in;
  T* out;
  template <int B>
  HD void block(std::int64_t pixel, std::int64_t first, std::int64_t count) const {
    const T* const x = in + pixel * lrn.channels;
    auto&& y = channels_to<B>(out + pixel * lrn.channels + first);
    if constexpr (B == kChannelBlock) {
      C s[B], p[B];
      lrn.scales(x, first, count, s);
      lrn.powers(s, count, p);
      for (std::int64_t j = 0; j < count; ++j) y[j] = x[first + j] * p[j];
    } else {
      const Nearby<T, B> near(lrn, x, first);
      unrolled<0, B>([&](int j) { y[j] = near(j) * Scale<C>(lrn, near, j).power; });
    }
  }
  static constexpr int kElements = kLrnPack<T>;
  bool can_pack() const { return lrn.is_usual() && lethe::can_pack({in, out}); }
};

/// dx[c] = dy[c] * s[c]^-beta - 2 * beta * alpha / size * x[c] * sum of dy[d] * x[d] * s[d]^(-beta - 1) over the
/// channels d whose window holds c.
template <class T>
struct LrnBackward {
  using C = Compute<T>;
  Lrn<T> lrn;
  const T *in, *dy;
  T* out;
  template <int B>
  HD void block(std::int64_t pixel, std::int64_t first, std::int64_t count) const {
    const T *const x = in + pixel * lrn.channels, *const g = dy + pixel * lrn.channels;
    auto&& dx = channels_to<B>(out + pixel * lrn.channels + first);
    const C factor = 2 * lrn.beta * lrn.factor;
    C through[B] = {};
    if constexpr (B == kChannelBlock) {
      const std::int64_t low = first < lrn.after ? 0 : first - lrn.after;
      const std::int64_t most = first + count + lrn.before, high = most < lrn.channels ? most : lrn.channels;
      C s[B + kMostSize], p[B + kMostSize];
      lrn.scales(x, low, high - low, s);
      lrn.powers(s, high - low, p);
      for (std::int64_t j = 0; j < high - low; ++j) s[j] = g[low + j] * x[low + j] * p[j] / s[j];
      const C* const t = s;
      C* const sum = through;
      lrn.over_window(first, count, -lrn.after, lrn.before,
                      [=](std::int64_t j, std::int64_t d) { sum[j] += t[d - low]; });
      for (std::int64_t j = 0; j < count; ++j)
        dx[j] = g[first + j] * p[first - low + j] - factor * x[first + j] * through[j];
    } else {
      const Nearby<T, B> near(lrn, x, first), given(lrn, g, first);
      C direct[B];
      const auto add = [&](int d) {
        const Scale<C> s(lrn, near, d);
        const C scaled = given(d) * s.power, t = near.has(d) ? scaled * near(d) * s.inverse : 0;
        if (d >= 0 && d < B) direct[d] = scaled;
        unrolled<0, B>([&](int j) {
          if (j >= d - near.before && j <= d + near.after) through[j] += t;
        });
      };
      if constexpr (B > 1)
        unrolled<-near.after, B + near.before>(add);
      else
        for (int d = -near.after; d <= near.before; ++d) add(d);
      unrolled<0, B>([&](int j) { dx[j] = direct[j] - factor * near(j) * through[j]; });
    }
  }
  static constexpr int kElements = kLrnPack<T>;
  bool can_pack() const { return lrn.is_usual() && lethe::can_pack({in, dy, out}); }
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
