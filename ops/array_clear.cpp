// array[index...] = 0, in place; without an index all of it. Nothing if the array has no such entry.
#include "kernels/array.h"

namespace lethe {
namespace {

template <class T>
struct ClearEntry {
  T* array;
  explicit ClearEntry(const KernelArgs& a) : array(a.out<T>(0)) {}
  HD void inside(T* entry, std::int64_t i) const { entry[i] = T(0); }
  HD void outside(std::int64_t) const {}
};

const Register array_clear{{
    .type = "array_clear",
    .inputs = {"array", "index..."},
    .outputs = {"array"},
    .infer =
        [](const InferArgs& args) {
          entry_shape(args, 1);  // for its checks
          return same_as_first(args);
        },
    .updates = true,
    .kernels = each_device<OnEntry<ClearEntry, 1>>(),
}};

}  // namespace
}  // namespace lethe
