// loss[n] = -logp[n, label[n]] for each row n of the log-probabilities [.., C]. A negative label says that the row does
// not count: its loss and gradient are 0. Any other that names no class gives NaN, in the gradient too, which reads
// labels alone.
#include <limits>

#include "framework/autodiff/autodiff.h"
#include "kernels/dtypes.h"
#include "kernels/reduce/labels.h"
#include "kernels/reduce/rows.h"

namespace lethe {
namespace {

template <class T>
struct Pick {
  std::int64_t classes;
  const T* logp;
  const std::int32_t* label;
  Compute<T>* loss;
  HD void operator()(std::int64_t n) const {
    const std::int32_t right = label[n];
    const bool known = right >= 0 && right < classes;
    using C = Compute<T>;
    loss[n] = known ? -compute(logp[n * classes + right]) : right < 0 ? C(0) : std::numeric_limits<C>::quiet_NaN();
  }
};

template <class T>
struct PickGradRow {
  std::int64_t classes;
  const std::int32_t* label;
  const Compute<T>* dloss;
  T* dlogp;
  template <class Team>
  HD void operator()(const Team& team, std::int64_t row) const {
    T* const to = dlogp + row * classes;
    const std::int32_t right = label[row];
    using C = Compute<T>;
    const T elsewhere = right < classes ? C(0) : std::numeric_limits<C>::quiet_NaN(), here = -dloss[row];
    team.each(classes, [=](std::int64_t c) { to[c] = c == right ? here : elsewhere; });
  }
};

struct NllLoss {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const std::int64_t rows = elements(args.in(1).shape), classes = args.in(0).shape.back();
    return for_float(args.in(0).dtype, [&](auto zero) {
      using T = decltype(zero);
      return make_kernel([=](const KernelArgs& a) {
        parallel_for(Device{}, a.stream, rows,
                     Pick<T>{classes, a.in<T>(0), a.in<std::int32_t>(1), a.out<Compute<T>>(0)});
      });
    });
  }
};

struct NllLossGrad {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const std::int64_t rows = elements(args.in(0).shape), classes = args.out(0).shape.back();
    return for_float(args.out(0).dtype, [&](auto zero) {
      using T = decltype(zero);
      return make_kernel([=](const KernelArgs& a) {
        for_each_row(Device{}, a.stream, rows, classes,
                     PickGradRow<T>{classes, a.in<std::int32_t>(0), a.in<Compute<T>>(1), a.out<T>(0)});
      });
    });
  }
};

const Register nll_loss{{
    .type = "nll_loss",
    .inputs = {"logp", "label"},
    .outputs = {"loss"},
    .infer =
        [](const InferArgs& args) {
          return std::vector<Type>{{labels_of(args), wide_of(args.in(0).dtype)}};
        },
    .grad =
        [](GradBuilder& g) {
          const Var logp = g.var(g.x(0));
          g.set(0, "nll_loss_grad", {g.x(1), g.dy()},
                {{"classes", logp.shape.back()}, {"dtype", std::string(name_of(logp.dtype))}});
        },
    .kernels = each_device<NllLoss>(),
}};

const Register nll_loss_grad{{
    .type = "nll_loss_grad",
    .inputs = {"label", "dloss"},
    .outputs = {"dlogp"},
    .infer =
        [](const InferArgs& args) {
          Shape shape = args.in(0).shape;
          shape.push_back(args.op.attrs.integer("classes"));
          const DType dtype = dtype_named(args.op.attrs.text("dtype"));
          check(args.in(1).dtype == wide_of(dtype), "nll_loss_grad: dloss is ", text_of(args.in(1)), ", expected ",
                name_of(wide_of(dtype)));
          return std::vector<Type>{{shape, dtype}};
        },
    .kernels = each_device<NllLossGrad>(),
}};

}  // namespace
}  // namespace lethe
