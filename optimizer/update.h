// What the update ops share: an update is a rule for one element, run in place over a parameter and its states.
// Slots: param, states..., gradient, learning_rate, (step,) grad_scale?, (step?); the outputs are the first 1 + states
// of them. States may be numbers of 8 bits, and the parameter bf16, which is rounded by the step (block_update.h).
#pragma once
#include <cmath>
#include <vector>

#include "framework/language/op_def.h"
#include "kernels/dtypes.h"
#include "kernels/group.h"
#include "optimizer/block_update_kernel.h"
#include "optimizer/rates.h"
#include "optimizer/update_index.h"

namespace lethe {

/// All of the parameter, or the share that a rank has of it.
UpdatePart part_of(const PrepareArgs& args);
/// Whether it is updated by blocks.
bool goes_by_blocks(const PrepareArgs& args);
/// The slot of the steps done.
int step_slot(const Op& op);
/// What a parameter is computed in; fails unless it is in f32, f64 or, with all that it is rounded by, bf16.
DType checked_wide(const InferArgs& args);

/// On a GPU updates that read the same rates are done in one launch.
template <class Device, class Rule, class T, int States, class RatesOf, class Gradient>
class UpdateKernel final : public Kernel {
 public:
  explicit UpdateKernel(const PrepareArgs& args)
      : part_(part_of(args)),
        rule_(args.op.attrs),
        rates_(args.op.attrs, args.has_in(kFirstRate + RatesOf::kInputs - 1)) {}

  std::int64_t workspace_bytes() const override { return RatesOf::kWorkspace; }
  void run(const KernelArgs& a) const override {
    update_each(Device{}, a.stream, part_.count, Index(rule_, part_, a), rates_.read(Device{}, a, kFirstRate));
  }
#ifdef LETHE_DEVICE_CODE
  bool groups_with(const Kernel& other) const override {
    const auto* const update = dynamic_cast<const UpdateKernel*>(&other);
    return std::is_same_v<Device, Cuda> && update && update->rates_ == rates_;
  }
  void run_group(std::span<const KernelCall> calls) const override {
    if constexpr (!std::is_same_v<Device, Cuda>) {
      Kernel::run_group(calls);
    } else {
      if (!read_the_same(calls)) return Kernel::run_group(calls);
      const auto read = rates_.read(Device{}, calls[0].args, kFirstRate);
      using Element = ReadThenUpdate<Index, std::remove_const_t<decltype(read)>>;
      GroupedLaunches<PackIndex<Element, kPack<T>>> launches(calls[0].args.stream);
      for (const KernelCall& call : calls) {
        const auto& update = static_cast<const UpdateKernel&>(*call.kernel);
        const Index index(update.rule_, update.part_, call.args);
        const PackIndex<Element, kPack<T>> packs(update.part_.count, index.can_pack(), Element{index, read});
        launches.add(packs.size(), packs);
      }
      launches.flush();
    }
  }
#endif

 private:
  static constexpr int kFirstRate = States + 2;
  using Index = UpdateIndex<Rule, T, States, Gradient>;

  bool read_the_same(std::span<const KernelCall> calls) const {
    for (const KernelCall& call : calls)
      for (int slot = kFirstRate; slot < kFirstRate + RatesOf::kInputs - (rates_.scaled ? 0 : 1); ++slot)
        if (call.args.inputs[slot] != calls[0].args.inputs[slot]) return false;
    return true;
  }

  UpdatePart part_;
  Rule rule_;
  RatesOf rates_;
};

/// Kernels of a rule; `Rule<T>` is made from the op's attributes.
template <template <class> class Rule, int States, template <class> class RatesOf = GivenRates>
struct Update {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    return for_float(args.in(States + 1).dtype, [&](auto zero) -> std::unique_ptr<Kernel> {
      using Gradient = decltype(zero);
      using T = Compute<Gradient>;
      if (goes_by_blocks(args))
        return std::make_unique<BlockUpdateKernel<Device, Rule<T>, T, States, RatesOf<T>, Gradient>>(
            args, part_of(args), step_slot(args.op));
      return std::make_unique<UpdateKernel<Device, Rule<T>, T, States, RatesOf<T>, Gradient>>(args);
    });
  }
};

/// Shape rule: states are as the parameter or a rank's share of it (kRanks), in its wide dtype or in 8 bits: v and
/// square as udynamic8, others as dynamic8. The gradient is of that shape, too, and may be a low float.
std::vector<Type> infer_update(const InferArgs& args);

}  // namespace lethe
