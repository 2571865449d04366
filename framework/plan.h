// Where every byte lives, as plain data between the planner and the executor. Params and States are not in it: they
// live in the Store.
#pragma once
#include <cstdint>
#include <vector>

#include "framework/prepared.h"
#include "framework/program.h"

namespace lethe {

/// Bytes by what they are for.
struct Bytes {
  std::int64_t params = 0, states = 0, inputs = 0, temps = 0, workspace = 0;
  std::int64_t total() const { return params + states + inputs + temps + workspace; }
  bool operator==(const Bytes&) const = default;
};

struct Place {
  int buffer = -1;          // index into Plan::buffers; -1: in the Store
  std::int64_t offset = 0;  // bytes
  bool operator==(const Place&) const = default;
};

struct Plan {
  std::vector<Place> vars;            // by VarId; a view has the place of what it shows
  std::vector<std::int64_t> buffers;  // bytes of each
  int workspace = -1;                 // the buffer that every op's workspace is in, at offset 0; -1: none needed
  Bytes bytes;                        // what the device is asked for, by category, params and states included
  bool operator==(const Plan&) const = default;
};

/// The var whose memory each var is in: itself, but for views. By VarId.
std::vector<VarId> storage_of(const Program& program);

/// `--memopt none`: a buffer for each var, held to the end of the step, and one workspace as large as the largest.
Plan plan_none(const Program& program, Prepared& prepared);

}  // namespace lethe
