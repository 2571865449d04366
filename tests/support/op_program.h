// A sample row as a program: the row's op and, where the row has a gradient, the ops of its backward.
#pragma once
#include <string>
#include <vector>

#include "framework/autodiff/autodiff.h"
#include "tests/support/interpreter.h"
#include "tests/support/samples.h"

namespace lethe::testing {

struct OpProgram {
  Program program;
  std::vector<VarId> in, out;    // of the row's op
  VarId loss = kNone;            // a random weighted sum of the op's outputs; kNone without a gradient
  std::vector<ParamGrad> grads;  // of the op's float inputs, as far as the rule gives any
};

/// With inputs of `dtype` where the row does not fix one. The gradient is left out if `dtype` is no float.
OpProgram program_of(const Sample& sample, DType dtype);
/// Gives every input of the op values from the row's ranges: the same in every dtype.
void fill_inputs(const Sample& sample, const OpProgram& op_program, Interpreter& values);

/// "conv2d_2": the op and how many rows of it stand before, from 1. By row of all_samples().
std::vector<std::string> sample_names();

}  // namespace lethe::testing
