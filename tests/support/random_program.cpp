#include "tests/support/random_program.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>

#include "framework/random.h"
#include "tests/support/initial_param.h"
#include "tests/support/random_training.h"

namespace lethe::testing {
namespace {

constexpr std::int64_t kClasses = 3;
constexpr std::int64_t kWide = 1400;  // with the classes a weight whose states any rank may have in 8 bits

/// Grows a network by one random layer after the other.
class Grower {
 public:
  Grower(std::uint64_t seed, const BuildOptions& options, bool activates)
      : random_(seed, 1),
        net_(options),
        activates_(activates),
        is_wide_(options.dtype != DType::f64 && Random(seed, 5).below(4) == 0) {
    const std::int64_t side = 4 + pick(5);
    vars_ = {net_.input("image", {side, side, 1 + pick(3)})};
  }

  Network grow() {
    for (std::int64_t left = 3 + pick(8); left > 0; --left) add_layer();
    VarId logits = head();
    if (pick(3) == 0) logits = net_.layer("add", {logits, head()});
    const VarId label = net_.input("label", {}, DType::i32);
    if (pick(4) == 0)
      net_.loss("linear_cross_entropy", logits, label, {.layer = {{"out", kClasses}, {"bias", pick(2)}}});
    else
      net_.loss("cross_entropy", logits, label);
    return net_.finish();
  }

 private:
  /// A layer that has weights of its own.
  struct Owner {
    std::string type, path;
    std::int64_t channels;  // that it reads
    Attrs settings;
  };

  std::int64_t pick(std::int64_t bound) { return random_.below(static_cast<std::uint32_t>(bound)); }
  /// Mostly the newest var, else any: so that some have several readers and some none.
  VarId any_var() {
    const std::size_t count = vars_.size();
    chosen_ = pick(3) > 0 ? count - 1 : static_cast<std::size_t>(pick(static_cast<std::int64_t>(count)));
    return vars_[chosen_];
  }
  /// Another than the one that any_var() gave last, `var`, which fits beside it: of the same shape, or of the same but
  /// for its channels. Another place in the list makes it another: in evaluation dropout makes no var of its own, and
  /// the network must be that of training.
  VarId partner(VarId var, bool other_channels) {
    const Shape shape = net_.shape(var);
    for (std::size_t i = vars_.size(); i-- > 0;) {
      Shape candidate = net_.shape(vars_[i]);
      if (other_channels) candidate.back() = shape.back();
      if (i != chosen_ && candidate == shape) return vars_[i];
    }
    return var;
  }

  void add_layer() {
    const VarId x = any_var();
    static const std::vector<std::string> maps = {"relu", "sigmoid", "tanh", "leaky_relu", "gelu"};
    switch (pick(12)) {
      case 0:
      case 1:
        return keep(activated(weighted(
            "conv", x, {{"out", 2 + pick(4)}, {"k", 1 + 2 * pick(2)}, {"stride", 1 + pick(2)}, {"bias", pick(2)}})));
      case 2:
        return keep(activated(net_.layer(has_variance(x) ? "bn" : "relu", x)));
      case 3:
        return keep(net_.layer(maps[static_cast<std::size_t>(pick(static_cast<std::int64_t>(maps.size())))], x));
      case 4:
        return keep(
            net_.layer(pick(2) == 0 ? "max_pool" : "avg_pool", x, {{"k", 3}, {"stride", 1 + pick(2)}, {"pad", 1}}));
      case 5:
        return keep(net_.layer("concat", {x, partner(x, true)}));
      case 6:
        return keep(net_.layer("mul", {x, partner(x, false)}));
      case 7:
        return keep(net_.layer("mul", {x, seen_again(x)}));
      case 8:
        return keep(net_.layer("dropout", x, {{"p", 0.5}}));
      case 9:
        return keep(sliced(x));
      case 10:
        return keep(attended(x));
      default:
        return keep(activated(net_.layer("add", {x, partner(x, false)})));
    }
  }
  /// Now and then after a relu, which alone reads it then.
  VarId activated(VarId var) { return activates_ && pick(2) == 0 ? net_.layer("relu", var) : var; }
  /// A layer with weights: its own, or now and then those of the first of its type that reads as many channels.
  VarId weighted(const std::string& type, VarId x, Attrs settings) {
    const std::int64_t channels = net_.shape(x).back();
    const auto earlier = std::find_if(owners_.begin(), owners_.end(), [&](const Owner& owner) {
      return owner.type == type && owner.channels == channels;
    });
    if (earlier != owners_.end() && pick(2) == 0) {
      settings = earlier->settings;
      settings.set("share", earlier->path);
      return net_.layer(type, x, settings);
    }
    owners_.push_back({type, message(type, "_", owners_.size()), channels, settings});
    return net_.layer(type, x, settings, owners_.back().path);
  }
  /// A view of a view of it, of its shape.
  VarId seen_again(VarId var) {
    const Shape shape = net_.shape(var);
    return net_.layer("reshape", net_.layer("flatten", var),
                      {{"shape", Ints{shape[3], shape[1], shape[2]}}, {"layout", "image"}});
  }
  /// Each pixel among all, or among those before it, by its channels as query, key and value, or by one projection,
  /// with a mask that is learned where there are two heads.
  VarId attended(VarId x) {
    const Shape shape = net_.shape(x);
    const std::int64_t channels = shape[3], heads = channels % 2 == 0 ? 1 + pick(2) : 1;
    const VarId pixels =
        net_.layer("reshape", net_.layer("flatten", x), {{"shape", Ints{shape[1] * shape[2], channels}}});
    std::vector<VarId> in = pick(2) == 0
                                ? std::vector{pixels, pixels, pixels}
                                : std::vector{net_.layer("fc", pixels, {{"out", 3 * channels}, {"flatten", 0}})};
    const std::int64_t causal = pick(2), window = 5 * pick(2), masks = heads == 2 && in.size() == 1 ? 1 : 0;
    if (masks == 1)  // the same for all samples, for each head its own, for all rows or for each its own
      in.push_back(net_.layer(
          "parameter", pixels,
          {{"shape", Ints{heads, causal == 1 ? 1 : shape[1] * shape[2], shape[1] * shape[2]}}, {"layout", "plain"}}));
    const VarId y = net_.layer(
        "attention", in,
        {{"heads", heads}, {"dropout", 0.25 * (heads - 1)}, {"causal", causal}, {"window", window}, {"mask", masks}});
    return net_.layer("reshape", net_.layer("flatten", y),
                      {{"shape", Ints{channels, shape[1], shape[2]}}, {"layout", "image"}});
  }
  /// Some of its channels or rows (of a batch of one a view without gaps), often read by a map alone, by a map that
  /// broadcasts it, or under another shape.
  VarId sliced(VarId x) {
    const bool channels = pick(2) == 0;
    const std::int64_t size = net_.shape(x)[channels ? 3 : 1], begin = pick(size), end = begin + 1 + pick(size - begin);
    const VarId part =
        net_.layer("slice", x, {{"axis", channels ? "channels" : "height"}, {"begin", begin}, {"end", end}});
    switch (pick(6)) {
      case 0:
        return part;
      case 1:
        return seen_again(part);
      case 2:
        if (channels && end - begin == 1) return net_.layer("mul", {x, part});
        [[fallthrough]];
      default:
        return net_.layer("tanh", part);
    }
  }
  /// Whether a channel has more than one value.
  bool has_variance(VarId x) {
    const Shape shape = net_.shape(x);
    return shape[0] * shape[1] * shape[2] > 1;
  }
  void keep(VarId var) { vars_.push_back(var); }

