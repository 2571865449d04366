// The sum of what parts of a batch give for a gradient, in bf16: sum + value, or the value alone, rounded up or down by
// chance (stochastic_rounding.h), so that small values are not lost on average. Attributes as dropout's: "seed", "key".
#include "framework/error.h"
#include "framework/language/op_def.h"
#include "kernels/dtypes.h"
#include "kernels/each_device.h"
#include "optimizer/stochastic_rounding.h"

namespace lethe {
namespace {

/// N elements at a time, of which some may be missing in the end.
template <class Value, int N>
struct AddRounded {
  RoundingStream rounding;
  std::int64_t count;
  const Bf16* sum;  // null: there is none yet
  const Value* value;
  const std::int64_t* step;
  Bf16* to;

  HD void operator()(std::int64_t group) const {
    const std::int64_t from = N * group, left = count - from;
    const int n = left < N ? static_cast<int>(left) : N;
    float x[N] = {};
    for (int k = 0; k < n; ++k) x[k] = compute(value[from + k]);
    if (sum)
      for (int k = 0; k < n; ++k) x[k] += compute(sum[from + k]);
    rounding.round<N>(x, from, n, *step, to + from);
  }
};

struct Accumulate {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    if (args.in(1).dtype == DType::bf16) return of<Device, Bf16>(args);
    return of<Device, float>(args);
  }

 private:
  template <class Device, class Value>
  static std::unique_ptr<Kernel> of(const PrepareArgs& args) {
    constexpr int kAtOnce = std::is_same_v<Device, Cpu> ? 256 : 8;
    const Attrs& attrs = args.op.attrs;
    const RoundingStream rounding{.key = stream_key(static_cast<std::uint64_t>(attrs.integer("seed")),
                                                    static_cast<std::uint64_t>(attrs.integer("key")))};
    const std::int64_t count = elements(args.out(0).shape);
    const bool adds = args.has_in(0);
    return make_kernel([=](const KernelArgs& a) {
      const AddRounded<Value, kAtOnce> add{
          rounding, count, adds ? a.in<Bf16>(0) : nullptr, a.in<Value>(1), a.in<std::int64_t>(2), a.out<Bf16>(0)};
      parallel_for(Device{}, a.stream, (count + kAtOnce - 1) / kAtOnce, add, kElementGrain / kAtOnce + 1);
    });
  }
};

std::vector<Type> infer_accumulate(const InferArgs& args) {
  const Var& value = args.in(1);
  check(value.dtype == DType::f32 || value.dtype == DType::bf16, "accumulate: value is ", text_of(value),
        ", expected f32 or bf16");
  check_input(args, 0, {value.shape, DType::bf16});
  check_input(args, 2, {{}, DType::i64});
  return {{value.shape, DType::bf16}};
}

// Not in place of a value in f32: what one thread writes there another would read.
const Register accumulate{{
    .type = "accumulate",
    .inputs = {"sum?", "value", "step"},
    .outputs = {"y"},
    .infer = infer_accumulate,
    .inplace = {{.in = 0, .out = 0}},
    .kernels = each_device<Accumulate>(),
}};

}  // namespace
}  // namespace lethe
