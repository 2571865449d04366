#include "tests/support/random_control.h"

#include <set>

#include "framework/random.h"
#include "tests/support/random_training.h"

namespace lethe::testing {
namespace {

constexpr std::int64_t kControlBatch = 2, kControlWidth = 3, kMostTrips = 3, kDeepest = 4;
constexpr int kMostNested = 4;  // loops and branches inside of others

/// Grows a network of values [batch, kControlWidth] by one random layer after the other.
class ControlGrower {
 public:
  ControlGrower(std::uint64_t seed, const BuildOptions& options, bool rewrites, bool norms = false)
      : random_(seed, 2), net_(options), rewrites_(rewrites), norms_(norms) {
    seen_ = {norms ? net_.layer("flatten", net_.input("image", {1, 1, kControlWidth}))
                   : net_.input("x", {kControlWidth})};
  }

  Network grow() {
    if (rewrites_) keep(net_.layer("fc", any(), {{"out", kControlWidth}}));
    if (rewrites_) use_again(array_to_write());
    for (std::int64_t left = 2 + pick(4); left > 0; --left) add_layer(0);
    add_loop(0);
    const VarId logits = net_.layer("fc", {net_.layer("add", {seen_.back(), any()})}, {{"out", 3}});
    if (rewrites_ && pick(2)) write_aside(any_of(arrays_));
    net_.loss("cross_entropy", logits, net_.input("label", {}, DType::i32));
    return net_.finish();
  }

 private:
  std::int64_t pick(std::int64_t bound) { return random_.below(static_cast<std::uint32_t>(bound)); }
  /// Mostly the newest value, else any that can be seen.
  VarId any() { return pick(2) ? seen_.back() : any_of(seen_); }
  VarId any_of(const Vars& vars) { return vars[static_cast<std::size_t>(pick(std::ssize(vars)))]; }

  void add_layer(std::int64_t depth) {
    static const std::vector<std::string> maps = {"sigmoid", "tanh", "gelu", "softplus"};
    if (rewrites_ && !arrays_.empty() && pick(2)) return use_again(any_of(arrays_));
    if (norms_ && pick(4) == 0) return keep(net_.layer("bn", any()));
    const bool may_nest = depth == 0 || (depth < kDeepest && nested_ < kMostNested);
    switch (pick(may_nest ? 8 : 5)) {
      case 0:
        return keep(net_.layer("fc", any(), {{"out", kControlWidth}}));
      case 1:
        return keep(net_.layer(maps[static_cast<std::size_t>(pick(4))], any()));
      case 2:
        return keep(net_.layer("mul", {any(), any()}));
      case 3:
        return keep(net_.layer("dropout", any(), {{"p", 0.25}}));
      case 4:
        return keep(net_.layer("add", {any(), any()}));
      case 5:
        return add_branch(depth);
      default:
        return add_loop(depth);
    }
  }

  /// What is seen inside of `build` is forgotten after it.
  VarId inside(std::int64_t depth) {
    const std::size_t seen = seen_.size(), arrays = arrays_.size();
    for (std::int64_t left = 1 + pick(3); left > 0; --left) add_layer(depth + 1);
    const VarId last = net_.layer("tanh", any());
    seen_.resize(seen);
    arrays_.resize(arrays);
    return last;
  }

  void add_branch(std::int64_t depth) {
    nested_ += depth > 0;
    const VarId condition = net_.layer("greater", net_.layer("mean", any()), {{"value", 0.1373}});
    const bool passes = pick(3) == 0;
    keep(net_.branch(
                 condition, [&] { return Vars{inside(depth)}; }, [&] { return Vars{passes ? any() : inside(depth)}; })
             .front());
  }

  /// Now and then, where that is wanted, one that something was written into already.
  VarId array_to_write() {
    if (rewrites_ && !arrays_.empty() && pick(2)) return any_of(arrays_);
    arrays_.push_back(net_.layer("array", any(), {{"length", kMostTrips}, {"shape", Ints{kControlWidth}}}));
    return arrays_.back();
  }

