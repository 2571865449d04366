// y = a == b, as truth values; b may broadcast, or is the number `value`. A comparison with NaN is false.
#include "framework/builder/layer_call.h"
#include "kernels/compare.h"

namespace lethe {
namespace {

struct Equal {
  template <class T>
  HD std::uint8_t operator()(T a, T b) const {
    return a == b;
  }
};

const Register equal{{
    .type = "equal",
    .inputs = {"a", "b?"},
    .outputs = {"y"},
    .infer = infer_comparison,
    .along = Along::Elements,
    .kernels = each_device<Comparison<Equal>>(),
    .layer = comparison_layer(
        "equal", "Equal", [](LayerCall& c) { return build_comparison(c, "equal", Commutes::Yes); },
        "1 where the inputs are equal, or equal to value"),
}};

}  // namespace
}  // namespace lethe
