#include "tests/support/random_control.h"

#include "framework/random.h"

namespace lethe::testing {
namespace {

constexpr std::int64_t kControlBatch = 2, kControlWidth = 3, kDeepest = 4;
constexpr int kMostNested = 4;  // loops and branches inside of others

/// Grows a network of values [kControlBatch, kControlWidth] by one random layer after the other.
class ControlGrower {
 public:
  ControlGrower(std::uint64_t seed, DType dtype) : random_(seed, 2), net_({.batch = kControlBatch, .dtype = dtype}) {
    seen_ = {net_.input("x", {kControlWidth})};
  }

  Network grow() {
    for (std::int64_t left = 2 + pick(4); left > 0; --left) add_layer(0);
    add_loop(0);
    const VarId logits = net_.layer("fc", {net_.layer("add", {seen_.back(), any()})}, {{"out", 3}});
    net_.loss("cross_entropy", logits, net_.input("label", {}, DType::i32));
    return net_.finish();
  }

 private:
  std::int64_t pick(std::int64_t bound) { return random_.below(static_cast<std::uint32_t>(bound)); }
  /// Mostly the newest value, else any that can be seen.
  VarId any() {
    return pick(2) ? seen_.back() : seen_[static_cast<std::size_t>(pick(static_cast<std::int64_t>(seen_.size())))];
  }

  void add_layer(std::int64_t depth) {
    static const std::vector<std::string> maps = {"sigmoid", "tanh", "gelu", "softplus"};
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

  /// What is seen inside of `build` is forgotten behind it.
  VarId inside(std::int64_t depth) {
    const std::size_t seen = seen_.size();
    for (std::int64_t left = 1 + pick(3); left > 0; --left) add_layer(depth + 1);
    const VarId last = net_.layer("tanh", any());
    seen_.resize(seen);
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

  void add_loop(std::int64_t depth) {
    nested_ += depth > 0;
    const bool has_two = pick(2), reads_data = pick(3) == 0, writes = pick(2), reads_back = writes && pick(2);
    const std::int64_t trips = pick(4), most = 3;
    const VarId array = writes ? net_.layer("array", any(), {{"length", most}, {"shape", Ints{kControlWidth}}}) : kNone;
    const Vars initial = has_two ? Vars{any(), any()} : Vars{any()};
    const auto condition = [&](const Vars& carried) {
      if (reads_data) return net_.layer("less", net_.layer("mean", carried[0]), {{"value", 0.4321}});
      return net_.layer("less", net_.trip(), {{"value", trips}});
    };
    const auto body = [&](const Vars& carried) {
      const std::size_t seen = seen_.size();
      seen_.insert(seen_.end(), carried.begin(), carried.end());
      Vars next = {inside(depth)};
      if (has_two) next.push_back(pick(2) ? carried[0] : inside(depth));
      if (writes) net_.layer("array_write", {array, next[0], net_.trip()});
      if (reads_back) next[0] = net_.layer("mul", {next[0], net_.layer("array_read", {array, net_.trip()})});
      seen_.resize(seen);
      return next;
    };
    const Vars last = net_.loop(initial, most, condition, body, "", pick(3) == 0 && !reads_back);
    seen_.insert(seen_.end(), last.begin(), last.end());
    if (writes) keep(net_.layer("mul", {seen_.back(), net_.layer("mean", array)}));
  }

  void keep(VarId var) { seen_.push_back(var); }

  Random random_;
  Builder net_;
  Vars seen_;
  int nested_ = 0;
};

}  // namespace

TrainingProgram random_control_program(std::uint64_t seed, DType dtype) {
  return with_backward(ControlGrower(seed, dtype).grow());
}

}  // namespace lethe::testing
