// What the project knows of an op: slots, shape rule, gradient rule, in-place pairs, kernels and the layer that
// emits it. One OpDef stands in one source of ops/ or optimizer/; the table fills itself before main.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "framework/language/all_gradients.h"
#include "framework/language/along.h"
#include "framework/language/core_ops.h"
#include "framework/language/kernel.h"
#include "framework/language/layer.h"
#include "framework/language/op_attrs.h"
#include "framework/language/op_fusion.h"
#include "framework/language/shape_rules.h"

namespace lethe {

class GradBuilder;
using Grad = void (*)(GradBuilder&);
using MultAdds = std::int64_t (*)(const InferArgs&);

/// The kernel tolerates output `out` in the memory of input `in`.
struct InPlace {
  int in, out;
};

/// What the vars of an op that runs no kernel are to each other (views.h).
enum class ViewOf : std::uint8_t {
  Nothing,  // it runs a kernel
  Whole,    // output 0 is input 0 under another shape
  Part,     // output 0 is the range from `begin` of input 0 along `axis`
  Parts     // the inputs are output 0, one after the other along `axis`: their makers write there
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
  const AllGradients* all_gradients = nullptr;
  const char* joined = nullptr;  // of a gradient op: the op that does its work and the forward op's (join_gradients.h)
  Op (*again)(const Op&) = nullptr;  // the cheaper op that gives output 0 again, from inputs and other outputs
  MultAdds mult_adds = nullptr;      // multiply-adds of one run; null: few for the bytes that it moves
  FusionPart part = FusionPart::None;
  std::vector<FusionRule> fusions = {};
  Activates activates = Activates::Nowhere;
  Along along = Along::Mixed;  // Elements for all whose kernels are a map's
  // The input that holds the step's number, of an op that draws and so takes kFirstElement, too; -1: it draws nothing.
  int random_step = -1;
  bool over_batch = false;          // what it gives of a sample depends on how many there are, or on the others
  bool widens = false;              // where its inputs are low floats it may write output 0 in f32: kWideOutput
  bool waits = false;               // for what its inputs' maker began: the later it stands, the less it waits
  std::optional<Kind> copies = {};  // of vars of this kind it makes copies in another dtype: cheap to make again
  // The input that its kernels convert if that is a parameter in this dtype (on a GPU one in blocks alone); or -1.
  int (*rounds)(const Program&, const Op&, DType) = nullptr;
  int adds = -1;  // an input, absent until fuse_sums gives one, that is added to output 0 before it is activated
  Kernels kernels = {};
  Layer layer = {};  // empty name: not to be had from a network file
  bool is_view() const { return view != ViewOf::Nothing; }
};

/// Whether the op copies a var that keeps its value all the step to another dtype: backward makes that again.
bool copies_kept(const Program& program, const Op& op);

/// The op's rule for that; null: it has none.
const FusionRule* rule_of(const Op& op, Fusion fusion);

bool has_relu(const Attrs& attrs);  // whether kActivation names one; fails if it is not known

/// Multiply-adds of one run; 0 of an op that has few for the bytes that it moves.
std::int64_t mult_adds_of(const Program& program, const Op& op);
/// Bytes that one run reads and writes, an input that stands in several slots once.
std::int64_t bytes_moved(const Program& program, const Op& op);

struct Register {
  explicit Register(OpDef def);
};

const OpDef* find_op(std::string_view type);
const OpDef& op_def(std::string_view type);  // fails with a suggestion if there is no such op
std::vector<const OpDef*> all_ops();         // sorted by type

/// Appends an op to a block; makes its outputs by the shape rule, named `name` + '.' + slot (just `name` if `name`
/// ends in "@GRAD"). Those of an op with `updates` are its first inputs. Gives the outputs.
std::vector<VarId> append_op(Program& program, BlockId block, Role role, const std::string& type, std::vector<VarId> in,
                             Attrs attrs, const std::string& name);
/// Appends an op with `updates`: its outputs are its first inputs.
void append_update(Program& program, BlockId block, const std::string& type, std::vector<VarId> in, Attrs attrs = {});

}  // namespace lethe
