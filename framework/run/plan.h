// Where every byte lives, as plain data between the planner and the executor. Params and States are not in it: they
// live in the Store.
#pragma once
#include <cstdint>
#include <vector>

#include "framework/language/program.h"

namespace lethe {

/// Bytes by what they are for, as taken from the device at most at one time.
struct Bytes {
  std::int64_t params = 0, states = 0, inputs = 0, temps = 0, workspace = 0;  // workspaces in an arena count as temps
  std::int64_t total() const { return params + states + inputs + temps + workspace; }
  bool operator==(const Bytes&) const = default;
};

struct Place {
  int buffer = -1;          // index into Plan::buffers; -1: in the Store, or nothing
  std::int64_t offset = 0;  // bytes
  bool operator==(const Place&) const = default;
};

struct PlannedBuffer {
  std::int64_t bytes = 0;
  bool on_demand =
      false;  // taken by the first op that writes into it, given back by a delete_var; else held throughout
  bool operator==(const PlannedBuffer&) const = default;
};

/// Memory that is idle from an op on to the end of the step: the inputs of the next are copied there meanwhile.
struct Staging {
  std::vector<Place> inputs;  // by VarId; no buffer: it is no input. Empty: there is no such memory
  int op = 0;                 // of block 0: from when it begins
  bool operator==(const Staging&) const = default;
};

struct Plan {
  std::vector<Place> vars;                     // by VarId; a view lies within what it shows
  std::vector<std::vector<Place>> workspaces;  // by block and op; no buffer: none needed
  std::vector<PlannedBuffer> buffers;
  std::vector<bool> kept;      // by VarId: nothing else is written into its memory in the step; empty: all are
  std::int64_t on_demand = 0;  // most bytes of buffers on demand held at once; part of bytes.temps
  Bytes bytes;
  Staging staging = {};
  bool operator==(const Plan&) const = default;
};

/// Bytes that each op needs beside its vars while it runs, on one device.
struct Workspaces {
  std::vector<std::vector<std::int64_t>> bytes;  // by block and op; 0: none
  std::int64_t alignment = 1;                    // of every buffer of the device, in bytes
};

/// A plan in which vars lie in buffers as `places` says, by VarId (no buffer: in the Store). A buffer ends with the var
/// that reaches furthest; one more is workspace for all ops in turn, as large as the largest.
Plan plan_buffers(const Program& program, std::vector<Place> places, const Workspaces& workspaces);

/// `--memopt none`: a buffer for each var, held to the end of the step, and one workspace.
Plan plan_none(const Program& program, const Workspaces& workspaces);

}  // namespace lethe
