// correct[n] = 1 where the label of row n is among the k largest of its logits, equal ones in the order of their
// classes (k = 1: argmax), else 0; a sample with NaN among its logits is wrong, and so is a label that names no class.
#include "kernels/dtypes.h"
#include "kernels/reduce/labels.h"
#include "kernels/reduce/rows.h"

namespace lethe {
namespace {

template <class T>
struct Correct {
  std::int64_t classes, k;
  const T* logits;
  const std::int32_t* label;
  std::uint8_t* correct;

  template <class Team>
  HD void operator()(const Team& team, std::int64_t row) const {
    const T* const x = logits + row * classes;
    const std::int64_t right = label[row];
    const bool known = right >= 0 && right < classes;
    const T value = x[known ? right : 0];
    const std::int64_t out_of_reach = classes;
    const double before = team.sum(classes, [=](std::int64_t c) {
      if (x[c] != x[c]) return static_cast<double>(out_of_reach);
      return x[c] > value || (x[c] == value && c < right) ? 1.0 : 0.0;
    });
    if (team.leads()) correct[row] = known && before < static_cast<double>(k) && before < out_of_reach;
  }
};

struct Accuracy {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const std::int64_t rows = elements(args.in(1).shape), classes = args.in(0).shape.back();
    const std::int64_t k = args.op.attrs.integer("k", 1);
    return for_float(args.in(0).dtype, [&](auto zero) {
      using T = decltype(zero);
      return make_kernel([=](const KernelArgs& a) {
        for_each_row(Device{}, a.stream, rows, classes,
                     Correct<T>{classes, k, a.in<T>(0), a.in<std::int32_t>(1), a.out<std::uint8_t>(0)});
      });
    });
  }
};

const Register accuracy{{
    .type = "accuracy",
    .inputs = {"logits", "label"},
    .outputs = {"correct"},
    .infer =
        [](const InferArgs& args) {
          check(args.op.attrs.integer("k", 1) >= 1, "accuracy: k is ", args.op.attrs.integer("k", 1),
                ", expected at least 1");
          return std::vector<Type>{{labels_of(args), DType::u8}};
        },
    .kernels = each_device<Accuracy>(),
}};

}  // namespace
}  // namespace lethe
