// y = a > b, as truth values; b may broadcast, or is the number `value`. A comparison with NaN is false.
#include "framework/builder/layer_call.h"
#include "kernels/compare.h"

namespace lethe {
namespace {

struct Greater {
  template <class T>
  HD std::uint8_t operator()(T a, T b) const {
    return a > b;
  }
};

const Register greater{{
    .type = "greater",
    .inputs = {"a", "b?"},
    .outputs = {"y"},
    .infer = infer_comparison,
    .along = Along::Elements,
    .kernels = each_device<Comparison<Greater>>(),
    .layer = comparison_layer(
        "greater", "Greater", [](LayerCall& c) { return build_comparison(c, "greater", Commutes::No); },
        "1 where the first input is greater than the second, or than value"),
}};

}  // namespace
}  // namespace lethe
