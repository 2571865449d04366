// Inputs of the next step, handed over while a step runs and taken when the next begins. Where the plan has room for
// them beside the end of the step, a device with copies of its own brings them in meanwhile.
#pragma once
#include <vector>

#include "framework/language/program.h"
#include "framework/run/device.h"

namespace lethe {

class NextInputs {
 public:
  /// Where an input lies, and where it waits: null, on the host.
  struct Room {
    void* place = nullptr;
    void* staged = nullptr;
  };
  /// `rooms`: by VarId.
  NextInputs(Device& device, std::vector<Room> rooms);
  ~NextInputs();
  NextInputs(const NextInputs&) = delete;
  NextInputs& operator=(const NextInputs&) = delete;

  /// `data` must stay as it is until take() or drop() returns.
  void give(VarId var, const void* data, std::int64_t bytes);
  /// Puts what was given into its place; the stream waits for that.
  void take();
  /// Nothing is given any more.
  void drop();

 private:
  struct Given {
    VarId var;
    const void* data;
    std::int64_t bytes;
  };
  Device& device_;
  std::vector<Room> rooms_;
  std::vector<Given> given_;
};

}  // namespace lethe
