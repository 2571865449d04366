// A walk through a tape under a choice: the steps in their order, and what they take. A search tries many choices, each
// of which differs little from one that was kept: a walk goes on from the last place at which the two did the same.
#pragma once
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "memopt/recompute/replay.h"

namespace lethe {

class Walk {
 public:
  /// `tape` must outlive this. Without `keeps` each run begins at the first op, and takes a little less time for it.
  explicit Walk(const Tape& tape, bool keeps = false);

  /// False if what a value is made of has changed by the time at which it is to be made again.
  bool run(const Choice& choice);
  /// Runs steps as they are.
  void follow(const std::vector<Step>& steps);
  /// Later runs go on from what they have in common with the last one, which gave true and whose choice is still there.
  void keep();
  const Choice& kept() const { return kept_choice_; }  // empty: none
  /// Of what was last run or followed, unless that gave false.
  const std::vector<Step>& steps() const { return done_.steps; }
  const Course& course() const { return course_; }

 private:
  static constexpr int kNever = std::numeric_limits<int>::max();
  struct Call {  // a TapeCall whose lists stand in those of all calls: ids_, in_place_ and joins_
    int in = 0, out = 0, end = 0, in_place = 0, in_place_end = 0, joins = 0, joins_end = 0;
    bool is_view = false;
    std::int64_t workspace = 0;
    double seconds = 0;
  };
  struct InPlace {
    int step, in, out;  // instances
  };
  struct Done {  // by step, and in the order of the steps
    std::vector<Step> steps;
    std::vector<Instance> instances;
    std::vector<InPlace> in_place;
  };
  struct OfValue {
    int touched = -kClose - 1;  // when it was last written or read, in kernels run
    int current = -1;           // its instance
    int looked = kNever;        // the first op for which its policy mattered
    bool repeated = false;      // it was made again, in this pass
  };
  struct State {  // what goes on from op to op
    int now = 0;  // kernels run so far
    double seconds = 0;
    std::vector<OfValue> values;
  };
  struct Place {  // before an op
    std::size_t steps = 0, instances = 0, in_place = 0;
    std::vector<int> last;  // by instance
    State state;
  };

  void add(const TapeCall& call, bool is_view);
  const Call& call_of(const Step& step) const { return calls_[2 * step.op + (step.again ? 1 : 0)]; }
  std::vector<OfValue> untouched() const;
  int begin(const Choice& choice);
  void note(Place& place) const;
  bool is_there(VarId v, int i);
  bool make_again(int i);
  Step repeated_step(int maker, int i);
  double seconds_of(const Call& call) const;
  void append(const Step& step);
  void finish();

  const Tape* tape_;
  std::vector<Call> calls_;  // of each op, and of its form that gives output 0 again
  std::vector<VarId> ids_;
  std::vector<std::pair<VarId, VarId>> in_place_;
  std::vector<TapeJoin> joins_;
  int stride_;  // ops between two places

  const Choice* choice_ = nullptr;
  State state_;
  Done done_;
  std::size_t begun_at_ = 0;   // the kept place from which the last run went on
  std::vector<Place> places_;  // that it noted, from the next one on
  Choice kept_choice_;
  Done kept_;
  std::vector<int> kept_looked_;
  std::vector<Place> kept_places_;

  int stamp_ = 0;                    // of the op at hand
  std::vector<int> asked_, listed_;  // by value, by op: the stamp with which it was looked at
  std::vector<VarId> open_;
  std::vector<int> makers_;
  std::vector<char> taken_, placed_;  // by instance: as input or output of work in place; of one each at most
  std::int64_t given_ = 0;            // bytes that are there before the first step
  Course course_;
};

}  // namespace lethe
