// array[index...] += value, in place; without an index all of it. Nothing if the array has no such entry.
#include "kernels/array.h"
#include "kernels/map.h"

namespace lethe {
namespace {

template <class T>
struct AddToEntry {
  T* array;
  const T* value;
  explicit AddToEntry(const KernelArgs& a) : array(a.out<T>(0)), value(a.in<T>(1)) {}
  HD void inside(T* entry, std::int64_t i) const { entry[i] = static_cast<T>(entry[i] + value[i]); }
  HD void outside(std::int64_t) const {}
};

const Register array_add{{
    .type = "array_add",
    .inputs = {"array", "value", "index..."},
    .outputs = {"array"},
    .infer = infer_entry_update,
    .updates = true,
    .kernels = each_device<OnEntry<AddToEntry, 2, Numbers>>(),
}};

}  // namespace
}  // namespace lethe
