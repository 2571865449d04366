// x += `by`, in place: counts steps.
#include "framework/language/op_def.h"
#include "kernels/map.h"

namespace lethe {
namespace {

struct Increment {
  double by;
  explicit Increment(const Attrs& attrs) : by(attrs.number("by", 1)) {}
  template <class T>
  HD T operator()(T x) const {
    return static_cast<T>(x + static_cast<T>(by));
  }
};

const Register increment{{
    .type = "increment",
    .inputs = {"x"},
    .outputs = {"x"},
    .infer = same_as_first,
    .updates = true,
    .kernels = map<Increment, 1, Numbers>(),
}};

}  // namespace
}  // namespace lethe
