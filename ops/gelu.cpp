// y = gelu(x), exact or with `approximate` "tanh" (kernels/gelu.h).
#include "kernels/gelu.h"

#include "framework/autodiff/autodiff.h"
#include "framework/builder/layer_call.h"
#include "framework/language/op_attrs.h"
#include "framework/language/op_def.h"
#include "kernels/gemm/gemm.h"
#include "kernels/map.h"

namespace lethe {
namespace {

bool is_approximate(const Attrs& attrs) {
  if (!attrs.has("approximate")) return false;
  const std::string& how = attrs.text("approximate");
  check(how == "none" || how == "tanh", "gelu: approximate is ", quote(how), ", expected none or tanh");
  return how == "tanh";
}

std::vector<Type> infer_gelu(const InferArgs& args) {
  is_approximate(args.op.attrs);
  return same_as_first(args);
}

template <class Exact, class Approximate, int N>
struct GeluKernels {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    return is_approximate(args.op.attrs) ? Map<Approximate, N, Floats, Rows::Pitched>::template prepare<Device>(args)
                                         : Map<Exact, N, Floats, Rows::Pitched>::template prepare<Device>(args);
  }
};

VarId build_gelu(LayerCall& c) {
  const std::string& how = c.settings().text("approximate");
  return c.emit("gelu", {c.in()}, how == "none" ? Attrs{} : Attrs{{"approximate", how}});
}

const Register gelu{{
    .type = "gelu",
    .inputs = {"x"},
    .outputs = {"y"},
    .infer = infer_gelu,
    .grad =
        [](GradBuilder& g) {
          g.set(0, "gelu_grad", {g.x(0), g.dy()}, g.attrs());
        },
    .inplace = {{.in = 0, .out = 0}},
    .pitched = true,
    .along = Along::Elements,
    .kernels = each_device<GeluKernels<Gelu, TanhGelu, 1>>(),
    .layer = {.name = "gelu",
              .aliases = {"Gelu"},
              .keys = {{.name = "approximate",
                        .type = KeyType::Choice,
                        .absent = "none",
                        .help = "none: exact, with erf; tanh: as GPT-2",
                        .choices = {"none", "tanh"}}},
              .build = build_gelu,
              .help = "x times the normal distribution function at x"},
}};

/// A product that makes dy, and of it dx.
std::vector<Op> into_product(const Program& program, const Op& product, const Op& gradient) {
  const Var &a = program.vars[product.in[0]], &b = program.vars[product.in[1]];
  if (product.type != "matmul" || a.shape.size() != 2 || a.dtype != b.dtype || product.attrs.has(kSumsOfA) ||
      product.attrs.has(kWideOutput) || !is_approximate(gradient.attrs) || !gives_gradients_on_the_way(a.dtype) ||
      b.shape[product.attrs.flag("transpose_b", false) ? 0 : 1] % 8 != 0)
    return {};  // cuBLASLt takes rows of x of whole packs
  Op both = product;
  both.attrs.set(kGeluGrad, true);
  both.in.push_back(gradient.in[0]);
  return {both};
}

const Register gelu_grad{{
    .type = "gelu_grad",
    .inputs = {"x", "dy"},
    .outputs = {"dx"},
    .infer = same_as_second,
    .inplace = {{.in = 0, .out = 0}, {.in = 1, .out = 0}},
    .pitched = true,
    .fusions = {{.fusion = Fusion::Derivative, .input = 1, .fused = into_product}},
    .kernels = each_device<GeluKernels<GeluGrad, TanhGeluGrad, 2>>(),
}};

}  // namespace
}  // namespace lethe