  VarId head() {
    VarId x = net_.layer("global_avg_pool", any_var());
    if (is_wide_) x = net_.layer("tanh", weighted("fc", x, {{"out", kWide}}));
    return weighted("fc", x, {{"out", kClasses}});
  }

  Random random_;
  Builder net_;
  const bool activates_, is_wide_;
  std::vector<VarId> vars_;  // images, in order of making
  std::size_t chosen_ = 0;   // of these
  std::vector<Owner> owners_;
};

BuildOptions small(std::uint64_t seed, DType dtype) { return {.batch = seed % 3 == 2 ? 1 : 2, .dtype = dtype}; }

}  // namespace

Network random_network(std::uint64_t seed, const BuildOptions& options) {
  return trained_at_random(seed, options, [&](const BuildOptions& of) { return Grower(seed, of, true).grow(); });
}

TrainingProgram random_program(std::uint64_t seed, DType dtype) {
  return with_backward(random_network(seed, small(seed, dtype)), seed % 4 == 1);
}

TrainingProgram random_smooth_program(std::uint64_t seed) {
  return with_backward(trained_at_random(seed, small(seed, DType::f64),
                                         [&](const BuildOptions& of) { return Grower(seed, of, false).grow(); }));
}

int random_programs() {
  if (const char* count = std::getenv("LETHE_RANDOM_PROGRAMS")) return std::atoi(count);
#if defined(__SANITIZE_ADDRESS__)
  return 20;
#else
  return 60;
#endif
}

std::vector<int> random_seeds(int programs) {
  const char* const first = std::getenv("LETHE_FIRST_SEED");
  std::vector<int> seeds(static_cast<std::size_t>(programs));
  std::iota(seeds.begin(), seeds.end(), first ? std::atoi(first) : 0);
  return seeds;
}

TrainingProgram with_backward(Network network, bool narrow) {
  TrainingProgram made{.network = std::move(network), .grads = {}};
  made.grads = append_backward(made.network.program, made.network.loss, {}, kNone, made.network.frozen, narrow);
  return made;
}

TrainingProgram with_updates(TrainingProgram made, const std::string& optimizer) {
  return with_updates(std::move(made), optimizer_named(optimizer));
}

TrainingProgram with_updates(TrainingProgram made, const OptimizerSettings& rule) {
  Network& net = made.network;
  net.inputs.push_back(append_updates(net.program, made.grads, net.params, rule).learning_rate);
  return made;
}

void fill_network(const Network& network, Interpreter& values) {
  const std::vector<Var>& vars = network.program.vars;
  for (VarId v = 0; v < static_cast<VarId>(vars.size()); ++v)
    if (is_persistable(vars[v].kind))
      std::memset(values.memory(v).data(), 0, static_cast<std::size_t>(bytes_of(vars[v])));
  for (const ParamInfo& info : network.params) fill_param(info.init, vars[info.var], values.memory(info.var).data());
  for (const VarId input : network.inputs) {
    if (!is_float(vars[input].dtype))
      values.fill_uniform(input, 0, kClasses, static_cast<std::uint64_t>(input));
    else if (vars[input].shape.empty())
      values.set(input, 0, 1.0 / 128);  // the learning rate
    else
      values.fill_uniform(input, -1, 1, static_cast<std::uint64_t>(input));
  }
}

}  // namespace lethe::testing
