#include "memopt/analysis/pins.h"

#include <algorithm>
#include <array>

#include "framework/did_you_mean.h"
#include "framework/error.h"
#include "framework/language/op_def.h"

namespace lethe {
namespace {

constexpr std::array<std::string_view, 6> kReasons = {
    "",           "is a parameter or a state", "is fed",
    "is fetched", "is named in `skip_vars`",   "is a parameter gradient (`skip_grads`)"};

VarId named_var(const Program& program, const std::string& name) {
  const VarId found = find_var(program, name);
  if (found == kNone) {
    std::vector<std::string> known;
    for (const Var& var : program.vars) known.push_back(var.name);
    fail("`skip_vars`: no var named ", quote(name), did_you_mean(name, known));
  }
  return found;
}

}  // namespace

std::string_view reason_of(Pin pin) { return kReasons[static_cast<std::size_t>(pin)]; }

VarId update_gradient(const Op& op) {
  const int slot = op_def(op.type).gradient;
  return slot < 0 ? kNone : op.in[slot];
}

std::vector<Pin> collect_pins(const Program& program, const PinOptions& options) {
  std::vector<Pin> pins(program.vars.size(), Pin::None);
  if (options.skip_grads)
    for (const Block& block : program.blocks)
      for (const Op& op : block.ops)
        if (const VarId gradient = update_gradient(op); gradient != kNone) pins[gradient] = Pin::Gradient;
  for (const std::string& name : options.skip_vars) pins[named_var(program, name)] = Pin::Skipped;
  for (const VarId v : options.fetched) pins[v] = Pin::Fetched;
  for (std::size_t v = 0; v < program.vars.size(); ++v) {
    if (program.vars[v].kind == Kind::Input) pins[v] = Pin::Fed;
    if (is_persistable(program.vars[v].kind)) pins[v] = Pin::Persistable;
  }
  return pins;
}

}  // namespace lethe
