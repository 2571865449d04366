// A sample row as a program: the row's op and, where the row has a gradient, the ops of its backward.
#pragma once
#include <functional>
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

/// Calls check(values, op, kernel) for each op of the row's program in each dtype, with inputs in place; ops that stand
/// after it in the program run then. Ops without a kernel and ops of tests are passed over.
using CheckOp = std::function<void(const Interpreter& values, const Op& op, const Kernel& kernel)>;
void for_each_op(const Sample& sample, const CheckOp& check, int threads = 1);
/// Whether an op is one that tests alone register.
bool by_tests_alone(const std::string& type);

/// "conv2d_2": the op and how many rows of it stand before, from 1. By row of all_samples().
std::vector<std::string> sample_names();

}  // namespace lethe::testing
