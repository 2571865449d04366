#include "memopt/recompute/walk.h"

#include <algorithm>

#include "framework/error.h"

namespace lethe {
namespace {

/// Noting a place takes as long as some tens of steps.
constexpr int kPlacesNoted = 16, kFewestApart = 4;

}  // namespace

Walk::Walk(const Tape& tape, bool keeps)
    : tape_(&tape),
      stride_(keeps ? std::max(static_cast<int>(tape.ops.size()) / kPlacesNoted + 1, kFewestApart) : kNever),
      asked_(tape.values.size()),
      listed_(tape.ops.size()) {
  for (const TapeOp& op : tape.ops) {
    add(op.call, op.is_view);
    add(op.again, op.is_view);
  }
  for (const TapeValue& value : tape.values)
    if (value.given) given_ += value.bytes;
}

void Walk::add(const TapeCall& call, bool is_view) {
  Call flat;
  flat.in = static_cast<int>(ids_.size());
  ids_.insert(ids_.end(), call.in.begin(), call.in.end());
  flat.out = static_cast<int>(ids_.size());
  ids_.insert(ids_.end(), call.out.begin(), call.out.end());
  flat.end = static_cast<int>(ids_.size());
  flat.in_place = static_cast<int>(in_place_.size());
  in_place_.insert(in_place_.end(), call.in_place.begin(), call.in_place.end());
  flat.in_place_end = static_cast<int>(in_place_.size());
  flat.joins = static_cast<int>(joins_.size());
  joins_.insert(joins_.end(), call.joins.begin(), call.joins.end());
  flat.joins_end = static_cast<int>(joins_.size());
  flat.is_view = is_view;
  flat.workspace = call.workspace;
  flat.seconds = call.seconds;
  calls_.push_back(flat);
}

std::vector<Walk::OfValue> Walk::untouched() const { return std::vector<OfValue>(tape_->values.size()); }

/// Goes through the ops and puts before each what it needs again.
bool Walk::run(const Choice& choice) {
  choice_ = &choice;
  const int first = begin(choice), ops = static_cast<int>(tape_->ops.size());
  for (int i = first; i < ops; ++i) {
    if (i > first && i % stride_ == 0) note(places_[i / stride_]);
    if (i == tape_->second_pass)
      for (OfValue& value : state_.values) value.repeated = false;
    if (!make_again(i)) {
      choice_ = nullptr;
      return false;
    }
    append({.op = i});
  }
  finish();
  return true;
}

void Walk::follow(const std::vector<Step>& steps) {
  choice_ = nullptr;
  done_ = {};
  state_ = {.values = untouched()};
  for (const Step& step : steps) append(step);
  finish();
}

/// Takes up the state before the op that it gives: up to there `choice` does what the one that was kept does.
int Walk::begin(const Choice& choice) {
  places_.resize((std::max<std::size_t>(tape_->ops.size(), 1) - 1) / stride_ + 1);
  begun_at_ = 0;
  if (kept_choice_.empty()) {
    done_ = {};
    state_ = {.values = untouched()};
    return 0;
  }
  int same = static_cast<int>(tape_->ops.size());
  for (std::size_t v = 0; v < choice.size(); ++v)
    if (choice[v] != kept_choice_[v]) same = std::min(same, kept_looked_[v]);
  begun_at_ = std::min<std::size_t>(same / stride_, kept_places_.size() - 1);
  const Place& place = kept_places_[begun_at_];
  const auto take = [](auto& to, const auto& from, std::size_t count) {
    to.assign(from.begin(), from.begin() + count);
  };
  take(done_.steps, kept_.steps, place.steps);
  take(done_.instances, kept_.instances, place.instances);
  take(done_.in_place, kept_.in_place, place.in_place);
  for (std::size_t n = 0; n < place.instances; ++n) done_.instances[n].last = place.last[n];
  state_ = place.state;
  return static_cast<int>(begun_at_) * stride_;
}

void Walk::note(Place& place) const {
  place.steps = done_.steps.size();
  place.instances = done_.instances.size();
  place.in_place = done_.in_place.size();
  place.last.resize(place.instances);
  for (std::size_t n = 0; n < place.instances; ++n) place.last[n] = done_.instances[n].last;
  place.state = state_;
}

void Walk::keep() {
  check(choice_, "walk: there is no run to keep");
  if (kept_choice_.empty()) {
    places_.front() = {};
    places_.front().state.values = untouched();
    kept_places_ = places_;
  } else {
    for (std::size_t p = begun_at_ + 1; p < places_.size(); ++p) std::swap(kept_places_[p], places_[p]);
  }
  kept_choice_ = *choice_;
  kept_ = done_;
  kept_looked_.resize(state_.values.size());
  for (std::size_t v = 0; v < state_.values.size(); ++v) kept_looked_[v] = state_.values[v].looked;
  choice_ = nullptr;
}

/// Notes for which op the policy first mattered.
bool Walk::is_there(VarId v, int i) {
  if (i < tape_->values[v].turn) return true;
  OfValue& value = state_.values[v];
  value.looked = std::min(value.looked, i);
  const RecomputePolicy policy = (*choice_)[v];
  if (policy == RecomputePolicy::Keep || (policy == RecomputePolicy::Once && value.repeated)) return true;
  return state_.now - value.touched <= (policy == RecomputePolicy::PerCluster ? kClose : 0);
}

/// What op `i` reads and is not there, with all that takes; false if that cannot be had any more.
bool Walk::make_again(int i) {
  const Call& call = calls_[2 * i];
  open_.assign(ids_.begin() + call.in, ids_.begin() + call.out);
  makers_.clear();
  ++stamp_;
  while (!open_.empty()) {
    const VarId v = open_.back();
    open_.pop_back();
    const int maker = tape_->values[v].maker;
    if (maker < 0 || asked_[v] == stamp_ || is_there(v, i)) continue;
    asked_[v] = stamp_;
    if (listed_[maker] == stamp_) continue;
    if (tape_->ops[maker].until < i) return false;
    listed_[maker] = stamp_;
    makers_.push_back(maker);
    const Call& again = call_of(repeated_step(maker, i));
    open_.insert(open_.end(), ids_.begin() + again.in, ids_.begin() + again.out);
  }
  std::sort(makers_.begin(), makers_.end());
  for (const int maker : makers_) append(repeated_step(maker, i));
  return true;
}

/// In the form that gives output 0 alone, if all else that the op gives is kept; notes that this mattered.
Step Walk::repeated_step(int maker, int i) {
  Step step{.op = maker, .repeated = true, .again = tape_->ops[maker].has_again};
  if (!step.again) return step;
  const Call& call = calls_[2 * maker];
  for (int n = call.out + 1; n < call.end; ++n) {
    const VarId v = ids_[n];
    state_.values[v].looked = std::min(state_.values[v].looked, i);
    step.again = step.again && (*choice_)[v] == RecomputePolicy::Keep;
  }
  return step;
}

/// Less if the later of the operands is made by an op that does this one's work, too.
double Walk::seconds_of(const Call& call) const {
  for (int n = call.joins; n < call.joins_end; ++n) {
    const int made = state_.values[joins_[n].value].current;
    const bool is_last = made >= 0 && done_.steps[done_.instances[made].born].repeated &&
                         std::all_of(ids_.begin() + call.in, ids_.begin() + call.out,
                                     [&](VarId v) { return state_.values[v].current <= made; });
    if (is_last) return joins_[n].seconds;
  }
  return call.seconds;
}

void Walk::append(const Step& step) {
  const Call& call = call_of(step);
  const int s = static_cast<int>(done_.steps.size());
  std::vector<OfValue>& values = state_.values;
  std::vector<Instance>& instances = done_.instances;
  done_.steps.push_back(step);
  if (step.repeated) state_.seconds += seconds_of(call);
  if (!call.is_view) ++state_.now;
  const std::size_t pairs = done_.in_place.size();
  for (int n = call.in_place; n < call.in_place_end; ++n) {
    const auto& [in, out] = in_place_[n];
    if (values[in].current >= 0 && (step.repeated || values[out].current < 0))
      done_.in_place.push_back({s, values[in].current, out});
  }
  for (int n = call.in; n < call.out; ++n) {
    OfValue& value = values[ids_[n]];
    value.touched = state_.now;
    if (value.current >= 0) instances[value.current].last = s;
  }
  for (int n = call.out; n < call.end; ++n) {
    const VarId v = ids_[n];
    OfValue& value = values[v];
    value.touched = state_.now;
    value.repeated = value.repeated || step.repeated;
    if (tape_->values[v].given || tape_->values[v].bytes == 0) continue;
    if (value.current >= 0 && !step.repeated) {
      instances[value.current].last = s;
      continue;
    }
    value.current = static_cast<int>(instances.size());
    instances.push_back({v, s, s});
  }
  for (std::size_t p = pairs; p < done_.in_place.size(); ++p)
    done_.in_place[p].out = values[done_.in_place[p].out].current;
}

/// Adds up what is alive at each step.
void Walk::finish() {
  const std::vector<Step>& steps = done_.steps;
  std::vector<std::int64_t>& alive = course_.alive;
  course_.seconds = state_.seconds;
  course_.instances = done_.instances;
  alive.assign(steps.size() + 1, 0);
  for (std::size_t s = 0; s < steps.size(); ++s) {
    const Call& call = call_of(steps[s]);
    if (call.is_view) continue;
    alive[s] += call.workspace;
    alive[s + 1] -= call.workspace;
  }
  std::vector<Instance>& instances = course_.instances;
  for (Instance& i : instances) {
    if (tape_->values[i.value].lasts) i.last = static_cast<int>(steps.size()) - 1;
    const std::int64_t bytes = tape_->values[i.value].bytes;
    alive[i.born] += bytes;
    alive[i.last + 1] -= bytes;
  }
  taken_.assign(instances.size(), 0);
  placed_.assign(instances.size(), 0);
  for (const InPlace& p : done_.in_place) {
    if (p.out < 0 || taken_[p.in] || placed_[p.out] || instances[p.in].last != p.step ||
        tape_->values[instances[p.in].value].lasts || instances[p.out].born != p.step ||
        tape_->values[instances[p.out].value].lasts)
      continue;
    const std::int64_t bytes = tape_->values[instances[p.out].value].bytes;
    if (bytes > tape_->values[instances[p.in].value].bytes) continue;
    taken_[p.in] = placed_[p.out] = 1;
    alive[p.step] -= bytes;
    alive[p.step + 1] += bytes;
  }
  alive.pop_back();
  std::int64_t now = given_;
  course_.peak = 0;
  for (std::int64_t& bytes : alive) {
    now += bytes;
    bytes = now;
    course_.peak = std::max(course_.peak, now);
  }
}

}  // namespace lethe
