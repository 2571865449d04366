// array[index...] = value, in place; nothing if the array has no such entry.
#include "framework/autodiff/autodiff.h"
#include "framework/builder/layer_call.h"
#include "kernels/array.h"

namespace lethe {
namespace {

template <class T>
struct WriteEntry {
  T* array;
  const T* value;
  explicit WriteEntry(const KernelArgs& a) : array(a.out<T>(0)), value(a.in<T>(1)) {}
  HD void inside(T* entry, std::int64_t i) const { entry[i] = value[i]; }
  HD void outside(std::int64_t) const {}
};

const Register array_write{{
    .type = "array_write",
    .inputs = {"array", "value", "index..."},
    .outputs = {"array"},
    .infer = infer_entry_update,
    .grad =
        [](GradBuilder& g) {
          std::vector<VarId> in = {g.accumulator(0)};
          for (int slot = 2; slot < g.inputs(); ++slot) in.push_back(g.x(slot));
          g.set(1, "array_read", in);
          g.update("array_clear", in);  // what was there before this write reached nobody
        },
    .updates = true,
    .kernels = each_device<OnEntry<WriteEntry, 2>>(),
    .layer = {.name = "array_write",
              .min_inputs = 3,
              .max_inputs = -1,
              .build = [](LayerCall& c) { return build_entry_op(c, "array_write"); },
              .help = "puts a value (second input) into an array (first) at an index (third); gives the array"},
}};

}  // namespace
}  // namespace lethe
