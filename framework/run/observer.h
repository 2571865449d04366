// Who watches a program run.
#pragma once
#include "framework/language/kernel.h"
#include "framework/language/program.h"

namespace lethe {

/// Told of each op that runs a kernel, for tests and tracing.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void before(const Op&, const KernelArgs&) {}
  virtual void after(const Op&, const KernelArgs&) {}
  virtual void deleted(VarId) {}
  /// A loop or a branch has handed a value on, as the op `assign` would, into memory that may be the same.
  virtual void carried(const Op&, const KernelArgs&) {}
};

}  // namespace lethe
