// y = x0 + x1 + ..., from left to right whatever the memory settings: autodiff sums the gradients of a var's readers
// with it, and the same order gives the same bits.
#include <algorithm>

#include "framework/autodiff/autodiff.h"
#include "framework/language/op_def.h"
#include "kernels/dtypes.h"
#include "kernels/map.h"

namespace lethe {
namespace {

struct LeftToRight {
  template <class T, class... Rest>
  HD T operator()(T first, Rest... rest) const {
    return static_cast<T>((first + ... + rest));
  }
};

/// out = first + the next N - 1 inputs from `slot` on.
template <class Device, class T, int N>
void add_next(const KernelArgs& args, std::int64_t n, const T* first, int slot) {
  MapIndex<LeftToRight, T, N> index{{}, {first}, args.out<T>(0)};
  for (int next = 1; next < N; ++next) index.in[next] = args.in<T>(slot + next - 1);
  run_map(Device{}, args.stream, n, index);
}

/// Three operands a round; from the second round on the output so far comes first.
template <class Device, class T>
void sum_all(const KernelArgs& args, std::int64_t n, int count) {
  if (count == 1) add_next<Device, T, 1>(args, n, args.in<T>(0), 1);
  const T* first = args.in<T>(0);
  for (int slot = 1; slot < count; slot += 3, first = args.out<T>(0)) {
    if (count - slot == 1)
      add_next<Device, T, 2>(args, n, first, slot);
    else if (count - slot == 2)
      add_next<Device, T, 3>(args, n, first, slot);
    else
      add_next<Device, T, 4>(args, n, first, slot);
  }
}

struct SumN {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    return for_number(args.out(0).dtype, [&](auto zero) {
      using T = decltype(zero);
      const std::int64_t n = elements(args.out(0).shape);
      const int count = static_cast<int>(args.op.in.size()), rounds = std::max((count + 1) / 3, 1);
      const std::int64_t again = 2 * (rounds - 1) * n * std::int64_t{sizeof(T)};  // of the output so far
      return make_kernel([=](const KernelArgs& a) { sum_all<Device, T>(a, n, count); }, 0, again);
    });
  }
};

std::vector<Type> infer_sum_n(const InferArgs& args) {
  check(!args.op.in.empty(), "sum_n: no inputs");
  for (int slot = 1; slot < static_cast<int>(args.op.in.size()); ++slot)
    check(args.in(slot).shape == args.in(0).shape && args.in(slot).dtype == args.in(0).dtype, "sum_n: input ", slot,
          " is ", text_of(args.in(slot)), ", the first is ", text_of(args.in(0)));
  return {{args.in(0).shape, args.in(0).dtype}};
}

void sum_n_grad(GradBuilder& g) {
  for (int slot = 0; slot < g.inputs(); ++slot) g.set(slot, g.dy());
}

// In place of one of the first four, which the first round reads; a later round would find its input overwritten.
const Register sum_n{{
    .type = "sum_n",
    .inputs = {"x..."},
    .outputs = {"y"},
    .infer = infer_sum_n,
    .grad = sum_n_grad,
    .inplace = {{.in = 0, .out = 0}, {.in = 1, .out = 0}, {.in = 2, .out = 0}, {.in = 3, .out = 0}},
    .along = Along::Elements,
    .kernels = each_device<SumN>(),
}};

}  // namespace
}  // namespace lethe
