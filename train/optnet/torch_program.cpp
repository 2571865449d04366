#include "train/optnet/torch_program.h"

#include <algorithm>
#include <set>

#include "framework/error.h"
#include "framework/language/views.h"
#include "train/optnet/torch_draft.h"

namespace lethe {

TorchDraft::TorchDraft(const Network& network, const TorchNotes& notes, const TorchProgramOptions& options)
    : network(network), options(options) {
  made.program.vars = network.program.vars;
  for (const Var& var : network.program.vars) given.push_back(var.kind != Kind::Temp);
  check(network.program.blocks.size() == 1, "optnet: ", network.name,
        " has loops or branches, for which Torch had no modules; `train count` counts them written out");
  made.net = torch_net(network, notes);
  for (const TorchModule& module : made.net.modules)
    check(module.type != TorchClass::Graph, "optnet: branches to '", network.program.vars[module.out].name,
          "' share a layer; only trees of modules can be run");
  made.storages = torch_storages(network.program, made.net, options.backend, options.inplace);
  made.buffers = torch_buffers(network.program, made.net, made.storages, options.backend, options.training, notes);
  ops.resize(made.net.modules.size());
  made.input = made.net.modules[made.net.root].in[0];
  made.output = made.net.modules[made.net.root].out;
}

void TorchDraft::append(Op op) {
  for (const VarId v : op.in)
    if (v != kNone && v < std::ssize(given) && !given[v]) fail_of_constant(v);
  for (const VarId v : op.out)
    if (v < std::ssize(given)) given[v] = true;
  made.program.blocks[0].ops.push_back(std::move(op));
}

void TorchDraft::fail_of_constant(VarId var) const {
  std::string maker = "no op";
  for (const Op& op : network.program.blocks[0].ops)
    if (std::ranges::count(op.out, var) > 0) maker = op.type;
  fail("optnet: '", network.program.vars[var].name, "' is given by ", maker,
       ", which does not depend on the network's input; Torch had no module for that, so optnet is not supported here");
}

bool TorchDraft::hold(VarId var, TorchHolds as, int storage) {
  made.vars.resize(made.program.vars.size());
  if (made.program.vars[var].kind != Kind::Temp || made.vars[var].as != TorchHolds::Nothing) return false;
  made.vars[var] = {as, storage};
  return true;
}

void TorchDraft::keep(const std::string& name, Shape shape, TorchHolds as, int storage) {
  const DType dtype = made.program.vars[made.input].dtype;
  hold(add_var(made.program, {.name = name, .shape = std::move(shape), .dtype = dtype}), as, storage);
}

namespace {

const std::string& name_of_module(const TorchDraft& draft, int m) {
  const TorchModule& module = draft.made.net.modules[m];
  return draft.network.program.vars[module.out == kNone ? module.in[0] : module.out].name;
}

/// Views are what they show, whichever of them was noted.
void note_views(TorchDraft& draft) {
  draft.made.vars.resize(draft.made.program.vars.size());
  const std::vector<VarId> shown = view_root(draft.made.program);
  for (std::size_t v = 0; v < shown.size(); ++v)
    if (shown[v] != static_cast<VarId>(v)) draft.hold(shown[v], draft.made.vars[v].as, draft.made.vars[v].storage);
  for (std::size_t v = 0; v < shown.size(); ++v) draft.made.vars[v] = draft.made.vars[shown[v]];
}

/// A copy that its module, working in place, shows as its gradient too: counted as both, but one storage.
bool is_gradient_too(const TorchDraft& draft, const TorchBuffer& buffer) {
  return buffer.field == "_gradOutput" && draft.made.storages.output[buffer.module][0].repointed;
}

/// The counter's buffers: vars of our ops where these have them, else vars that are kept. Running statistics are
/// States.
void add_buffers(TorchDraft& draft) {
  const std::vector<TorchBuffer>& buffers = draft.made.buffers;
  for (int b = 0; b < std::ssize(buffers); ++b) {
    const TorchBuffer& buffer = buffers[static_cast<std::size_t>(b)];
    if (buffer.field.rfind("running_", 0) == 0 || is_gradient_too(draft, buffer)) continue;
    const auto found = draft.fields.find({buffer.module, buffer.field});
    if (found == draft.fields.end() || !draft.hold(found->second, TorchHolds::Buffer, b))
      draft.keep((buffer.module < 0 ? "" : name_of_module(draft, buffer.module) + ".") + buffer.field,
                 {buffer.elements}, TorchHolds::Buffer, b);
  }
}

/// Storages that Torch's modules have of their own and our ops do without.
void keep_storages(TorchDraft& draft, const std::vector<std::vector<TorchTensor>>& shown, TorchHolds as) {
  std::set<int> there = {draft.made.storages.input, draft.made.storages.loss_gradient};
  for (const TorchVar& var : draft.made.vars)
    if (var.as == as) there.insert(var.storage);
  for (std::size_t m = 0; m < shown.size(); ++m)
    for (const TorchTensor& tensor : shown[m])
      if (there.insert(tensor.storage).second)
        draft.keep(name_of_module(draft, static_cast<int>(m)) + (as == TorchHolds::Output ? ".output" : ".gradInput"),
                   {draft.made.storages.elements[tensor.storage]}, as, tensor.storage);
}

/// Gradients that inference has no use for: those that cudnn's modules size forward, as defined and not as optnet left
/// them in place, and the parameters' own until they are removed.
void keep_gradients(TorchDraft& draft, const TorchStorages& defined) {
  const Program& from = draft.network.program;
  for (std::size_t m = 0; m < draft.made.net.modules.size(); ++m) {
    const TorchModule& module = draft.made.net.modules[m];
    if (is_cudnn(draft.options.backend, module.type) && !defined.output[m][0].repointed)
      draft.keep(from.vars[module.in[0]].name + "@GRAD", from.vars[module.in[0]].shape, TorchHolds::GradInput);
  }
  if (!draft.options.keep_grads) return;
  const std::vector<Var> vars = draft.made.program.vars;
  for (const Var& var : vars)
    if (var.kind == Kind::Param) draft.keep(var.name + "@GRAD", var.shape, TorchHolds::Param);
}

/// The network's loss and metrics, as they are.
void append_loss(TorchDraft& draft) {
  const std::vector<Op>& ops = draft.network.program.blocks[0].ops;
  std::vector<bool> in_module(ops.size(), false);
  for (const TorchModule& module : draft.made.net.modules)
    if (module.op >= 0) in_module[static_cast<std::size_t>(module.op)] = true;
  draft.after.first = draft.made.program.blocks[0].ops.size();
  for (std::size_t i = 0; i < ops.size(); ++i)
    if (ops[i].role == Role::Forward && !in_module[i]) draft.append(ops[i]);
  draft.after.second = draft.made.program.blocks[0].ops.size();
}

/// Counters and running statistics, after everything else.
void append_updates_of_states(TorchDraft& draft) {
  const auto is_there = [&](VarId v) { return draft.given[v]; };
  for (const Op& op : draft.network.program.blocks[0].ops)
    if (op.role == Role::Optimize && std::all_of(op.in.begin(), op.in.end(), is_there)) draft.append(op);
}

std::vector<VarId> fetched(const TorchDraft& draft) {
  std::vector<VarId> vars = {draft.made.output};
  for (const ParamGrad& grad : draft.made.grads) vars.push_back(grad.grad);
  if (draft.options.loss)
    for (const VarId v : {draft.network.loss, draft.network.sample_loss, draft.network.correct})
      if (v != kNone) vars.push_back(v);
  return vars;
}

}  // namespace

TorchProgram torch_program(const Network& network, const TorchNotes& notes, const TorchProgramOptions& options) {
  TorchDraft draft(network, notes, options);
  lower_forward(draft);
  if (options.loss) append_loss(draft);
  if (options.training) {
    lower_backward(draft);
    append_updates_of_states(draft);
  } else {
    keep_gradients(draft, torch_storages(network.program, draft.made.net, options.backend, false));
  }
  add_buffers(draft);
  note_views(draft);
  keep_storages(draft, draft.made.storages.output, TorchHolds::Output);
  if (options.training) keep_storages(draft, draft.made.storages.grad_input, TorchHolds::GradInput);
  draft.made.vars.resize(draft.made.program.vars.size());
  draft.made.fetched = fetched(draft);
  return std::move(draft.made);
}

}  // namespace lethe
