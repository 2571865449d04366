// Guests: rooms that give a network other memory than the memory stage does, and a program of their own. A guest
// registers itself before main under the word before '=' of its settings; no other source names one;
// train/CMakeLists.txt compiles its folder.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "framework/autodiff/autodiff.h"
#include "framework/builder/network.h"
#include "memopt/memopt.h"

namespace lethe {

/// A network as a guest runs it.
struct GuestProgram {
  Program program = {};               // of a training step all but its updates
  std::vector<ParamGrad> grads = {};  // of a training step
  /// `program`: that above, with whatever was appended to it.
  std::function<Planned(const Program& program, Prepared& prepared)> plan = {};
  /// What `program` takes if nothing is shared.
  std::function<Plan(Prepared& prepared)> plan_unshared = {};
};

struct MemoryGuest;

/// What a setting asks a guest for.
struct GuestMemory {
  const MemoryGuest* guest = nullptr;
  bool training = false;  // it is the memory of training steps, else of evaluation
  /// Takes the network as built for training, with values of the dtype. Fails if the guest cannot run it.
  std::function<GuestProgram(const Network& network, DType dtype)> lower = {};
};

struct MemoryGuest {
  const char* word;                              // before '='
  const char *for_training, *for_evaluation;     // settings that the commands which train and evaluate take
  const char* help;                              // of both
  const char* elsewhere;                         // for commands that do not take it: which one to ask instead
  GuestMemory (*read)(const std::string& text);  // what stands after '='; fails if it means nothing
};

/// Makes a guest known before main; fails if another has its word.
struct RegisterGuest {
  explicit RegisterGuest(const MemoryGuest& guest);
};

const std::vector<MemoryGuest>& memory_guests();  // by word
/// What the setting asks of the guest whose word it begins with; null if it begins with none's. Fails as `read` does.
std::shared_ptr<const GuestMemory> guest_memory(const std::string& setting);

}  // namespace lethe
