// loss[n] = mean over the other axes of (x - target)^2.
#include "framework/autodiff/autodiff.h"
#include "kernels/reduce/loss.h"

namespace lethe {
namespace {

struct SquaredError {
  template <class T>
  HD static T value(T x, T t) {
    return (x - t) * (x - t);
  }
  template <class T>
  HD static T slope(T x, T t) {
    return 2 * (x - t);
  }
};

const Register mse_loss{{
    .type = "mse_loss",
    .inputs = {"x", "target"},
    .outputs = {"loss"},
    .infer = infer_mean_loss,
    .grad =
        [](GradBuilder& g) {
          g.set(0, "mse_loss_grad", {g.x(0), g.x(1), g.dy()});
          g.set(1, "mse_loss_grad", {g.x(1), g.x(0), g.dy()});  // the loss is symmetric
        },
    .kernels = each_device<MeanLoss<SquaredError>>(),
}};

const Register mse_loss_grad{mean_loss_grad<SquaredError>("mse_loss_grad")};

}  // namespace
}  // namespace lethe
