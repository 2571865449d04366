// What the project knows of an op: slots, shape rule, gradient rule, in-place pairs, kernels and the layer that
// emits it. One OpDef stands in one source of ops/ or optimizer/; the table fills itself before main.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "framework/core_ops.h"
#include "framework/kernel.h"
#include "framework/layer_call.h"
#include "framework/program.h"

namespace lethe {

class GradBuilder;

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
using Grad = void (*)(GradBuilder&);

/// The kernel tolerates output `out` in the memory of input `in`.
struct InPlace {
  int in, out;
};

/// What the vars of an op that runs no kernel are to each other (views.h).
enum class ViewOf : std::uint8_t {
  Nothing,  // it runs a kernel
  Whole,    // output 0 is input 0 under another shape
  Part,     // output 0 is the range from `begin` of input 0 along `axis`
  Parts     // the inputs are output 0, one behind the other along `axis`: their makers write there
};

struct OpDef {
  std::string type;
  std::vector<std::string> inputs = {}, outputs = {};  // slot names; "x?" may be absent, "x..." (last) is variadic
  Infer infer = nullptr;
  Grad grad = nullptr;  // null: not differentiable; what it reads is what backward keeps alive
  std::vector<InPlace> inplace = {};
  ViewOf view = ViewOf::Nothing;
  const char* as_view = nullptr;  // the op that gives the same without a copy, where memory allows it
  bool pitched = false;           // its kernels take inputs and outputs whose rows lie apart (Var::pitch)
  bool updates = false;           // writes in place: output i is the var of input i (optimizer ops, counters)
  int gradient = -1;              // of an update: the input by which it updates its parameter
  // In words, why updates that read its output wait for all gradients; null: they do not.
  const char* (*needs_all_gradients)(const Op&) = nullptr;
  bool activation = false;  // its type names the activation that it computes, and nothing else
  bool activates = false;   // takes an attribute kActivation: output 0 is activated before it is written
  Kernels kernels = {};
  Layer layer = {};  // empty name: not to be had from a network file
  bool is_view() const { return view != ViewOf::Nothing; }
};

/// "relu". Set by fuse_activations, after autodiff: gradient rules know nothing of it.
inline constexpr const char* kActivation = "activation";
/// Whether the attributes name one; fails if it is not known.
bool has_relu(const Attrs& attrs);

struct Register {
  explicit Register(OpDef def);
};

const OpDef* find_op(std::string_view type);
/// Fails with a suggestion if there is no such op.
const OpDef& op_def(std::string_view type);
std::vector<const OpDef*> all_ops();  // sorted by type

/// Common shape rules.
std::vector<Type> same_as_first(const InferArgs& args);   // every output is as input 0
std::vector<Type> same_as_second(const InferArgs& args);  // every output is as input 1

/// For shape rules: fails unless input `slot`, if it is there, is of this type.
void check_input(const InferArgs& args, int slot, const Type& expected);

/// Appends an op to a block; makes its outputs by the shape rule, named `name` + '.' + slot (just `name` if `name`
/// ends in "@GRAD"). Those of an op with `updates` are its first inputs. Gives the outputs.
std::vector<VarId> append_op(Program& program, BlockId block, Role role, const std::string& type, std::vector<VarId> in,
                             Attrs attrs, const std::string& name);
/// Appends an op with `updates`: its outputs are its first inputs.
void append_update(Program& program, BlockId block, const std::string& type, std::vector<VarId> in, Attrs attrs = {});

/// The nearest of `known` to `word` if it is near enough, else "".
std::string nearest(std::string_view word, const std::vector<std::string>& known);
/// "; did you mean 'conv'?" or "".
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

}  // namespace lethe
