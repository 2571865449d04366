// What the memory stage makes of a program.
#pragma once
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "framework/run/prepared.h"
#include "memopt/options.h"
#include "memopt/passes/arena.h"

namespace lethe {

/// What ops do once more.
struct Recomputed {
  int ops = 0;
  std::int64_t mult_adds = 0;
  double overhead = 0;  // predicted: the time of that, as a share of a step without
  // Of level 3: bytes of the least plan that was found at any price.
  std::optional<std::int64_t> least_feasible = {};
  double forward = 0;      // of a sweep: the overhead of a forward pass
  std::string costs = {};  // OpCosts::name
};

/// Bytes, and what computing again takes for them.
struct PricedBytes {
  Bytes bytes = {};
  Recomputed recomputed = {};
};

struct Planned {
  Program program;  // as it will run
  Plan plan = {};
  Liveness live = {};  // of the program
  Sharing sharing = {};
  Workspaces workspaces = {};                 // of the program
  std::optional<ArenaFacts> arena = {};       // of levels 2 and 3
  std::optional<Recomputed> recomputed = {};  // of level 3, and else if there is any
  // Of gradients that are made in two passes: what the second one takes, which is a part of `recomputed`.
  std::optional<Recomputed> second_pass = {};
  std::vector<std::string> notes = {};  // what was asked for and could not be done
  // If asked for: what each step made of the program, and every decision; in a whole plan all stands in the log.
  std::vector<std::string> steps = {}, log = {};
  // Milliseconds spent on kernels that were not there yet; on liveness; on everything but kernels.
  double kernels_ms = 0, liveness_ms = 0, plan_ms = 0;
};

/// The bytes of all that the plan places.
inline std::int64_t bytes_of(const Planned& planned) { return planned.plan.bytes.total(); }

inline bool takes_fewer_bytes(const Planned& a, const Planned& b) { return bytes_of(a) < bytes_of(b); }

/// Of two that keep a budget the one that computes less again, else the one of fewer bytes.
inline bool computes_less_again(const Planned& a, const Planned& b, std::int64_t budget) {
  const auto overhead = [](const Planned& p) { return p.recomputed ? p.recomputed->overhead : 0; };
  if (std::max(bytes_of(a), bytes_of(b)) <= budget && overhead(a) != overhead(b)) return overhead(a) < overhead(b);
  return bytes_of(a) < bytes_of(b);
}

/// Keeps the plan of another form of the program if it is better: of equals what is in hand.
template <class IsBetter = bool (*)(const Planned&, const Planned&)>
void keep_better(Planned& made, Planned other, const IsBetter& is_better = takes_fewer_bytes) {
  if (is_better(other, made)) made = std::move(other);
}

}  // namespace lethe
