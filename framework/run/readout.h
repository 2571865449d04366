// Values that are read together when a step has run, with one wait for the device.
#pragma once
#include <span>
#include <vector>

#include "framework/run/executor.h"

namespace lethe {

class Readout {
 public:
  /// `executor` must outlive it.
  Readout(const Executor& executor, std::vector<VarId> vars);

  /// Waits for the step and takes all of them; allocates nothing.
  void fetch();

  /// What was fetched last of one of them.
  template <class T>
  std::span<const T> values(VarId var) const {
    const CopyOut& copy = copies_[place_of(var)];
    return {static_cast<const T*>(copy.to_host), static_cast<std::size_t>(copy.bytes) / sizeof(T)};
  }
  double scalar(VarId var) const;

 private:
  std::size_t place_of(VarId var) const;

  const Executor& executor_;
  std::vector<VarId> vars_;
  std::vector<CopyOut> copies_;  // by place in vars_
  HostMemory memory_;
};

}  // namespace lethe
