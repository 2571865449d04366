// y[n] = N / (labels that are not negative) where label[n] is not negative, else 0. Losses of integer labels are 0
// where the label is negative; times these weights their mean over all is the mean over those that count, and 0 if none
// does.
#include "framework/op_def.h"
#include "kernels/reduce_rows.h"

namespace lethe {
namespace {

/// All labels are one row.
template <class T>
struct WeightRow {
  std::int64_t labels;
  const std::int32_t* label;
  T* y;
  template <class Team>
  HD void operator()(const Team& team, std::int64_t) const {
    const std::int32_t* const given = label;
    T* const to = y;
    const double count = team.sum(labels, [=](std::int64_t i) { return given[i] < 0 ? 0.0 : 1.0; });
    const T weight = static_cast<T>(static_cast<double>(labels) / count);
    team.each(labels, [=](std::int64_t i) { to[i] = given[i] < 0 ? T(0) : weight; });
  }
};

struct LabelWeights {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const std::int64_t n = args.in(0).shape[0];
    return for_float(args.out(0).dtype, [&](auto zero) {
      using T = decltype(zero);
      return make_kernel([=](const KernelArgs& a) {
        for_each_row(Device{}, a.stream, 1, n, WeightRow<T>{n, a.in<std::int32_t>(0), a.out<T>(0)});
      });
    });
  }
};

const Register label_weights{{
    .type = "label_weights",
    .inputs = {"label"},
    .outputs = {"y"},
    .infer =
        [](const InferArgs& args) {
          const Var& label = args.in(0);
          check(label.dtype == DType::i32 && label.shape.size() == 1, "label_weights: labels are ", text_of(label),
                ", expected i32[N]");
          return std::vector<Type>{{label.shape, dtype_named(args.op.attrs.text("dtype"))}};
        },
    .kernels = each_device<LabelWeights>(),
}};

}  // namespace
}  // namespace lethe
