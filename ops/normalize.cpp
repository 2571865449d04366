// y = (x / 255 - mean) / deviation, by channel: images that were fed as bytes, in the numbers of the network. The
// language itself writes it (framework/builder/byte_images.h).
#include <algorithm>
#include <array>

#include "framework/builder/byte_images.h"
#include "framework/error.h"
#include "framework/language/op_def.h"
#include "kernels/divisor.h"
#include "kernels/dtypes.h"
#include "kernels/packs.h"
#include "kernels/pixel_scale.h"

namespace lethe {
namespace {

using Scales = std::array<PixelScale, kMostNormalized>;

template <class T>
struct NormalizePixels {
  const std::uint8_t* x;
  T* y;
  Divisor channels;
  Scales scales;
  /// Without an index that only a GPU's threads know: each would take local memory for all of them.
  HD PixelScale scale_of(std::int64_t channel) const {
    PixelScale scale = scales[0];
    for (int c = 1; c < kMostNormalized; ++c)
      if (c == channel) scale = scales[c];
    return scale;
  }
  HD void operator()(std::int64_t i) const { y[i] = static_cast<T>(scale_of(channels.remainder(i))(x[i])); }
  template <int V>
  HD void pack(std::int64_t i) const {
    const Pack<std::uint8_t, V> from = load_pack<V>(x + i);
    Pack<T, V> to;
    std::int64_t c = channels.remainder(i);
    for (int k = 0; k < V; ++k) {
      to.at[k] = static_cast<T>(scale_of(c)(from[k]));
      c = c + 1 < channels.by() ? c + 1 : 0;
    }
    store_pack(y + i, to);
  }
  static constexpr int kTogether = std::min(kPack<std::uint8_t>, 2 * kPack<T>);
};

struct NormalizeImages {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const Shape& shape = args.out(0).shape;
    const std::int64_t n = elements(shape);
    const Doubles &mean = args.op.attrs.doubles("mean"), &deviation = args.op.attrs.doubles("deviation");
    Scales scales;
    for (std::size_t c = 0; c < mean.size(); ++c) scales[c] = PixelScale(mean[c], deviation[c]);
    return for_float(args.out(0).dtype, [&](auto zero) {
      using T = decltype(zero);
      return make_kernel([n, channels = Divisor(shape.back()), scales](const KernelArgs& a) {
        const NormalizePixels<T> index{a.in<std::uint8_t>(0), a.out<T>(0), channels, scales};
        for_each_pack<index.kTogether>(Device{}, a.stream, n, can_pack({index.x, index.y}), index);
      });
    });
  }
};

std::vector<Type> infer_normalize(const InferArgs& args) {
  const Var& x = args.in(0);
  const Attrs& attrs = args.op.attrs;
  const DType dtype = dtype_named(attrs.text("dtype"));
  check(x.dtype == DType::u8 && x.shape.size() == 4 && x.shape[3] <= kMostNormalized, "normalize: input is ",
        text_of(x), ", expected u8 [N,H,W,C] of at most ", kMostNormalized, " channels");
  check(is_float(dtype), "normalize: gives floats, not ", name_of(dtype));
  for (const char* key : {"mean", "deviation"})
    check(std::ssize(attrs.doubles(key)) == x.shape[3], "normalize: '", key, "' is ", text_of(attrs.doubles(key)),
          ", input has ", x.shape[3], " channels");
  return {{x.shape, dtype}};
}

const Register normalize{{
    .type = "normalize",
    .inputs = {"x"},
    .outputs = {"y"},
    .infer = infer_normalize,
    .copies = Kind::Input,
    .kernels = each_device<NormalizeImages>(),
}};

}  // namespace
}  // namespace lethe
