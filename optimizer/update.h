// What the update ops share: an update is a rule for one element, run in place over a parameter and its states.
// Slots: param, states..., gradient, learning_rate, (step,) grad_scale?; the outputs are the first 1 + states of them.
#pragma once
#include <cmath>
#include <vector>

#include "framework/op_def.h"
#include "kernels/each_device.h"

namespace lethe {

/// What a rule reads beside its element. A grad_scale of 0 skips the step: nothing changes.
template <class T>
struct Rates {
  T learning_rate, grad_scale;
};

/// Where rates lie: in device memory, since they change from step to step.
template <class T>
struct ReadRates {
  const T* learning_rate;
  const T* grad_scale;  // null: gradients are taken as they are
  HD Rates<T> operator()() const { return {*learning_rate, grad_scale ? *grad_scale : T(1)}; }
};

/// Element i of a rule(param, state..., gradient, rates), which changes parameter and states.
template <class Rule, class T, int States>
struct UpdateIndex {
  Rule rule;
  T* param;
  T* states[States > 0 ? States : 1];
  const T* gradient;

  UpdateIndex(const Rule& rule, const KernelArgs& a)
      : rule(rule), param(a.out<T>(0)), states{}, gradient(a.in<T>(States + 1)) {
    for (int s = 0; s < States; ++s) states[s] = a.out<T>(s + 1);
  }
  template <class R>
  HD void operator()(std::int64_t i, const R& rates) const {
    if constexpr (States == 0)
      rule(param[i], gradient[i], rates);
    else if constexpr (States == 1)
      rule(param[i], states[0][i], gradient[i], rates);
    else
      rule(param[i], states[0][i], states[1][i], gradient[i], rates);
  }
};

template <class Index, class Read>
struct ReadThenUpdate {
  Index index;
  Read read;
  HD void operator()(std::int64_t i) const {
    if (const auto rates = read(); rates.grad_scale != 0) index(i, rates);
  }
};

/// index(i, read()) for i in [0, n). The rates are read before the loop where the host can.
template <class Index, class Read>
void update_each(Cpu device, void* stream, std::int64_t n, const Index& index, const Read& read) {
  if (const auto rates = read(); rates.grad_scale != 0)
    parallel_for(device, stream, n, [index, rates](std::int64_t i) { index(i, rates); });
}
template <class Index, class Read>
void update_each(Cuda device, void* stream, std::int64_t n, const Index& index, const Read& read) {
  parallel_for(device, stream, n, ReadThenUpdate<Index, Read>{index, read});
}

/// Kernels of a rule that needs Rates alone; `Rule<T>` is made from the op's attributes.
template <template <class> class Rule, int States>
struct Update {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const std::int64_t n = elements(args.out(0).shape);
    return for_wide(args.out(0).dtype, [&](auto zero) {
      using T = decltype(zero);
      return make_kernel([n, rule = Rule<T>(args.op.attrs), scaled = args.has_in(States + 3)](const KernelArgs& a) {
        const ReadRates<T> read{a.in<T>(States + 2), scaled ? a.in<T>(States + 3) : nullptr};
        update_each(Device{}, a.stream, n, UpdateIndex<Rule<T>, T, States>(rule, a), read);
      });
    });
  }
};

/// Shape rule: states and gradient are as the parameter, rates are scalars of its dtype, a step counter is i64.
std::vector<Type> infer_update(const InferArgs& args);

}  // namespace lethe
