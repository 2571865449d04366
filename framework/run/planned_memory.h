// The memory of a program under a plan: its buffers, taken from the device, and what lies in the store.
#pragma once
#include <vector>

#include "framework/run/device.h"
#include "framework/run/plan.h"
#include "framework/run/store.h"

namespace lethe {

class PlannedMemory {
 public:
  /// Adds the program's Params and States to the store if they are missing. With `arena`, memory of at least its size,
  /// the first buffer is put there.
  PlannedMemory(const Program& program, const Plan& plan, Store& store, Buffer* arena);

  /// Null while the buffer is not held.
  void* address(VarId var) const { return places_[var].buffer < 0 ? in_store_[var] : address(places_[var]); }
  void* address(Place place) const;

  /// Whether buffers come and go within a step.
  bool any_on_demand() const { return any_on_demand_; }
  /// Takes the buffer that the var is in, if it is not held / gives it back.
  void take(VarId var);
  void give_back(VarId var);

 private:
  void take_buffer(std::size_t buffer);

  Device& device_;
  std::vector<Place> places_;           // by VarId
  std::vector<void*> in_store_;         // by VarId; null unless it is there
  std::vector<PlannedBuffer> planned_;  // by buffer
  std::vector<Buffer> buffers_;         // those that are held
  std::vector<void*> bases_;            // of buffers, null while not held
  bool any_on_demand_ = false;
};

}  // namespace lethe
