// Gradients as ops: walks the forward ops in reverse and lets each op's rule append the ops of its gradient to the
// same Program. A var with several readers gets the sum of what they give, in a fixed order; what needs no gradient
// gets none. The gradient of a loop is a loop that takes its trips backwards, that of a branch is a branch.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "framework/language/program.h"

namespace lethe {

/// How a rule whose ops stand in another block than the forward op reaches that op's vars.
class GradSite {
 public:
  virtual ~GradSite() = default;
  /// The value that a forward var had when the op ran.
  virtual VarId value(VarId forward) = 0;
  /// A var that collects the gradient of a forward var and is changed in place.
  virtual VarId accumulator(VarId forward) = 0;
  /// What later readers have given a forward var, which has nothing then; kNone: nothing, or it is
  /// collected.
  virtual VarId taken(VarId forward) = 0;
};

/// What a gradient rule sees, and what it fills: `set(i, gradient of input i)`.
class GradBuilder {
 public:
  /// Without a site the rule's ops stand in the forward op's own block.
  GradBuilder(Program& program, BlockId block, const Op& forward, std::vector<VarId> dy, std::vector<bool> wants,
              GradSite* site = nullptr)
      : program_(program),
        block_(block),
        forward_(forward),
        dy_(std::move(dy)),
        wants_(std::move(wants)),
        dx_(forward_.in.size(), kNone),
        site_(site) {}

  VarId x(int slot) const { return slot < inputs() ? forward_.in[slot] : kNone; }
  VarId y(int slot = 0) const { return forward_.out[slot]; }
  /// Gradient of output `slot`; kNone if nothing that leads to the loss reads it. For a rule with one output never
  /// kNone.
  VarId dy(int slot = 0) const { return dy_[slot]; }
  int inputs() const { return static_cast<int>(forward_.in.size()); }
  /// Whether input `slot` is there and its gradient is needed.
  bool wants(int slot) const { return slot < inputs() && wants_[slot]; }
  const Attrs& attrs() const { return forward_.attrs; }
  const Var& var(VarId id) const { return program_.vars[id]; }

  /// Appends an op of role Backward; gives its outputs (the second form: its only one). Output names follow `like`, the
  /// var whose gradient it is: like.name + "@GRAD".
  std::vector<VarId> call_all(const std::string& type, std::vector<VarId> in, Attrs attrs,
                              const std::vector<VarId>& like);
  VarId call(const std::string& type, std::vector<VarId> in, Attrs attrs, VarId like);
  /// Emits `type` and takes its output as the gradient of input `slot`, if that is wanted.
  void set(int slot, const std::string& type, std::vector<VarId> in, Attrs attrs = {});
  /// Takes an existing var as the gradient of input `slot`, if that is wanted.
  void set(int slot, VarId gradient) {
    if (wants(slot)) dx_[slot] = gradient;
  }
  /// For a rule that adds to a gradient in place: the var that collects that of input `slot`, and an op with `updates`
  /// on it.
  VarId accumulator(int slot);
  void update(const std::string& type, std::vector<VarId> in, Attrs attrs = {});
  /// For a rule that adds to what later readers have given input `slot`: that, or kNone. What the rule then
  /// takes as the gradient must be the sum of both.
  VarId given(int slot) { return site_ ? site_->taken(x(slot)) : kNone; }
  const std::vector<VarId>& dx() const { return dx_; }

 private:
  std::vector<VarId> values_of(std::vector<VarId> vars);

  Program& program_;
  BlockId block_;
  const Op forward_;  // a copy: appending may move the program's ops
  std::vector<VarId> dy_;
  std::vector<bool> wants_;
  std::vector<VarId> dx_;
  GradSite* site_;
};

struct ParamGrad {
  VarId param, grad;
};

/// What the gradient of a var is in: that of a parameter in bf16 in f32, since an update takes all of it, unless it is
/// to stay narrow; any other in the var's own dtype.
DType gradient_dtype(const Var& var);

/// Appends the gradient of `loss` (a scalar of block 0) with respect to every Param that leads to it, but for those
/// that are `frozen`, plus those in `also`. Fails if an op on the way has no gradient rule. Gives the pairs in the
/// order of the params' ids. Backward ends where only frozen params and inputs lead on. What backward reads of a loop's
/// trips goes to stash vars of `max_trips` entries, which this adds to the forward part; with the loop's attribute
/// `recompute` only what the loop carries. `seed` is the gradient of the loss itself, a scalar of its dtype; without
/// one 1. `narrow`: gradients of parameters of two axes or more that a cast widens stay in backward's own dtype.
std::vector<ParamGrad> append_backward(Program& program, VarId loss, const std::vector<VarId>& also = {},
                                       VarId seed = kNone, const std::set<VarId>& frozen = {}, bool narrow = false);

}  // namespace lethe
