// Gradient descent with momentum (Sutskever et al., "On the importance of initialization and momentum in deep
// learning", 2013, as PyTorch has it): v = mu * v + g; param -= rate * v, with Nesterov's step rate * (g + mu * v).
#include "optimizer/product_update.h"
#include "optimizer/update.h"

namespace lethe {
namespace {

template <class T>
struct Momentum {
  T momentum, decay;
  bool nesterov;
  explicit Momentum(const Attrs& attrs)
      : momentum(static_cast<T>(attrs.number("momentum"))),
        decay(static_cast<T>(attrs.number("weight_decay", 0))),
        nesterov(attrs.flag("nesterov", false)) {}
  HD void operator()(T& param, T& velocity, T gradient, const Rates<T>& rates) const {
    const T g = std::fma(param, decay, gradient * rates.grad_scale);
    const T v = momentum * velocity + g;
    velocity = v;
    param = std::fma(nesterov ? std::fma(v, momentum, g) : v, -rates.learning_rate, param);
  }
};

const OpDef momentum{
    .type = "momentum",
    .inputs = {"param", "momentum", "gradient", "learning_rate", "grad_scale?", "step?"},
    .outputs = {"param", "momentum"},
    .infer = infer_update,
    .updates = true,
    .gradient = 2,
    .kernels = each_device<Update<Momentum, 1>>(),
};
const Register register_momentum{momentum}, register_matmul_momentum{with_product(momentum)};

}  // namespace
}  // namespace lethe
