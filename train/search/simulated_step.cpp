#include "train/search/simulated_step.h"

#include <algorithm>
#include <map>

#include "framework/language/control_flow.h"
#include "framework/language/op_def.h"
#include "framework/language/op_facts.h"
#include "framework/run/prepared.h"

namespace lethe {
namespace {

constexpr double kMoved = 4e9;  // bytes that a rank copies, or adds to its own, in a second, by rule of thumb

class Simulation {
 public:
  Simulation(const Program& program, const SecondsOf& seconds_of, const Link& link, Exchange how)
      : program_(program), seconds_of_(seconds_of), link_(link), how_(how) {}

  SimulatedStep run() && {
    for (const Op& op : program_.blocks[0].ops) {
      if (const Traffic traffic = traffic_of(program_, op, how_); traffic.exchanges > 0)
        start(op, traffic);
      else if (op_def(op.type).waits)
        wait_for(op.in[0]);
      else
        step_.computing += seconds(op);
    }
    return step_;
  }

 private:
  double now() const { return step_.total(); }

  void start(const Op& op, const Traffic& traffic) {
    const double seconds = link_.seconds_of(traffic);
    idle_from_ = std::max(now(), idle_from_) + seconds;
    done_[op.out[0]] = idle_from_;
    step_.sending += seconds;
    if (op.type == kAllReduceStart || op.type == kReduceScatterStart)
      step_.computing += static_cast<double>(bytes_of(program_.vars[op.in[0]])) / kMoved;
  }
  void wait_for(VarId pending) { step_.waiting += std::max(done_[pending] - now(), 0.0); }

  double seconds(const Op& op) const {
    if (takes_part(op)) return static_cast<double>(bytes_of(program_.vars[op.out[0]])) / kMoved;
    if (op.blocks.empty()) return runs_nothing(op) ? 0 : seconds_of_(program_, op);
    double all = 0;
    for (const BlockId block : op.blocks)
      for (const Op& inner : program_.blocks[block].ops) all += seconds(inner);
    return op.type == kWhile ? static_cast<double>(op.attrs.integer(kMaxTrips)) * all : all;
  }

  /// Whether it copies a part of its input, as of what ranks have given each other: there are too many to measure.
  static bool takes_part(const Op& op) {
    const char* const view = op_def(op.type).as_view;
    return view && op_def(view).view == ViewOf::Part;
  }

  const Program& program_;
  const SecondsOf& seconds_of_;
  const Link link_;
  const Exchange how_;
  SimulatedStep step_ = {};
  double idle_from_ = 0;               // the link
  std::map<VarId, double> done_ = {};  // by what is under way: when it is there
};

}  // namespace

SimulatedStep simulated_step(const Program& program, const SecondsOf& seconds_of, const Link& link, Exchange how) {
  return Simulation(program, seconds_of, link, how).run();
}

}  // namespace lethe
