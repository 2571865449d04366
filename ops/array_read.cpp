// y = array[index...], a copy; zero if the array has no such entry.
#include "framework/autodiff/autodiff.h"
#include "framework/builder/layer_call.h"
#include "kernels/array.h"

namespace lethe {
namespace {

template <class T>
struct ReadEntry {
  const T* array;
  T* y;
  explicit ReadEntry(const KernelArgs& a) : array(a.in<T>(0)), y(a.out<T>(0)) {}
  HD void inside(const T* entry, std::int64_t i) const { y[i] = entry[i]; }
  HD void outside(std::int64_t i) const { y[i] = T(0); }
};

const Register array_read{{
    .type = "array_read",
    .inputs = {"array", "index..."},
    .outputs = {"y"},
    .infer =
        [](const InferArgs& args) {
          return std::vector<Type>{{entry_shape(args, 1), args.in(0).dtype}};
        },
    .grad =
        [](GradBuilder& g) {
          if (!g.wants(0)) return;
          std::vector<VarId> in = {g.accumulator(0), g.dy()};
          for (int slot = 1; slot < g.inputs(); ++slot) in.push_back(g.x(slot));
          g.update("array_add", in);
        },
    .kernels = each_device<OnEntry<ReadEntry, 1>>(),
    .layer = {.name = "array_read",
              .min_inputs = 2,
              .max_inputs = -1,
              .build = [](LayerCall& c) { return build_entry_op(c, "array_read"); },
              .help = "the entry of an array (first input) at an index (second); zeros outside of it"},
}};

}  // namespace
}  // namespace lethe
