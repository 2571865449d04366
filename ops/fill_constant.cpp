// y = `value` in every element of `shape`. As a layer: a scalar, or a `shape` for each sample, of the input's dtype.
#include "framework/builder/layer_call.h"
#include "framework/error.h"
#include "framework/language/op_def.h"
#include "kernels/dtypes.h"
#include "kernels/each_device.h"

namespace lethe {
namespace {

template <class T>
struct FillIndex {
  T* y;
  T value;
  HD void operator()(std::int64_t i) const { y[i] = value; }
};

struct FillConstant {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const std::int64_t n = elements(args.out(0).shape);
    return for_number(args.out(0).dtype, [&](auto zero) {
      using T = decltype(zero);
      return make_kernel([n, value = static_cast<T>(args.op.attrs.number("value"))](const KernelArgs& a) {
        parallel_for(Device{}, a.stream, n, FillIndex<T>{a.out<T>(0), value});
      });
    });
  }
};

std::vector<Type> infer_fill_constant(const InferArgs& args) {
  const Attrs& attrs = args.op.attrs;
  return {{attrs.ints("shape"), dtype_named(attrs.text("dtype"))}};
}

VarId build_constant(LayerCall& c) {
  Shape shape = c.settings().ints("shape", {});
  const Layout layout = c.layout_of(shape);
  if (c.settings().has("shape")) shape.insert(shape.begin(), c.batch());
  const std::string dtype(name_of(c.var(c.in()).dtype));
  const Attrs attrs{{"shape", memory_shape(shape, layout)}, {"dtype", dtype}, {"value", c.settings().number("value")}};
  return c.lay_out(c.emit("fill_constant", {}, attrs), layout);
}

const Register fill_constant{{
    .type = "fill_constant",
    .outputs = {"y"},
    .infer = infer_fill_constant,
    .kernels = each_device<FillConstant>(),
    .layer = {.name = "constant",
              .aliases = {"Constant"},
              .keys = {{.name = "value", .type = KeyType::Number, .help = "of every element"},
                       {.name = "shape",
                        .type = KeyType::IntList,
                        .min = 1,
                        .help = "of a sample, images [C, H, W]; without it a scalar",
                        .optional = true},
                       layout_key()},
              .build = build_constant,
              .help = "a number everywhere, of the dtype of the input"},
}};

}  // namespace
}  // namespace lethe
