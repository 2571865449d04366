// What a step would take on several ranks, as if all were alike: none of them needs to be there.
#pragma once
#include "framework/ranks/traffic.h"
#include "memopt/recompute/seconds.h"

namespace lethe {

/// Seconds of a step of each rank.
struct SimulatedStep {
  double computing = 0;  // with the adding of what others send
  double waiting = 0;    // for what others send
  double sending = 0;    // on the link, of which ops hide all but what is waited for
  double total() const { return computing + waiting; }
};

/// Runs the ops of `program`, as it is planned for one rank, by their seconds alone. What ranks give each other goes
/// over the link in the order in which it is begun, one after the other, while other ops run. Of branches all are
/// taken, of a loop as many trips as it may make.
SimulatedStep simulated_step(const Program& program, const SecondsOf& seconds_of, const Link& link, Exchange how);

}  // namespace lethe
