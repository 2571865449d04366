// The walk of append_backward: through the forward ops in reverse, block by block. Each forward block that is being
// walked through has a frame; the ops of its gradient go to a block of their own.
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "framework/autodiff/autodiff.h"
#include "framework/autodiff/stash.h"

namespace lethe {

class Backward final : public GradSite {
 public:
  /// `needs`: by VarId, whether a gradient is wanted.
  Backward(Program& program, std::vector<bool> needs);

  void give(VarId var, VarId gradient);
  /// The sum of what was given to a var, which has nothing then; kNone: nothing was given.
  VarId take(VarId var);
  /// Appends the gradient of block 0.
  void run();

  VarId value(VarId forward) override;
  VarId accumulator(VarId forward) override;
  VarId taken(VarId forward) override;

 private:
  struct Frame {
    BlockId forward = 0, grad = 0;
    bool direct = false;               // the values of the forward block are still there
    BlockId owner = -1;                // the first block of the forward op that the block belongs to
    std::vector<VarId> carried = {};   // of a loop's body: by the loop
    std::int64_t max_trips = 0;        // of a loop's body
    bool repeats = false;              // of a loop's body: it runs again, from what a trip begins with
    VarId index = kNone;               // of a loop's body: counter of the trip in the gradient
    std::map<VarId, VarId> kept = {};  // values of forward vars in the block of the gradient
  };

  void walk(std::vector<Op> forward);
  void note_writes(const Op& op);
  void differentiate(const Op& op);
  void differentiate_loop(const Op& op);
  void differentiate_branch(const Op& op);
  bool leads_to_loss(const Op& op) const;
  std::vector<std::size_t> carried_to_loss(const Op& op) const;

  /// A trip of a loop: the ops of its body, the vars that hold what is carried when it begins (kNone: not read), and
  /// those when it ends.
  struct Body {
    std::vector<Op> ops = {};
    std::vector<VarId> begins = {}, ends = {};
  };
  std::vector<VarId> through_body(const Op& op, const Op& grad, const std::vector<std::size_t>& active, VarId index);
  Body repeat(BlockId body, const Body& trip);
  std::vector<Op> repeat_ops(BlockId body, BlockId from, BlockId to, std::map<VarId, VarId>& copy_of);
  VarId outer_value(VarId var);
  VarId repeat_var(VarId var, BlockId block, std::map<VarId, VarId>& copy_of);
  std::vector<VarId> own_memory(std::vector<VarId> results);

  /// The var itself, which backward reads when all forward ops are done.
  VarId as_left(VarId var) const;
  /// Fails if an op that the walk has met writes to `memory`, where `var` is.
  void check_unwritten(VarId var, VarId memory) const;
  bool is_updated(BlockId block, VarId var) const;
  VarId source_of(VarId var) const;
  std::size_t home_of(VarId var) const;  // index into frames_
  BlockId here() const { return frames_.back().grad; }
  BlockId add_block();
  void grow();  // for vars that were added
  VarId append(BlockId block, const std::string& type, std::vector<VarId> in, Attrs attrs, const std::string& name);
  VarId zeros_like(VarId var, BlockId block);
  VarId sum(VarId var, BlockId block);

  Program& program_;
  std::vector<bool> needs_;                // by VarId
  std::vector<std::vector<VarId>> given_;  // by VarId
  std::map<VarId, VarId> accumulators_;
  std::map<VarId, Op> copies_;      // made again where backward reads them (copies_kept)
  std::map<VarId, VarId> sources_;  // of kept values that a repeated body reads
  std::vector<VarId> memory_of_;    // by VarId: the var itself, or what it is a view of
  std::set<VarId> written_later_;   // what ops that the walk has met change in place, by memory
  std::vector<Frame> frames_;       // outermost first
  Stash stash_;
};

}  // namespace lethe
