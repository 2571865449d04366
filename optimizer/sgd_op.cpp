// Gradient descent: param -= rate * (gradient + decay * param).
#include "optimizer/product_update.h"
#include "optimizer/update.h"

namespace lethe {
namespace {

template <class T>
struct Sgd {
  T decay;
  explicit Sgd(const Attrs& attrs) : decay(static_cast<T>(attrs.number("weight_decay", 0))) {}
  HD void operator()(T& param, T gradient, const Rates<T>& rates) const {
    const T g = std::fma(param, decay, gradient * rates.grad_scale);
    param = std::fma(g, -rates.learning_rate, param);
  }
};

const OpDef sgd{
    .type = "sgd",
    .inputs = {"param", "gradient", "learning_rate", "grad_scale?", "step?"},
    .outputs = {"param"},
    .infer = infer_update,
    .updates = true,
    .gradient = 1,
    .kernels = each_device<Update<Sgd, 0>>(),
};
const Register register_sgd{sgd}, register_matmul_sgd{with_product(sgd)};

}  // namespace
}  // namespace lethe
