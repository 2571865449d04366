// What a step does, resolved beforehand: for each block a list of calls, cut into pieces that a device may record.
#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "framework/run/planned_memory.h"
#include "framework/run/prepared.h"

namespace lethe {

struct Call {
  const Kernel* kernel = nullptr;  // null: a delete_var, a loop or a branch
  const Op* op = nullptr;
  KernelArgs args = {};
  void **inputs = nullptr, **outputs = nullptr;  // what args point to
  int carries = -1;                              // of a loop or a branch: index into Calls::carries
  int group = -1;  // of the first of several calls that may be done in one launch: index into Calls::groups
};

/// Calls of a block, [begin, end): one loop or branch, or what lies between two of them and the mark.
struct Piece {
  std::size_t begin = 0, end = 0;
  bool marks = false;                        // the plan's staging is idle from here on
  bool warm = false;                         // it has run: libraries set themselves up in their first calls
  std::function<void()> recorded = nullptr;  // on a device that records
};

/// The copies by which a loop or a branch hands values on: into a loop, and out of each block.
struct Carries {
  std::int64_t max_trips = 0;  // of a loop; 0: a branch
  std::vector<Call> enter = {};
  std::vector<std::vector<Call>> leave = {};  // by the op's blocks
};

struct Calls {
  std::vector<std::vector<Call>> blocks;   // by BlockId
  std::vector<std::vector<Piece>> pieces;  // by BlockId
  std::vector<Carries> carries;
  std::vector<std::vector<KernelCall>> groups;
  std::vector<std::vector<void*>> slots;    // argument lists that the calls point into
  std::vector<std::unique_ptr<Op>> copies;  // the ops of the copies in carries
};

/// The program's calls, with the addresses that are known; program and kernels must outlive them.
Calls make_calls(const Program& program, const Plan& plan, Prepared& prepared, const PlannedMemory& memory,
                 Device& device);
/// Looks all addresses of a call up again.
void look_up(const PlannedMemory& memory, Call& call);

}  // namespace lethe
