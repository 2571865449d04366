// Labels that do not count, or not all alike: y[n] = -1 where label[n] is negative or `ignore`, for which losses of
// integer labels give neither loss nor gradient, else label[n]; weight[n] = w[label[n]] * (labels) / (sum of the w of
// those that count) where it counts, else 0. w is of_class, 1 without it and for labels that name no class. Losses
// times these weights have as their mean over all the weighted mean over those that count, and 0 if none does.
#include "framework/language/op_def.h"
#include "kernels/dtypes.h"
#include "kernels/reduce/rows.h"

namespace lethe {
namespace {

/// All labels are one row.
template <class T>
struct IgnoreLabelRow {
  std::int64_t labels, ignore, classes;
  const std::int32_t* label;
  const T* of_class;
  std::int32_t* y;
  T* weight;
  HD bool counts(std::int64_t i) const { return label[i] >= 0 && label[i] != ignore; }
  HD double own(std::int64_t i) const {
    if (!counts(i)) return 0;
    return label[i] < classes ? static_cast<double>(of_class[label[i]]) : 1;
  }
  template <class Team>
  HD void operator()(const Team& team, std::int64_t) const {
    const IgnoreLabelRow row = *this;
    const double sum = team.sum(labels, [=](std::int64_t i) { return row.own(i); });
    const double share = static_cast<double>(labels) / sum;
    team.each(labels, [=](std::int64_t i) {
      row.y[i] = row.counts(i) ? row.label[i] : -1;
      const double own = row.own(i);
      row.weight[i] = own > 0 ? static_cast<T>(own * share) : T(0);
    });
  }
};

struct IgnoreLabel {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const std::int64_t n = elements(args.in(0).shape), ignore = args.op.attrs.integer("ignore");
    const std::int64_t classes = args.has_in(1) ? args.in(1).shape[0] : 0;
    return for_wide(args.out(1).dtype, [&](auto zero) {
      using T = decltype(zero);
      return make_kernel([=](const KernelArgs& a) {
        for_each_row(Device{}, a.stream, 1, n,
                     IgnoreLabelRow<T>{n, ignore, classes, a.in<std::int32_t>(0), classes > 0 ? a.in<T>(1) : nullptr,
                                       a.out<std::int32_t>(0), a.out<T>(1)});
      });
    });
  }
};

const Register ignore_label{{
    .type = "ignore_label",
    .inputs = {"label", "of_class?"},
    .outputs = {"y", "weight"},
    .infer =
        [](const InferArgs& args) {
          const Var& label = args.in(0);
          check(label.dtype == DType::i32, "ignore_label: labels are ", text_of(label), ", expected i32");
          const DType dtype = dtype_named(args.op.attrs.text("dtype"));
          if (args.has_in(1)) {
            const Var& of_class = args.in(1);
            check(of_class.dtype == dtype && of_class.shape.size() == 1, "ignore_label: weights of classes are ",
                  text_of(of_class), ", expected ", name_of(dtype), "[classes]");
          }
          return std::vector<Type>{{label.shape, DType::i32}, {label.shape, dtype}};
        },
    .over_batch = true,
    .kernels = each_device<IgnoreLabel>(),
}};

}  // namespace
}  // namespace lethe