  /// Of all of an array. Gradients read the array for it, or a view, or neither.
  VarId number_of(VarId array) {
    const std::int64_t form = rewrites_ ? pick(8) : 0;
    if (form == 7) viewed_.insert(array);
    if (form == 7) array = net_.layer("reshape", array, {{"batch", 1}, {"shape", net_.shape(array)}});
    return net_.layer("mean", form < 2 ? array : net_.layer("mul", {array, net_.layer("mean", any())}));
  }

  void write_entry(VarId array, VarId value) {
    if (viewed_.count(array) == 0) net_.layer("array_write", {array, value, net_.trip()});
  }

  /// Reads all of it, or writes to it and leads nowhere else.
  void use_again(VarId array) {
    if (pick(2)) return keep(net_.layer("mul", {any(), number_of(array)}));
    write_aside(array);
  }

  void write_aside(VarId array) {
    net_.loop({any()}, kMostTrips, nullptr, [&](const Vars& carried) {
      write_entry(array, any());
      return Vars{net_.layer("tanh", carried[0])};
    });
  }

  void add_loop(std::int64_t depth) {
    nested_ += depth > 0;
    const bool has_two = pick(2), reads_data = pick(3) == 0, writes = pick(2), reads_back = writes && pick(2);
    const std::int64_t trips = pick(4);
    VarId array = writes ? array_to_write() : kNone;
    const bool carries_array = rewrites_ && writes && pick(4) == 0;
    const bool condition_writes = rewrites_ && writes && pick(8) == 0;
    Vars initial = has_two ? Vars{any(), any()} : Vars{any()};
    if (carries_array) initial.push_back(array);
    const auto condition = [&](const Vars& carried) {
      if (condition_writes) write_entry(array, any());
      const VarId data = norms_ && pick(3) == 0 ? net_.layer("bn", carried[0]) : carried[0];
      if (reads_data) return net_.layer("less", net_.layer("mean", data), {{"value", 0.4321}});
      return net_.layer("less", net_.trip(), {{"value", trips}});
    };
    const auto body = [&](const Vars& carried) {
      const std::size_t seen = seen_.size(), arrays = arrays_.size();
      seen_.insert(seen_.end(), carried.begin(), carried.end() - carries_array);
      if (carries_array) arrays_.push_back(array = carried.back());
      Vars next = {inside(depth)};
      if (has_two) next.push_back(pick(2) ? carried[0] : inside(depth));
      if (writes) write_entry(array, next[0]);
      if (reads_back) next[0] = net_.layer("mul", {next[0], net_.layer("array_read", {array, net_.trip()})});
      if (rewrites_ && writes && pick(3) == 0) next[0] = net_.layer("mul", {next[0], number_of(array)});
      if (carries_array) next.push_back(array);
      seen_.resize(seen);
      arrays_.resize(arrays);
      return next;
    };
    const Vars last = net_.loop(initial, kMostTrips, condition, body, "", pick(3) == 0 && !reads_back);
    seen_.insert(seen_.end(), last.begin(), last.end() - carries_array);
    if (carries_array) arrays_.push_back(array = last.back());
    if (writes && !(rewrites_ && pick(2))) keep(net_.layer("mul", {seen_.back(), number_of(array)}));
  }

  void keep(VarId var) { seen_.push_back(var); }

  Random random_;
  Builder net_;
  const bool rewrites_, norms_;
  Vars seen_, arrays_;      // what layers may read; arrays apart
  std::set<VarId> viewed_;  // arrays that have a view: verify lets nobody write to them
  int nested_ = 0;
};

}  // namespace

TrainingProgram random_control_program(std::uint64_t seed, DType dtype) {
  const auto grow = [&](const BuildOptions& of) { return ControlGrower(seed, of, false).grow(); };
  return with_backward(trained_at_random(seed, {.batch = kControlBatch, .dtype = dtype}, grow), seed % 4 == 1);
}

Network random_control_network(std::uint64_t seed, const BuildOptions& options) {
  return trained_at_random(seed, options,
                           [&](const BuildOptions& of) { return ControlGrower(seed, of, false, true).grow(); });
}

Network random_rewriting_network(std::uint64_t seed) {
  return ControlGrower(seed, {.batch = kControlBatch, .dtype = DType::f64}, true).grow();
}

}  // namespace lethe::testing
