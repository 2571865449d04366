// y[0, t, 2k] = sin(a), y[0, t, 2k + 1] = cos(a) for the angle a = t * base^(-2k / width): positions that nobody
// learns, one row, which broadcasts over the batch (Vaswani et al., 2017).
#include <cmath>

#include "framework/builder/layer_call.h"
#include "framework/language/op_def.h"
#include "kernels/dtypes.h"
#include "kernels/each_device.h"
#include "kernels/positions.h"

namespace lethe {
namespace {

template <class T>
struct SinusoidIndex {
  PositionAngles angles;
  T* y;
  HD void operator()(std::int64_t i) const {
    const std::int64_t t = i / angles.width, c = i - t * angles.width;
    const double angle = angles(t, c / 2);
    y[i] = static_cast<T>(c % 2 == 0 ? std::sin(angle) : std::cos(angle));
  }
};

struct SinusoidalPositions {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const Shape& shape = args.out(0).shape;
    const PositionAngles angles(args.op.attrs.number("base"), shape[2]);
    return for_float(args.out(0).dtype, [&](auto zero) {
      using T = decltype(zero);
      return make_kernel([n = elements(shape), angles](const KernelArgs& a) {
        parallel_for(Device{}, a.stream, n, SinusoidIndex<T>{angles, a.out<T>(0)}, kElementGrain / 16);
      });
    });
  }
};

std::vector<Type> infer_sinusoidal_positions(const InferArgs& args) {
  const Attrs& attrs = args.op.attrs;
  const std::int64_t length = attrs.integer("length"), width = attrs.integer("width");
  check(length >= 1 && width >= 1, "sinusoidal_positions: length is ", length, " and width ", width,
        ", expected at least 1");
  check(attrs.number("base") > 0, "sinusoidal_positions: base is ", attrs.number("base"), ", expected above 0");
  const DType dtype = dtype_named(attrs.text("dtype"));
  check(is_float(dtype), "sinusoidal_positions: gives floats, not ", name_of(dtype));
  return {{{1, length, width}, dtype}};
}

VarId build_sinusoidal_positions(LayerCall& c) {
  const Shape& x = c.shape();
  check(x.size() == 3, "sinusoidal_positions: input is ", text_of(x), ", expected sequences [N,T,C]");
  return c.emit("sinusoidal_positions", {},
                {{"length", x[1]},
                 {"width", x[2]},
                 {"base", c.settings().number("base")},
                 {"dtype", std::string(name_of(c.dtype()))}});
}

const Register sinusoidal_positions{{
    .type = "sinusoidal_positions",
    .outputs = {"y"},
    .infer = infer_sinusoidal_positions,
    .kernels = each_device<SinusoidalPositions>(),
    .layer = {.name = "sinusoidal_positions",
              .keys = {{.name = "base",
                        .type = KeyType::Number,
                        .absent = 10000.0,
                        .min = 1,
                        .help = "of the wavelengths, 2 pi to 2 pi base"}},
              .build = build_sinusoidal_positions,
              .help = "sines and cosines of the positions of a sequence [T, C], for add: nothing is learned"},
}};

}  // namespace
}  // namespace lethe
