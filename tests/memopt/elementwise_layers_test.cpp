// Layers that expand their operands, choose between them, or whose gradient reads their output: the memory stage
// changes no bit of them.
#include <gtest/gtest.h>

#include "framework/builder/builder.h"
#include "tests/memopt/same_result.h"

namespace lethe::testing {
namespace {

/// Every difference of two of three rows, through one function after the other.
TrainingProgram of_differences(DType dtype) {
  Builder net({.batch = 2, .dtype = dtype});
  const VarId x = net.input("x", {3, 4});
  const VarId rows = net.layer("prelu", net.layer("fc", x, {{"out", 6}, {"flatten", 0}}));
  const Attrs as_column{{"shape", Ints{3, 1, 6}}, {"layout", "plain"}}, as_row{{"shape", Ints{3, 6}}};
  const VarId left = net.layer("reshape", net.layer("selu", rows), as_column);
  const VarId right = net.layer("reshape", net.layer("atan", rows), as_row);
  const VarId differences = net.layer("sub", {right, left});
  const VarId learned = net.layer("parameter", rows, {{"shape", Ints{1, 6}}});
  const VarId larger = net.layer("max", {learned, differences});
  const VarId is_low = net.layer("less", {left, learned}), zero = net.layer("constant", x, {{"value", 0.0}});
  const VarId chosen = net.layer("where", {is_low, larger, zero});
  const VarId cubed = net.layer("pow", net.layer("add", {chosen, learned}), {{"exponent", 3}});
  const VarId sum = net.layer("sum", net.layer("mish", cubed), {{"axis", 1}});
  const VarId all = net.layer("add", {sum, net.layer("expand", {learned, x}, {{"shape", Ints{3, 6}}})});
  net.loss("mse", net.layer("sum", net.layer("floor", all), {{"axis", 0}}), net.input("target", {6}));
  net.loss("mse", net.layer("mean", all, {{"axis", 0}}), net.input("other", {6}));
  return with_updates(with_backward(net.finish()), "momentum");
}

TEST(ElementwiseLayers, GiveTheSameUnderAllSettings) {
  for (const DType dtype : {DType::f32, DType::bf16}) expect_the_same_under_all_settings(of_differences(dtype), 2);
}

}  // namespace
}  // namespace lethe::testing
