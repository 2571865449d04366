// y = a < b, as truth values; b may broadcast, or is the number `value`. A comparison with NaN is false.
#include "framework/builder/layer_call.h"
#include "kernels/compare.h"

namespace lethe {
namespace {

struct Less {
  template <class T>
  HD std::uint8_t operator()(T a, T b) const {
    return a < b;
  }
};

const Register less{{
    .type = "less",
    .inputs = {"a", "b?"},
    .outputs = {"y"},
    .infer = infer_comparison,
    .along = Along::Elements,
    .kernels = each_device<Comparison<Less>>(),
    .layer = comparison_layer(
        "less", "Less", [](LayerCall& c) { return build_comparison(c, "less", Commutes::No); },
        "1 where the first input is less than the second, or than value"),
}};

}  // namespace
}  // namespace lethe
