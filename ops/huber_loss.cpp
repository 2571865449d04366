// loss[n] = mean over the other axes of d^2 / 2 where d = |x - target| is at most delta, else delta (d - delta / 2), as
// PyTorch's HuberLoss (Huber, "Robust estimation of a location parameter", 1964).
#include "framework/autodiff/autodiff.h"
#include "kernels/reduce/loss.h"

namespace lethe {
namespace {

struct HuberError {
  double delta;
  static HuberError of(const Attrs& attrs) { return {attrs.number("delta")}; }
  template <class T>
  HD T value(T x, T t) const {
    const T d = x < t ? t - x : x - t, most = static_cast<T>(delta);
    return d > most ? most * (d - most / 2) : d * d / 2;
  }
  template <class T>
  HD T slope(T x, T t) const {
    const T d = x - t, most = static_cast<T>(delta);
    return d > most ? most : d < -most ? -most : d;
  }
};

std::vector<Type> infer_huber(const InferArgs& args) {
  const double delta = args.op.attrs.number("delta");
  check(delta > 0, "huber_loss: delta is ", delta, ", expected more than 0");
  return infer_mean_loss(args);
}

const Register huber_loss{{
    .type = "huber_loss",
    .inputs = {"x", "target"},
    .outputs = {"loss"},
    .infer = infer_huber,
    .grad =
        [](GradBuilder& g) {
          const Attrs same{{"delta", g.attrs().number("delta")}};
          g.set(0, "huber_loss_grad", {g.x(0), g.x(1), g.dy()}, same);
          g.set(1, "huber_loss_grad", {g.x(1), g.x(0), g.dy()}, same);  // the loss is symmetric
        },
    .kernels = each_device<MeanLoss<HuberError>>(),
}};

const Register huber_loss_grad{mean_loss_grad<HuberError>("huber_loss_grad")};

}  // namespace
}  // namespace lethe
