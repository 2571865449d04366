// loss[n] = mean over the other axes of |x - target|; the gradient at 0 is 0.
#include "framework/autodiff/autodiff.h"
#include "kernels/reduce/loss.h"

namespace lethe {
namespace {

struct AbsoluteError {
  template <class T>
  HD static T value(T x, T t) {
    return x < t ? t - x : x - t;
  }
  template <class T>
  HD static T slope(T x, T t) {
    return static_cast<T>((x > t) - (x < t));
  }
};

const Register l1_loss{{
    .type = "l1_loss",
    .inputs = {"x", "target"},
    .outputs = {"loss"},
    .infer = infer_mean_loss,
    .grad =
        [](GradBuilder& g) {
          g.set(0, "l1_loss_grad", {g.x(0), g.x(1), g.dy()});
          g.set(1, "l1_loss_grad", {g.x(1), g.x(0), g.dy()});  // the loss is symmetric
        },
    .kernels = each_device<MeanLoss<AbsoluteError>>(),
}};

const Register l1_loss_grad{mean_loss_grad<AbsoluteError>("l1_loss_grad")};

}  // namespace
}  // namespace lethe
