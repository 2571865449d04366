// Runs a program as a plan says. Everything is resolved when it is made; a step is a flat walk that allocates nothing.
#pragma once
#include <functional>
#include <vector>

#include "framework/device.h"
#include "framework/plan.h"
#include "framework/prepared.h"
#include "framework/store.h"

namespace lethe {

class Executor {
 public:
  /// Adds the program's Params and States to the store if they are missing; takes the plan's buffers from the device.
  /// Program and store must outlive it.
  Executor(const Program& program, const Plan& plan, Prepared& prepared, Store& store);

  /// One step.
  void run();
  /// Copies host values into an Input var / any var's value out; `bytes` must be the var's.
  void feed(VarId var, const void* data, std::int64_t bytes);
  void fetch(VarId var, void* data, std::int64_t bytes) const;
  /// The value of a scalar float var.
  double fetch_scalar(VarId var) const;

  /// Called after each op with the op and its outputs' addresses, for tests and tracing.
  using Observer = std::function<void(const Op& op, void* const* outputs)>;
  void observe(Observer observer) { observer_ = std::move(observer); }

 private:
  struct Call {
    const Kernel* kernel;
    const Op* op;
    KernelArgs args;
  };
  const Program& program_;
  Device& device_;
  std::vector<Buffer> buffers_;
  std::vector<void*> addresses_;           // by VarId
  std::vector<std::vector<void*>> slots_;  // argument lists that the calls point into
  std::vector<Call> calls_;
  Observer observer_;
};

}  // namespace lethe
