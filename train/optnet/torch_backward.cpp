// The backward half: containers call their modules in reverse, branches in their order; each module's gradients come
// from the rules of its ops.
#include <algorithm>

#include "framework/error.h"
#include "framework/language/op_def.h"
#include "train/optnet/torch_draft.h"

namespace lethe {
namespace {

using Vars = std::vector<VarId>;

class Backward {
 public:
  explicit Backward(TorchDraft& draft)
      : draft_(draft), program_(draft.made.program), net_(draft.made.net), storages_(draft.made.storages) {}

  void run() {
    call(net_.root, {gradient_of_output()});
    for (const auto& [param, given] : given_) {
      const VarId gradient = sum(given, param);
      draft_.made.grads.push_back({param, gradient});
      draft_.hold(gradient, TorchHolds::Param);
    }
  }

 private:
  VarId gradient_of_output() {
    const Var output = program_.vars[draft_.made.output];
    if (!draft_.options.loss)
      return draft_.made.output_gradient = add_var(
                 program_,
                 {.name = output.name + "@GRAD", .shape = output.shape, .dtype = output.dtype, .kind = Kind::Input});
    check(draft_.network.loss != kNone, draft_.network.name, ": has no loss to train by");
    const VarId loss = draft_.network.loss;
    const Attrs one{{"shape", Ints{}}, {"dtype", std::string(name_of(output.dtype))}, {"value", 1.0}};
    const VarId start =
        append_op(program_, 0, Role::Backward, kFillConstant, {}, one, program_.vars[loss].name + "@GRAD").front();
    const VarId gradient = through(draft_.after, loss, start, {draft_.made.output})[0];
    check(gradient != kNone, draft_.network.name, ": the loss does not depend on '", output.name, "'");
    return gradient;
  }

  /// Gives the gradient of each input.
  Vars call(int m, const Vars& dy) {
    const TorchModule& module = net_.modules[m];
    Vars dx;
    switch (module.type) {
      case TorchClass::Sequential:
        dx = dy;
        for (auto child = module.children.rbegin(); child != module.children.rend(); ++child) dx = call(*child, dx);
        break;
      case TorchClass::ConcatTable:
        for (std::size_t c = 0; c < module.children.size(); ++c) dx.push_back(call(module.children[c], {dy[c]})[0]);
        dx = {sum(dx, module.in[0])};
        break;
      case TorchClass::Concat:
        for (std::size_t c = 0; c < module.children.size(); ++c)
          dx.push_back(call(module.children[c], {slice_of(m, c, dy[0])})[0]);
        dx = {sum(dx, module.in[0])};
        break;
      default:
        if (storages_.slice_copy[m] > 0) hold_copy(m, dy[0]);
        dx = module.op < 0 ? dy : leaf(m, dy[0]);
    }
    for (std::size_t i = 0; i < dx.size(); ++i)  // what is in pieces is part of a gradient that is held as a whole
      if (const TorchTensor& shown = storages_.grad_input[m][i]; !shown.in_pieces)
        draft_.hold(dx[i], TorchHolds::GradInput, shown.storage);
    return dx;
  }

  Vars leaf(int m, VarId dy) {
    const TorchModule& module = net_.modules[m];
    Vars wanted = module.in;
    const auto columns = draft_.fields.find({m, "finput"});
    if (columns == draft_.fields.end()) return through(draft_.ops[m], module.out, dy, wanted);
    wanted.push_back(columns->second);
    Vars dx = through(draft_.ops[m], module.out, dy, wanted);
    draft_.set_field(m, "fgradInput", dx.back());
    dx.pop_back();
    return dx;
  }

  /// What a Concat gives to one of its branches.
  VarId slice_of(int m, std::size_t branch, VarId dy) {
    const Op op = program_.blocks[0].ops[draft_.ops[m].first];
    std::vector<bool> wants(op.in.size(), false);
    wants[branch] = true;
    return gradients(op, {dy}, wants)[branch];
  }

  /// Where Torch's module took a copy of what is in pieces, our slice is that copy; else it is scratch.
  void hold_copy(int m, VarId slice) {
    if (storages_.output[m][0].repointed)
      draft_.hold(slice, TorchHolds::GradInput, storages_.grad_input[m][0].storage);
    else
      draft_.set_field(m, "_gradOutput", slice);
  }

  Vars gradients(const Op& op, const Vars& dy, const std::vector<bool>& wants) {
    const OpDef& def = op_def(op.type);
    check(def.grad, "op '", op.type, "' has no gradient");
    GradBuilder rule(program_, 0, op, dy, wants);
    def.grad(rule);
    return rule.dx();
  }

  /// Back through the ops of a range, from the gradient of one var to those of others; kNone where there is none.
  Vars through(std::pair<std::size_t, std::size_t> range, VarId from, VarId dy, const Vars& wanted) {
    std::map<VarId, Vars> to = {{from, {dy}}};
    const auto of = [&](VarId v) {
      if (!to.count(v)) return kNone;
      to[v] = {sum(to[v], v)};
      return to[v][0];
    };
    const auto wants = [&](VarId v) {
      if (v == kNone || !is_float(program_.vars[v].dtype) || program_.vars[v].kind == Kind::State) return false;
      return program_.vars[v].kind != Kind::Input || std::find(wanted.begin(), wanted.end(), v) != wanted.end();
    };
    for (std::size_t i = range.second; i-- > range.first;) {
      const Op op = program_.blocks[0].ops[i];
      Vars outputs;
      std::transform(op.out.begin(), op.out.end(), std::back_inserter(outputs), of);
      if (std::all_of(outputs.begin(), outputs.end(), [](VarId v) { return v == kNone; })) continue;
      std::vector<bool> wanting;
      std::transform(op.in.begin(), op.in.end(), std::back_inserter(wanting), wants);
      const Vars inputs = gradients(op, outputs, wanting);
      for (std::size_t slot = 0; slot < inputs.size(); ++slot)
        if (inputs[slot] != kNone)
          (program_.vars[op.in[slot]].kind == Kind::Param ? given_ : to)[op.in[slot]].push_back(inputs[slot]);
    }
    Vars dx;
    std::transform(wanted.begin(), wanted.end(), std::back_inserter(dx), of);
    return dx;
  }

  VarId sum(const Vars& given, VarId of) {
    if (given.size() == 1) return given[0];
    return append_op(program_, 0, Role::Backward, kSum, given, {}, program_.vars[of].name + "@GRAD").front();
  }

  TorchDraft& draft_;
  Program& program_;
  const TorchNet& net_;
  const TorchStorages& storages_;
  std::map<VarId, Vars> given_;  // to parameters
};

}  // namespace

void lower_backward(TorchDraft& draft) { Backward(draft).run(); }

}  // namespace lethe
