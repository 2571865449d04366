// Shape rules: what an op's outputs are, given its inputs and attributes.
#pragma once
#include <vector>

#include "framework/language/program.h"

namespace lethe {

/// A var's type: what a shape rule gives for each output.
struct Type {
  Shape shape;
  DType dtype;
};

/// What a shape rule sees.
struct InferArgs {
  const Program& program;
  const Op& op;
  bool has_in(int slot) const { return slot < static_cast<int>(op.in.size()) && op.in[slot] != kNone; }
  const Var& in(int slot) const { return program.vars[op.in[slot]]; }
};
using Infer = std::vector<Type> (*)(const InferArgs&);

/// Common shape rules.
std::vector<Type> same_as_first(const InferArgs& args);   // every output is as input 0
std::vector<Type> same_as_second(const InferArgs& args);  // every output is as input 1

/// For shape rules: fails unless input `slot`, if it is there, is of this type.
void check_input(const InferArgs& args, int slot, const Type& expected);

}  // namespace lethe
