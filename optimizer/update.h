// What the update ops share: an update is a rule for one element, run in place over a parameter and its states.
// Slots: param, states..., gradient, learning_rate, (step,) grad_scale?; the outputs are the first 1 + states of them.
#pragma once
#include <cmath>
#include <vector>

#include "framework/op_def.h"
#include "optimizer/update_index.h"

namespace lethe {

template <class Index, class Read>
struct ReadThenUpdate {
  Index index;
  Read read;
  HD void operator()(std::int64_t i) const {
    if (const auto rates = read(); rates.grad_scale != 0) index(i, rates);
  }
  template <int V>
  HD void pack(std::int64_t i) const {
    if (const auto rates = read(); rates.grad_scale != 0) index.template pack<V>(i, rates);
  }
};

/// index(i, read()) for i in [0, n). The rates are read before the loop where the host can.
template <class Index, class Read>
void update_each(Cpu device, void* stream, std::int64_t n, const Index& index, const Read& read) {
  if (const auto rates = read(); rates.grad_scale != 0)
    parallel_for(device, stream, n, [index, rates](std::int64_t i) { index(i, rates); });
}
#ifdef LETHE_DEVICE_CODE
template <class Index, class Read>
void update_each(Cuda device, void* stream, std::int64_t n, const Index& index, const Read& read) {
  using T = std::remove_pointer_t<decltype(index.param)>;
  for_each_pack<kPack<T>>(device, stream, n, index.can_pack(), ReadThenUpdate<Index, Read>{index, read});
}
#endif

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
