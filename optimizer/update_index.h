// An update rule at one element, or at several at a time, of a parameter, its states and its gradient.
#pragma once
#include "framework/language/kernel.h"
#include "kernels/low_floats.h"
#include "kernels/packs.h"

namespace lethe {

/// What an update changes: where it begins in what is whole, and how many elements it has.
struct UpdatePart {
  std::int64_t in_param = 0, in_gradient = 0, count = 0;
};

/// Element i of a rule(param, state..., gradient, rates), which changes parameter and states.
template <class Rule, class T, int States, class Gradient>
struct UpdateIndex {
  Rule rule;
  T* param;
  T* states[States > 0 ? States : 1];
  const Gradient* gradient;

  UpdateIndex(const Rule& rule, const UpdatePart& part, const KernelArgs& a)
      : rule(rule), param(a.out<T>(0) + part.in_param), states{} {
    gradient = a.in<Gradient>(States + 1) + part.in_gradient;
    for (int s = 0; s < States; ++s) states[s] = a.out<T>(s + 1);
  }
  template <class R>
  HD void operator()(std::int64_t i, const R& rates) const {
    const T g = compute(gradient[i]);
    if constexpr (States == 0)
      rule(param[i], g, rates);
    else if constexpr (States == 1)
      rule(param[i], states[0][i], g, rates);
    else
      rule(param[i], states[0][i], states[1][i], g, rates);
  }
  bool can_pack() const {
    bool fits = lethe::can_pack({param, gradient});
    for (int s = 0; s < States; ++s) fits = fits && lethe::can_pack({states[s]});
    return fits;
  }
  /// Likewise for V elements: on copies, so that all are read before any is written.
  template <int V, class R>
  HD void pack(std::int64_t i, const R& rates) const {
    Pack<T, V> p = load_pack<V>(param + i), s[States > 0 ? States : 1];
    const Pack<Gradient, V> g = load_pack<V>(gradient + i);
    for (int n = 0; n < States; ++n) s[n] = load_pack<V>(states[n] + i);
    UpdateIndex local = *this;
    local.param = p.at;
    local.gradient = g.at;
    for (int n = 0; n < States; ++n) local.states[n] = s[n].at;
    for (int k = 0; k < V; ++k) local(k, rates);
    store_pack(param + i, p);
    for (int n = 0; n < States; ++n) store_pack(states[n] + i, s[n]);
  }
};

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

}  // namespace lethe
