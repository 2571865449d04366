// Binary cross entropy on logits: loss[n] = mean over the other axes of max(x, 0) - x * t + log(1 + exp(-|x|)), which
// is -t log s(x) - (1 - t) log(1 - s(x)) for the sigmoid s without its overflow.
#include <cmath>

#include "framework/autodiff/autodiff.h"
#include "kernels/reduce/loss.h"

namespace lethe {
namespace {

struct BinaryCrossEntropy {
  template <class T>
  HD static T value(T x, T t) {
    return (x < T(0) ? T(0) : x) - x * t + std::log1p(std::exp(-std::abs(x)));
  }
  template <class T>
  HD static T slope(T x, T t) {
    return 1 / (1 + std::exp(-x)) - t;
  }
};

/// By the target: -x.
struct ByTarget {
  template <class T>
  HD static T slope(T x, T) {
    return -x;
  }
};

const Register sigmoid_cross_entropy{{
    .type = "sigmoid_cross_entropy",
    .inputs = {"x", "target"},
    .outputs = {"loss"},
    .infer = infer_mean_loss,
    .grad =
        [](GradBuilder& g) {
          g.set(0, "sigmoid_cross_entropy_grad", {g.x(0), g.x(1), g.dy()});
          g.set(1, "sigmoid_cross_entropy_target_grad", {g.x(0), g.x(1), g.dy()});
        },
    .kernels = each_device<MeanLoss<BinaryCrossEntropy>>(),
}};

const Register sigmoid_cross_entropy_grad{mean_loss_grad<BinaryCrossEntropy>("sigmoid_cross_entropy_grad")};
const Register sigmoid_cross_entropy_target_grad{mean_loss_grad<ByTarget>("sigmoid_cross_entropy_target_grad")};

}  // namespace
}  // namespace lethe
