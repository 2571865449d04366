// Gradients against central differences, in f64.
#pragma once
#include <string>
#include <vector>

#include "framework/autodiff/autodiff.h"
#include "tests/support/random_program.h"

namespace lethe::testing {

struct GradientCheck {
  double tolerance = 1e-6;         // of |gradient - difference| / max(floor * sqrt(n), |gradient|, |difference|)
  double floor = 1e-4;             // of n, the elements of the largest var: the rounding of a loss of n terms
  double step = 1e-5;              // to either side
  std::vector<double> kinks = {};  // elements within `window` of one of these are left out
  double window = 1e-3;
  std::int64_t most_elements = 200;  // of one var; more are checked at equal distances
};

/// Checks d loss / d var for each of `vars`. `values` holds a program of f64 vars with its backward in it, inputs set.
/// A var without an entry in `grads` is held to have the gradient zero. Gives "" or the worst element in words.
std::string wrong_gradient(Interpreter& values, VarId loss, const std::vector<VarId>& vars,
                           const std::vector<ParamGrad>& grads, const GradientCheck& options = {});
/// The same for all Params of a verified network, on random values.
std::string wrong_gradient(const TrainingProgram& made);

}  // namespace lethe::testing
