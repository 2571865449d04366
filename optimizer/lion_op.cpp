// Lion (Chen et al., "Symbolic Discovery of Optimization Algorithms", 2023), as timm has it:
//   c = beta1 * m + (1 - beta1) * g;  m = beta2 * m + (1 - beta2) * g;
//   param -= rate * (sign(c) + decay * param), with the parameter before the step.
#include "optimizer/product_update.h"
#include "optimizer/update.h"

namespace lethe {
namespace {

template <class T>
struct Lion {
  T rest1, rest2, decay;
  explicit Lion(const Attrs& attrs)
      : rest1(static_cast<T>(1 - attrs.number("beta1"))),
        rest2(static_cast<T>(1 - attrs.number("beta2"))),
        decay(static_cast<T>(attrs.number("weight_decay", 0))) {}
  HD void operator()(T& param, T& m, T gradient, const Rates<T>& rates) const {
    const T g = gradient * rates.grad_scale, c = std::fma(rest1, g - m, m);
    const T sign = c > 0 ? T(1) : c < 0 ? T(-1) : c;  // of NaN: NaN
    m = std::fma(rest2, g - m, m);
    param = std::fma(std::fma(param, decay, sign), -rates.learning_rate, param);
  }
};

const OpDef lion{
    .type = "lion",
    .inputs = {"param", "m", "gradient", "learning_rate", "grad_scale?", "step?"},
    .outputs = {"param", "m"},
    .infer = infer_update,
    .updates = true,
    .gradient = 2,
    .kernels = each_device<Update<Lion, 1>>(),
};
const Register register_lion{lion}, register_matmul_lion{with_product(lion)};

}  // namespace
}  // namespace lethe
