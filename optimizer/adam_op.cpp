// Adam (Kingma and Ba, 2015) and AdamW (Loshchilov and Hutter, 2019), as PyTorch has them:
//   m += (1 - beta1) * (g - m);  v = beta2 * v + (1 - beta2) * g^2;  with t the number of this step, from 1:
//   param -= rate / (1 - beta1^t) * m / (sqrt(v) / sqrt(1 - beta2^t) + eps).
// Decay is added to the gradient, or (decoupled) first takes rate * decay of the parameter away.
#include "optimizer/product_update.h"
#include "optimizer/update.h"

namespace lethe {
namespace {

/// What depends on the step alone: worked out once a step, in f64, into the op's workspace.
template <class T>
struct AdamRates {
  T step_size, root, kept, grad_scale;  // root: sqrt(1 - beta2^t); kept: what decoupled decay leaves
};

template <class T>
struct MakeAdamRates {
  double beta1, beta2, decay, rate_scale;  // decay: the decoupled one
  ReadRates<T> read;
  const std::int64_t* steps_done;
  AdamRates<T>* rates;
  HD void operator()(std::int64_t) const {
    const Rates<T> now = read();
    const double rate = now.learning_rate * rate_scale, t = static_cast<double>(*steps_done + 1);
    *rates = {static_cast<T>(rate / (1 - std::pow(beta1, t))), static_cast<T>(std::sqrt(1 - std::pow(beta2, t))),
              static_cast<T>(1 - rate * decay), now.grad_scale};
  }
};

template <class T>
struct Load {
  const AdamRates<T>* rates;
  HD AdamRates<T> operator()() const { return *rates; }
};

/// From learning_rate, step and grad_scale?.
template <class T>
struct MadeRates {
  static constexpr int kInputs = 3;
  static constexpr std::int64_t kWorkspace = sizeof(AdamRates<T>);
  double beta1, beta2, decay, rate_scale;
  bool scaled;
  MadeRates(const Attrs& attrs, bool scaled)
      : beta1(attrs.number("beta1")),
        beta2(attrs.number("beta2")),
        decay(attrs.flag("decoupled", false) ? attrs.number("weight_decay", 0) : 0),
        rate_scale(attrs.number(kRateScale, 1)),
        scaled(scaled) {}
  bool operator==(const MadeRates&) const = default;
  template <class Device>
  Load<T> read(Device device, const KernelArgs& a, int first) const {
    auto* const rates = static_cast<AdamRates<T>*>(a.workspace);
    const ReadRates<T> given{a.in<T>(first), scaled ? a.in<T>(first + 2) : nullptr};
    parallel_for(device, a.stream, 1,
                 MakeAdamRates<T>{beta1, beta2, decay, rate_scale, given, a.in<std::int64_t>(first + 1), rates});
    return {rates};
  }
};

template <class T>
struct AdamRule {
  T rest1, beta2, rest2, eps, decay;
  explicit AdamRule(const Attrs& attrs)
      : rest1(static_cast<T>(1 - attrs.number("beta1"))),
        beta2(static_cast<T>(attrs.number("beta2"))),
        rest2(static_cast<T>(1 - attrs.number("beta2"))),
        eps(static_cast<T>(attrs.number("eps"))),
        decay(static_cast<T>(attrs.flag("decoupled", false) ? 0 : attrs.number("weight_decay", 0))) {}
  HD void operator()(T& param, T& m, T& v, T gradient, const AdamRates<T>& rates) const {
    const T w = param * rates.kept, g = std::fma(w, decay, gradient * rates.grad_scale);
    m = std::fma(rest1, g - m, m);
    v = beta2 * v + rest2 * g * g;
    param = w - rates.step_size * (m / (std::sqrt(v) / rates.root + eps));
  }
};

const OpDef adam{
    .type = "adam",
    .inputs = {"param", "m", "v", "gradient", "learning_rate", "step", "grad_scale?"},
    .outputs = {"param", "m", "v"},
    .infer = infer_update,
    .updates = true,
    .gradient = 3,
    .kernels = each_device<Update<AdamRule, 2, MadeRates>>(),
};
const Register register_adam{adam}, register_matmul_adam{with_product(adam)};

}  // namespace
}  // namespace lethe
