// Block 0 of a training program in flat arrays: what the search for values to compute again walks through thousands of
// times. Vars that show one another are one value, known by their root.
#pragma once
#include <cstdint>
#include <vector>

#include "framework/run/plan.h"
#include "memopt/analysis/pins.h"
#include "memopt/recompute/seconds.h"

namespace lethe {

/// An operand whose maker may do the op's work on the way (fuse_sums, fuse_activations), and what it takes then.
struct TapeJoin {
  VarId value = kNone;
  double seconds = 0;
};

/// A run of a kernel.
struct TapeCall {
  std::vector<VarId> in = {}, out = {};                // values, each once
  std::vector<std::pair<VarId, VarId>> in_place = {};  // value read, value that may be written over it
  std::vector<TapeJoin> joins = {};
  std::int64_t workspace = 0;  // bytes
  double seconds = 0;
};

struct TapeOp {
  TapeCall call = {};
  TapeCall again = {};  // gives output 0 alone once more, if the other outputs are there (OpDef::again)
  bool has_again = false;
  bool is_view = false;  // runs no kernel
  bool repeats = false;  // may run once more: changes nothing, draws nothing that has gone on
  int until = 0;         // before this op: later its inputs are others
};

struct TapeValue {
  std::int64_t bytes = 0;  // rounded up; 0: in the Store
  int maker = -1;          // the op that may make it again; -1: it is always kept
  bool given = false;      // there from the first step to the last
  bool lasts = false;      // to the end of the step, from when it is made
  int turn = 0;            // of its part: from there on it need not be there
  bool read_by_backward = false;
};

/// Forward ops and their backward; the program of a batch in parts has several (framework/ranks/micro_batches.h).
struct TapePart {
  int begin = 0, turn = 0, end = 0;  // ops; the first after the forward ones
};

struct Tape {
  std::vector<TapeOp> ops;        // as in block 0
  std::vector<TapeValue> values;  // by VarId of the root
  std::vector<VarId> root;        // by VarId
  std::vector<TapePart> parts;    // in their order, all ops together
  // Values that may be made again and are worth it, in the order of their makers; those of all parts that are alike
  // stand together, as what is done with them is the same.
  std::vector<std::vector<VarId>> candidates;
  int second_pass = 0;         // the op with which backward begins once more (two_passes.h); their number: it does not
  double seconds = 0;          // of a step
  double forward_seconds = 0;  // up to the turn of each part
};

/// What a device makes of programs.
struct TapeDevice {
  DeviceKind kind = DeviceKind::Cpu;
  bool fuses = false;
  SecondsOf seconds_of = {};
};

/// `program`: with backward and updates as they will run.
Tape tape_of(const Program& program, const std::vector<Pin>& pins, const Workspaces& workspaces,
             const TapeDevice& device);

}  // namespace lethe
