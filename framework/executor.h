// Runs a program as a plan says. Everything is resolved when it is made; a step is a flat walk that allocates nothing,
// but where the plan has buffers on demand.
#pragma once
#include <vector>

#include "framework/device.h"
#include "framework/plan.h"
#include "framework/prepared.h"
#include "framework/store.h"

namespace lethe {

/// Told of each op that runs a kernel, for tests and tracing.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void before(const Op&, const KernelArgs&) {}
  virtual void after(const Op&, const KernelArgs&) {}
  virtual void deleted(VarId) {}
};

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

  /// Null: nobody. Must outlive the steps it is told of.
  void observe(Observer* observer) { observer_ = observer; }

 private:
  struct Call {
    const Kernel* kernel;  // null: a delete_var
    const Op* op;
    KernelArgs args;
    void **inputs, **outputs;  // what args point to
  };
  Call make_call(const Op& op, Place workspace, Prepared& prepared);
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
  std::vector<Call> calls_;
  bool any_on_demand_ = false;
  Observer* observer_ = nullptr;
};

}  // namespace lethe
