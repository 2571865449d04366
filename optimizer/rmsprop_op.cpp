// RMSProp (Tieleman and Hinton, 2012, as PyTorch has it): s = alpha * s + (1 - alpha) * g^2; param -= rate * g /
// (sqrt(s) + eps); with momentum: v = mu * v + g / (sqrt(s) + eps); param -= rate * v.
#include "optimizer/product_update.h"
#include "optimizer/update.h"

namespace lethe {
namespace {

template <class T>
struct RmsProp {
  T alpha, rest, eps, decay;
  explicit RmsProp(const Attrs& attrs)
      : alpha(static_cast<T>(attrs.number("alpha"))),
        rest(static_cast<T>(1 - attrs.number("alpha"))),
        eps(static_cast<T>(attrs.number("eps"))),
        decay(static_cast<T>(attrs.number("weight_decay", 0))) {}
  /// The gradient over its root mean square, which this step changes.
  HD T scaled(T param, T& square, T gradient, const Rates<T>& rates) const {
    const T g = std::fma(param, decay, gradient * rates.grad_scale);
    square = alpha * square + rest * g * g;
    return g / (std::sqrt(square) + eps);
  }
  HD void operator()(T& param, T& square, T gradient, const Rates<T>& rates) const {
    param -= rates.learning_rate * scaled(param, square, gradient, rates);
  }
};

template <class T>
struct RmsPropMomentum {
  RmsProp<T> rms;
  T momentum;
  explicit RmsPropMomentum(const Attrs& attrs) : rms(attrs), momentum(static_cast<T>(attrs.number("momentum"))) {}
  HD void operator()(T& param, T& square, T& velocity, T gradient, const Rates<T>& rates) const {
    velocity = momentum * velocity + rms.scaled(param, square, gradient, rates);
    param = std::fma(velocity, -rates.learning_rate, param);
  }
};

const OpDef rmsprop{
    .type = "rmsprop",
    .inputs = {"param", "square", "gradient", "learning_rate", "grad_scale?", "step?"},
    .outputs = {"param", "square"},
    .infer = infer_update,
    .updates = true,
    .gradient = 2,
    .kernels = each_device<Update<RmsProp, 1>>(),
};
const Register register_rmsprop{rmsprop}, register_matmul_rmsprop{with_product(rmsprop)};

const OpDef rmsprop_momentum{
    .type = "rmsprop_momentum",
    .inputs = {"param", "square", "momentum", "gradient", "learning_rate", "grad_scale?", "step?"},
    .outputs = {"param", "square", "momentum"},
    .infer = infer_update,
    .updates = true,
    .gradient = 3,
    .kernels = each_device<Update<RmsPropMomentum, 2>>(),
};
const Register register_rmsprop_momentum{rmsprop_momentum},
    register_matmul_rmsprop_momentum{with_product(rmsprop_momentum)};

}  // namespace
}  // namespace lethe
