// Labels that do not count: y[n] = -1 where label[n] is negative or `ignore`, for which losses of integer labels give
// neither loss nor gradient, else label[n]; weight[n] = (labels) / (labels that count) where it counts, else 0. Losses
// times these weights have as their mean over all the mean over those that count, and 0 if none does.
#include "framework/language/op_def.h"
#include "kernels/dtypes.h"
#include "kernels/reduce/rows.h"

namespace lethe {
namespace {

/// All labels are one row.
template <class T>
struct IgnoreLabelRow {
  std::int64_t labels, ignore;
  const std::int32_t* label;
  std::int32_t* y;
  T* weight;
  HD bool counts(std::int64_t i) const { return label[i] >= 0 && label[i] != ignore; }
  template <class Team>
  HD void operator()(const Team& team, std::int64_t) const {
    const IgnoreLabelRow row = *this;
    const double count = team.sum(labels, [=](std::int64_t i) { return row.counts(i) ? 1.0 : 0.0; });
    const T share = static_cast<T>(static_cast<double>(labels) / count);
    team.each(labels, [=](std::int64_t i) {
      row.y[i] = row.counts(i) ? row.label[i] : -1;
      row.weight[i] = row.counts(i) ? share : T(0);
    });
  }
};

struct IgnoreLabel {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const std::int64_t n = elements(args.in(0).shape), ignore = args.op.attrs.integer("ignore");
    return for_wide(args.out(1).dtype, [&](auto zero) {
      using T = decltype(zero);
      return make_kernel([=](const KernelArgs& a) {
        for_each_row(Device{}, a.stream, 1, n,
                     IgnoreLabelRow<T>{n, ignore, a.in<std::int32_t>(0), a.out<std::int32_t>(0), a.out<T>(1)});
      });
    });
  }
};

const Register ignore_label{{
    .type = "ignore_label",
    .inputs = {"label"},
    .outputs = {"y", "weight"},
    .infer =
        [](const InferArgs& args) {
          const Var& label = args.in(0);
          check(label.dtype == DType::i32, "ignore_label: labels are ", text_of(label), ", expected i32");
          return std::vector<Type>{{label.shape, DType::i32}, {label.shape, dtype_named(args.op.attrs.text("dtype"))}};
        },
    .over_batch = true,
    .kernels = each_device<IgnoreLabel>(),
}};

}  // namespace
}  // namespace lethe
