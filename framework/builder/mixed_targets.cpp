#include "framework/builder/mixed_targets.h"

#include <algorithm>
#include <utility>

#include "framework/error.h"
#include "framework/language/op_def.h"

namespace lethe {
namespace {

class MixedTargets {
 public:
  explicit MixedTargets(Network& network) : network_(network), program_(network.program), target_(network.target) {}

  void run() {
    const Var target = program_.vars[target_];
    check(target.kind == Kind::Input && target.shape.size() == 1 && !network_.ignored, network_.name, kExpected);
    other_ = add_input(target, other_target(target.name));
    share_ = add_input({.name = "", .shape = target.shape, .dtype = DType::f32}, share_of_target(target.name));
    std::vector<Op> ops = std::exchange(program_.blocks[0].ops, {});
    for (std::size_t i = 0; i < ops.size(); ++i) {
      const Op op = ops[i];
      program_.blocks[0].ops.push_back(op);
      if (std::ranges::find(op.in, target_) == op.in.end() || op.type == "accuracy") continue;
      check(op.type == "softmax_cross_entropy", network_.name, kExpected, "; ", op.type, " reads them");
      const VarId own = op.out[0], mixed = mix(op);
      for (std::size_t later = i + 1; later < ops.size(); ++later) std::ranges::replace(ops[later].in, own, mixed);
      if (network_.sample_loss == own) network_.sample_loss = mixed;
    }
  }

 private:
  static constexpr const char* kExpected = ": samples are mixed where cross_entropy losses read a label of each";

  VarId add_input(Var like, const std::string& name) {
    like.name = name;
    like.kind = Kind::Input;
    network_.inputs.push_back(add_var(program_, like));
    return network_.inputs.back();
  }

  VarId append(const char* type, std::vector<VarId> in, const Attrs& attrs, const std::string& name) {
    return append_op(program_, 0, Role::Forward, type, std::move(in), attrs, name).front();
  }

  /// other + share * (own - other)
  VarId mix(const Op& loss) {
    const VarId own = loss.out[0];
    const std::string name = program_.vars[own].name;
    const DType dtype = program_.vars[own].dtype;
    const VarId other = append(loss.type.c_str(), {loss.in[0], other_}, loss.attrs, name + "/other");
    if (program_.vars[share_].dtype != dtype)
      share_ = append(kCast, {share_}, {{"dtype", std::string(name_of(dtype))}}, name + "/share");
    const VarId apart = append("sub", {own, other}, {}, name + "/apart");
    const VarId part = append("mul", {apart, share_}, {}, name + "/part");
    return append(kAdd, {other, part}, {}, name + "/mixed");
  }

  Network& network_;
  Program& program_;
  const VarId target_;
  VarId other_ = kNone, share_ = kNone;
};

}  // namespace

std::string other_target(const std::string& target) { return target + "@OTHER"; }
std::string share_of_target(const std::string& target) { return target + "@SHARE"; }

void mix_targets(Network& network) {
  check(network.correct != kNone, network.name, ": samples are mixed where cross_entropy losses read a label of each");
  MixedTargets(network).run();
}

}  // namespace lethe
