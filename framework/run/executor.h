// Runs a program as a plan says. Everything is resolved when it is made; a step is a walk over its blocks that
// allocates nothing, but where the plan has buffers on demand. Loops and branches it runs itself: a condition costs one
// copy of a byte to the host. On a device that records, what lies between loops, branches and the point from which the
// next inputs are copied becomes one call when it runs for the second time.
#pragma once
#include <optional>
#include <vector>

#include "framework/run/calls.h"
#include "framework/run/next_inputs.h"
#include "framework/run/observer.h"

namespace lethe {

/// The value of a scalar float var.
double scalar_of(const Var& var, const void* value);

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
  /// Feeds the next step, while this one may still be running: `data` must stay as it is until run() or drop_next()
  /// returns. Nothing else may use the arena in between.
  void feed_next(VarId var, const void* data, std::int64_t bytes);
  /// The next step is not to have what feed_next() brought.
  void drop_next() { next_.drop(); }
  void fetch(VarId var, void* data, std::int64_t bytes) const;
  double fetch_scalar(VarId var) const;
  /// Where a var's value lies on the device after a step; fails as fetch() does.
  const void* address(VarId var) const;
  const Program& program() const { return program_; }
  Device& device() const { return device_; }

  /// Loops that were stopped at their max_trips in the last step, while their condition still held.
  std::int64_t stopped_loops() const { return stopped_loops_; }

  /// Whether steps are replayed from recordings: false where one could not be made; none before one was tried, and on a
  /// device that records none.
  std::optional<bool> replays() const { return replays_; }

  /// Null: nobody. Must outlive the steps it is told of.
  void observe(Observer* observer) { observer_ = observer; }

 private:
  std::vector<NextInputs::Room> rooms_of(const Staging& staging) const;
  void run_block(BlockId block);
  void run_calls(std::vector<Call>& calls, Piece& piece);
  void run_kernel(Call& call);
  static std::size_t run_group(const std::vector<KernelCall>& calls);
  void run_loop(const Op& op, Carries& carries);
  void run_branch(const Op& op, Carries& carries);
  void hand_on(std::vector<Call>& copies);
  void give_back(VarId var);
  bool is_true(VarId condition);
  void take_memory(Call& call);
  void check_feed(VarId var, std::int64_t bytes) const;

  const Program& program_;
  Device& device_;
  const std::vector<bool> kept_;  // by VarId; empty: all
  PlannedMemory memory_;
  Calls calls_;
  const bool records_;
  std::optional<bool> replays_ = {};
  NextInputs next_;
  std::int64_t stopped_loops_ = 0;
  Observer* observer_ = nullptr;
};

}  // namespace lethe
