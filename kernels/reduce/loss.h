// Losses of two tensors of one shape, sample by sample: loss[n] = mean over the other axes of f(x, t). F has
// `value(x, t)` and `slope(x, t)`, the derivative by x, and is made of the op's attributes where it has `of(attrs)`.
#pragma once
#include "kernels/dtypes.h"
#include "kernels/reduce/rows.h"

namespace lethe {

template <class F, class T>
struct MeanLossRow {
  std::int64_t length;
  const T *in, *target;
  Compute<T>* loss;
  F f;
  template <class Team>
  HD void operator()(const Team& team, std::int64_t row) const {
    const T *const x = in + row * length, *const t = target + row * length;
    const double total = team.sum(length, [=, f = f](std::int64_t i) { return f.value(compute(x[i]), compute(t[i])); });
    if (team.leads()) loss[row] = static_cast<Compute<T>>(total / static_cast<double>(length));
  }
};

template <class F, class T>
struct MeanLossGradRow {
  std::int64_t length;
  const T *in, *target;
  const Compute<T>* dloss;
  T* dx;
  F f;
  template <class Team>
  HD void operator()(const Team& team, std::int64_t row) const {
    const T *const x = in + row * length, *const t = target + row * length;
    T* const to = dx + row * length;
    const Compute<T> factor = dloss[row] / static_cast<Compute<T>>(length);
    team.each(length, [=, f = f](std::int64_t i) { to[i] = f.slope(compute(x[i]), compute(t[i])) * factor; });
  }
};

template <class F>
F loss_made_of(const Attrs& attrs) {
  if constexpr (requires { F::of(attrs); }) return F::of(attrs);
  return {};
}

template <class F>
struct MeanLoss {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const std::int64_t rows = args.in(0).shape[0], length = elements(args.in(0).shape) / rows;
    const F f = loss_made_of<F>(args.op.attrs);
    return for_float(args.in(0).dtype, [&](auto zero) {
      using T = decltype(zero);
      return make_kernel([=](const KernelArgs& a) {
        for_each_row(Device{}, a.stream, rows, length,
                     MeanLossRow<F, T>{length, a.in<T>(0), a.in<T>(1), a.out<Compute<T>>(0), f});
      });
    });
  }
};

template <class F>
struct MeanLossGrad {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const std::int64_t rows = args.in(0).shape[0], length = elements(args.in(0).shape) / rows;
    const F f = loss_made_of<F>(args.op.attrs);
    return for_float(args.in(0).dtype, [&](auto zero) {
      using T = decltype(zero);
      return make_kernel([=](const KernelArgs& a) {
        for_each_row(Device{}, a.stream, rows, length,
                     MeanLossGradRow<F, T>{length, a.in<T>(0), a.in<T>(1), a.in<Compute<T>>(2), a.out<T>(0), f});
      });
    });
  }
};

/// Shape rule: input and target alike, one loss a sample.
inline std::vector<Type> infer_mean_loss(const InferArgs& args) {
  const Var &x = args.in(0), &t = args.in(1);
  check(!x.shape.empty() && x.shape == t.shape && x.dtype == t.dtype, args.op.type, ": input is ", text_of(x),
        ", target is ", text_of(t));
  return {{{x.shape[0]}, wide_of(x.dtype)}};
}

/// The gradient op of such a loss; `type` ends in "_grad".
template <class F>
OpDef mean_loss_grad(const char* type) {
  return {.type = type,
          .inputs = {"x", "target", "dloss"},
          .outputs = {"dx"},
          .infer =
              [](const InferArgs& args) {
                check_input(args, 2, infer_mean_loss(args).front());
                return same_as_first(args);
              },
          .inplace = {{.in = 0, .out = 0}, {.in = 1, .out = 0}},
          .kernels = each_device<MeanLossGrad<F>>()};
}

}  // namespace lethe
