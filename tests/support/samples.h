// One row an op: enough to run it, check its gradient and compare devices. every_op_test walks the registry and fails
// for an op that no row names and that no row's gradient emits.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "framework/language/attrs.h"
#include "framework/language/program.h"

namespace lethe::testing {

struct SampleInput {
  Shape shape;
  double low = -1, high = 1;        // values are uniform in [low, high); whole numbers for integer dtypes
  std::optional<DType> dtype = {};  // none: the dtype under test (f64 for gradients, others too for the rest)
  bool absent = false;
  Kind kind = Kind::Input;  // Param or State for ops that update in place
  bool wide = false;        // f32 where the dtype under test is bf16 or f16
  bool texts = false;       // positions in texts: none is more than one above that before it
};

inline const SampleInput kAbsent{.shape = {}, .absent = true};

/// An attribute "dtype" of this value is the dtype under test.
inline constexpr const char* kUnderTest = "under test";
inline const std::vector<DType> kWide = {DType::f32, DType::f64};

struct Sample {
  std::string op;
  std::vector<SampleInput> in;
  Attrs attrs = {};
  std::vector<double> kinks = {};  // input values near which the gradient is not checked
  bool gradient = true;            // false: no gradient (comparisons, counters, updates)
  std::vector<DType> dtypes = {DType::f32, DType::f64, DType::bf16, DType::f16};
  std::vector<int> through = {};  // outputs whose gradient the rule takes; none named: every float one
};

inline DType dtype_of(const SampleInput& in, DType under_test) {
  return in.dtype.value_or(in.wide ? wide_of(under_test) : under_test);
}
inline Attrs attrs_of(const Sample& sample, DType under_test) {
  Attrs attrs = sample.attrs;
  if (attrs.has("dtype") && attrs.text("dtype") == kUnderTest) attrs.set("dtype", std::string(name_of(under_test)));
  return attrs;
}

/// All rows; each file tests/support/samples_*.cpp gives one part.
std::vector<Sample> all_samples();
std::vector<Sample> math_samples();     // elementwise, shapes, comparisons, control values
std::vector<Sample> unary_samples();    // what kernels/unary.h makes
std::vector<Sample> norm_samples();     // norms, softmax
std::vector<Sample> nn_samples();       // positions, losses, pooling, reductions
std::vector<Sample> product_samples();  // conv2d, fc, matmul
std::vector<Sample> update_samples();   // optimizers
std::vector<Sample> array_samples();    // what loops and sequences need

}  // namespace lethe::testing
