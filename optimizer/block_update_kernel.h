// The kernel of an update by blocks (block_update.h).
#pragma once
#include "framework/language/op_def.h"
#include "optimizer/block_update.h"
#include "optimizer/update_index.h"

namespace lethe {

/// `step`: the slot of the step's number, if the parameter is rounded by it.
template <class Device, class Rule, class T, int States, class RatesOf, class Gradient>
class BlockUpdateKernel final : public Kernel {
 public:
  BlockUpdateKernel(const PrepareArgs& args, const UpdatePart& part, int step)
      : part_(part), rule_(args.op.attrs), rates_(args.op.attrs, args.has_in(kFirstRate + RatesOf::kInputs - 1)) {
    low_ = args.out(0).dtype == DType::bf16;
    step_ = low_ ? step : -1;
    if (low_) rounding_ = rounding_of(args.op.attrs);
    for (int i = 0; i < States; ++i) dtypes_[i] = args.out(i + 1).dtype;
  }

  std::int64_t workspace_bytes() const override { return RatesOf::kWorkspace; }
  void run(const KernelArgs& a) const override {
    BlockUpdate<Rule, T, States, Gradient> update{
        rule_, param(a),    low_,      a.in<Gradient>(States + 1) + part_.in_gradient,
        {},    part_.count, rounding_, step_ < 0 ? nullptr : a.in<std::int64_t>(step_)};
    for (int i = 0; i < States; ++i) update.states[i] = {a.out<unsigned char>(i + 1), dtypes_[i]};
    update_blocks(Device{}, a.stream, update, rates_.read(Device{}, a, kFirstRate));
  }

 private:
  static constexpr int kFirstRate = States + 2;
  void* param(const KernelArgs& a) const {
    return a.out<char>(0) + part_.in_param * static_cast<std::int64_t>(low_ ? sizeof(Bf16) : sizeof(T));
  }

  UpdatePart part_;
  Rule rule_;
  RatesOf rates_;
  bool low_;
  int step_;
  RoundingStream rounding_ = {};
  DType dtypes_[States > 0 ? States : 1] = {};
};

}  // namespace lethe
