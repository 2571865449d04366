// Runs a program as a plan says. Everything is resolved when it is made; a step is a walk over its blocks that
// allocates nothing, but where the plan has buffers on demand. Loops and branches it runs itself: a condition costs one
// copy of a byte to the host. On a device that records, what lies between loops and branches becomes one call when it
// runs for the second time: mostly that is the whole step.
#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "framework/device.h"
#include "framework/observer.h"
#include "framework/plan.h"
#include "framework/prepared.h"
#include "framework/store.h"

namespace lethe {

class Executor {
 public:
  /// Adds the program's Params and States to the store if they are missing; takes the plan's buffers from the device.
  /// With `arena`, memory of at least that size, the plan's first buffer is put there instead: programs that run in
  /// turn need one. Program, store and arena must outlive it.
  Executor(const Program& program, const Plan& plan, Prepared& prepared, Store& store, Buffer* arena = nullptr);

  /// One step.
  void run();
  /// Copies host values into an Input var / any var's value out; `bytes` must be the var's. Fails for a var
  /// that the plan does not keep to the end of the step.
  void feed(VarId var, const void* data, std::int64_t bytes);
  void fetch(VarId var, void* data, std::int64_t bytes) const;
  /// The value of a scalar float var.
  double fetch_scalar(VarId var) const;

  /// Loops that were stopped at their max_trips in the last step, while their condition still held.
  std::int64_t stopped_loops() const { return stopped_loops_; }

  /// Null: nobody. Must outlive the steps it is told of.
  void observe(Observer* observer) { observer_ = observer; }

 private:
  struct Call {
    const Kernel* kernel = nullptr;  // null: a delete_var, a loop or a branch
    const Op* op = nullptr;
    KernelArgs args = {};
    void **inputs = nullptr, **outputs = nullptr;  // what args point to
    int carries = -1;                              // of a loop or a branch: index into carries_
  };
  /// Calls of a block, [begin, end): one loop or branch, or what lies between two of them.
  struct Piece {
    std::size_t begin = 0, end = 0;
    bool warm = false;                         // it has run: libraries set themselves up in their first calls
    std::function<void()> recorded = nullptr;  // on a device that records
  };
  /// The copies by which a loop or a branch hands values on: into a loop, and out of each block.
  struct Carries {
    std::int64_t max_trips = 0;  // of a loop; 0: a branch
    std::vector<Call> enter = {};
    std::vector<std::vector<Call>> leave = {};  // by the op's blocks
  };
  void take_buffers(const Plan& plan, Buffer* arena);
  void find_in_store(Store& store);
  std::vector<Call> make_calls(BlockId block, const Plan& plan, Prepared& prepared);
  Call make_call(const Op& op, Place workspace, Prepared& prepared);
  Call make_copy(VarId from, VarId to, Prepared& prepared);
  int make_carries(const Op& op, Prepared& prepared);

  void make_pieces();
  void run_block(BlockId block);
  void run_calls(std::vector<Call>& calls, Piece& piece);
  void run_kernel(Call& call);
  void run_loop(const Op& op, Carries& carries);
  void run_branch(const Op& op, Carries& carries);
  void hand_on(std::vector<Call>& copies);
  void give_back(VarId var);
  bool is_true(VarId condition);
  void* address(VarId var) const;
  void take_memory(Call& call);

  const Program& program_;
  Device& device_;
  std::vector<Place> places_;              // by VarId
  std::vector<void*> in_store_;            // by VarId; null unless it is there
  std::vector<PlannedBuffer> planned_;     // by buffer
  std::vector<bool> kept_;                 // by VarId; empty: all
  std::vector<Buffer> buffers_;            // those that are held
  std::vector<void*> bases_;               // of buffers, null while not held
  std::vector<std::vector<void*>> slots_;  // argument lists that the calls point into
  std::vector<std::vector<Call>> calls_;   // by block
  std::vector<Carries> carries_;
  std::vector<std::unique_ptr<Op>> copies_;  // the ops of the copies in carries_
  bool any_on_demand_ = false;
  std::vector<std::vector<Piece>> pieces_;  // by block
  bool records_ = false;
  std::int64_t stopped_loops_ = 0;
  Observer* observer_ = nullptr;
};

}  // namespace lethe
