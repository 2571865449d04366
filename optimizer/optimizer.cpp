#include "optimizer/optimizer.h"

#include <algorithm>

#include "framework/builder/step_counter.h"
#include "framework/did_you_mean.h"
#include "framework/error.h"
#include "framework/language/core_ops.h"
#include "framework/language/init.h"
#include "framework/language/op_def.h"
#include "framework/language/verify.h"
#include "framework/name_pattern.h"
#include "optimizer/rates.h"
#include "optimizer/stochastic_rounding.h"

namespace lethe {
namespace {

constexpr const char *kRow = "row", *kColumn = "column";  // states of Adafactor
constexpr std::int64_t kGrowthInterval = 2000;            // good steps after which the loss scale is tried doubled

void check_settings(const OptimizerSettings& s) {
  const auto fraction = [](const char* name, double value) {
    check(value >= 0 && value < 1, "optimizer: ", name, " is ", value, ", expected at least 0 and below 1");
  };
  const auto not_negative = [](const char* name, double value) {
    check(value >= 0, "optimizer: ", name, " is ", value, ", expected at least 0");
  };
  fraction("momentum", s.momentum);
  fraction("beta1", s.beta1);
  fraction("beta2", s.beta2);
  fraction("alpha", s.alpha);
  not_negative("eps", s.eps);
  not_negative("weight decay", s.weight_decay);
  not_negative("clip norm", s.clip_norm);
  check(takes_8_bits(s.type) || !s.states_in_8_bits,
        "`state_dtype` 8bit is for momentum, nesterov, adam, adamw and lion, not for ",
        optimizer_names()[static_cast<std::size_t>(s.type)]);
}

struct UpdateState {
  std::string name;
  Shape shape;
  DType coded = DType::dynamic8;  // in 8 bits
};
/// The op of a parameter and the states it needs.
struct Rule {
  std::string op;
  std::vector<UpdateState> states;
  Attrs attrs;
};

/// Of a parameter of several axes by rows, its first axis, and columns, all others.
Rule adafactor_of(const Shape& shape) {
  const Attrs attrs{{"beta2_decay", -0.8}, {"eps", 1e-3}, {"clip", 1.0}};
  if (shape.size() < 2) return {.op = "adafactor_vector", .states = {{"square", shape}}, .attrs = attrs};
  const std::int64_t rows = shape[0];
  return {.op = "adafactor", .states = {{kRow, {rows}}, {kColumn, {elements(shape) / rows}}}, .attrs = attrs};
}

bool counts_steps(OptimizerType type) {
  using enum OptimizerType;
  return type == Adam || type == AdamW || type == Adafactor;
}

/// `shape`: of what is updated, a parameter or a rank's share of it.
Rule rule_of(const OptimizerSettings& s, const Shape& shape) {
  switch (s.type) {
    case OptimizerType::Sgd:
      return {.op = "sgd", .states = {}, .attrs = {}};
    case OptimizerType::Momentum:
    case OptimizerType::Nesterov:
      return {.op = "momentum",
              .states = {{"momentum", shape}},
              .attrs = {{"momentum", s.momentum}, {"nesterov", s.type == OptimizerType::Nesterov}}};
    case OptimizerType::Adam:
    case OptimizerType::AdamW:
      return {
          .op = "adam",
          .states = {{"m", shape}, {"v", shape, DType::udynamic8}},
          .attrs = {
              {"beta1", s.beta1}, {"beta2", s.beta2}, {"eps", s.eps}, {"decoupled", s.type == OptimizerType::AdamW}}};
    case OptimizerType::Lion:
      return {.op = "lion", .states = {{"m", shape}}, .attrs = {{"beta1", s.beta1}, {"beta2", s.beta2}}};
    case OptimizerType::Adafactor:
      return adafactor_of(shape);
    case OptimizerType::RmsProp:
      break;
  }
  Rule rms{.op = "rmsprop", .states = {{"square", shape}}, .attrs = {{"alpha", s.alpha}, {"eps", s.eps}}};
  if (s.momentum > 0) {
    rms.op = "rmsprop_momentum";
    rms.states.push_back({"momentum", shape});
    rms.attrs.set("momentum", s.momentum);
  }
  return rms;
}

/// On one of several ranks the gradients become its shares of them, and the whole ones die as early as these are there.
VarId append_clip_scale(Program& program, VarId loss_scale, std::vector<ParamGrad>& gradients, double max_norm,
                        Rank shares_of) {
  const auto append = [&](const char* type, std::vector<VarId> in, const Attrs& attrs, const std::string& name) {
    return append_op(program, 0, Role::Optimize, type, std::move(in), attrs, name).front();
  };
  std::vector<VarId> all = {loss_scale};
  Attrs attrs{{"max_norm", max_norm}};
  if (shares_of.of > 1) attrs.set("dtype", std::string(name_of(program.vars[gradients.front().grad].dtype)));
  for (ParamGrad& pair : gradients) {
    const VarId whole = pair.grad;
    const std::string name = program.vars[whole].name;
    all.push_back(shares_of.of > 1 ? append("square_sums", {whole}, {}, name + "/squares") : whole);
    if (shares_of.of > 1)
      pair.grad = append("own_share", {whole}, {{kRanks, shares_of.of}, {kRank, shares_of.number}}, name + "/share");
  }
  return append("clip_scale", all, attrs, "gradients");
}

/// Sets `decays` of all parameters that `patterns` name, be they updated or frozen.
void set_decay(const Program& program, const std::string& patterns, bool to, std::vector<bool>& decays) {
  const char* const setting = to ? "`decay`" : "`no_decay`";
  for (const std::string& pattern : patterns_given(patterns, setting)) {
    bool found = false;
    std::vector<std::string> known;
    for (std::size_t v = 0; v < program.vars.size(); ++v) {
      if (program.vars[v].kind != Kind::Param) continue;
      known.push_back(program.vars[v].name);
      if (!matches(pattern, known.back())) continue;
      decays[v] = to;
      found = true;
    }
    check(found, setting, ": no parameter is called ", quote(pattern), did_you_mean(pattern, known));
  }
}

/// Which vars decay, by VarId.
std::vector<bool> decaying(const Program& program, const std::vector<ParamInfo>& params,
                           const OptimizerSettings& settings) {
  std::vector<bool> decays(program.vars.size());
  for (const ParamInfo& info : params)
    if (info.decay) decays[info.var] = true;
  set_decay(program, settings.decay, true, decays);
  set_decay(program, settings.no_decay, false, decays);
  return decays;
}

bool reads_rows(const Op& op, const std::set<VarId>& of) { return op.type == "embedding" && of.contains(op.in[1]); }

/// What the key of a parameter's rounding is made of beside the seed.
std::uint64_t rounding_key(std::uint64_t seed, const std::string& param) {
  return stream_key(seed, hash_of(param + "@rounding"));
}

}  // namespace

bool takes_8_bits(OptimizerType type) {
  using enum OptimizerType;
  return type == Momentum || type == Nesterov || type == Adam || type == AdamW || type == Lion;
}

bool has_coded_states(const Program& program, VarId param, std::int64_t least) {
  if (elements(program.vars[param].shape) < least) return false;
  std::set<VarId> copies = {param};
  for (const Block& block : program.blocks)
    for (const Op& op : block.ops)
      if (op.type == kCast && op.in[0] == param) copies.insert(op.out[0]);
  return std::ranges::none_of(program.blocks, [&](const Block& block) {
    return std::ranges::any_of(block.ops, [&](const Op& op) { return reads_rows(op, copies); });
  });
}

const std::vector<std::string>& optimizer_names() {
  static const std::vector<std::string> names = {"sgd",   "momentum", "nesterov", "adam",
                                                 "adamw", "rmsprop",  "lion",     "adafactor"};
  return names;
}

OptimizerSettings optimizer_named(const std::string& name) {
  const std::vector<std::string>& names = optimizer_names();
  const auto found = std::find(names.begin(), names.end(), name);
  check(found != names.end(), "unknown optimizer ", quote(name), did_you_mean(name, names), "; known: ", joined(names));
  OptimizerSettings settings{.type = static_cast<OptimizerType>(found - names.begin())};
  if (settings.type == OptimizerType::Momentum || settings.type == OptimizerType::Nesterov) settings.momentum = 0.9;
  if (settings.type == OptimizerType::AdamW) settings.weight_decay = 0.01;
  if (settings.type == OptimizerType::Lion) settings.beta2 = 0.99;
  return settings;
}

bool takes_shares(OptimizerType type) { return type != OptimizerType::Adafactor; }

bool may_be_a_share(const std::string& state) {
  const std::string name = state.substr(state.rfind('@') + 1);
  return name != kRow && name != kColumn;
}

LossScale append_loss_scale(Program& program, double initial) {
  check(initial > 0, "loss scale: ", initial, ", expected above 0");
  const VarId state = add_var(program, {.name = "loss_scale", .shape = {3}, .dtype = DType::i64, .kind = Kind::State});
  return {
      .state = state,
      .scale =
          append_op(program, 0, Role::Backward, "loss_scale", {state}, {{"initial", initial}}, "loss_scale").front()};
}

Updates append_updates(Program& program, const std::vector<ParamGrad>& gradients, const std::vector<ParamInfo>& params,
                       const OptimizerSettings& settings, const LossScale& loss_scale, Rank shares_of,
                       const RateScales& rates) {
  check_settings(settings);
  check(!gradients.empty(), "optimizer: no parameter leads to the loss");
  check(shares_of.of == 1 || takes_shares(settings.type),
        "`zero`: adafactor needs whole parameters and updates no share of one; it goes with `zero` 0");
  const bool counts = counts_steps(settings.type);
  const bool rounds = std::ranges::any_of(
      gradients, [&](const ParamGrad& pair) { return program.vars[pair.param].dtype == DType::bf16; });
  const DType dtype = wide_of(program.vars[gradients.front().param].dtype);
  Updates updates{.learning_rate = add_var(program, {.name = "learning_rate", .dtype = dtype, .kind = Kind::Input}),
                  .step = step_counter(program, counts ? loss_scale.state == kNone : rounds)};
  const bool scales = settings.clip_norm > 0 || loss_scale.scale != kNone;
  const std::vector<bool> decays = decaying(program, params, settings);
  std::vector<ParamGrad> taken = gradients;
  const VarId scale =
      scales ? append_clip_scale(program, loss_scale.scale, taken, settings.clip_norm, shares_of) : kNone;
  VarId steps_done = updates.step;
  if (counts && loss_scale.state != kNone)  // those that were not skipped
    steps_done = add_var(program, {.name = "updates", .dtype = DType::i64, .kind = Kind::State});
  for (const auto& [param, gradient] : taken) {
    const Var var = program.vars[param];
    const Shape shape = shares_of.of > 1 ? Shape{size_of_share(elements(var.shape), shares_of.of)} : var.shape;
    const Rule rule = rule_of(settings, shape);
    std::vector<VarId> in = {param};
    const bool coded = settings.states_in_8_bits && !settings.keep_f32.contains(var.name) &&
                       has_coded_states(program, param, settings.min_8bit_size);
    for (const UpdateState& state : rule.states) {
      in.push_back(add_var(program, {.name = message(var.name, '@', state.name),
                                     .shape = state.shape,
                                     .dtype = coded ? state.coded : dtype,
                                     .kind = Kind::State}));
      updates.states.push_back(in.back());
    }
    in.insert(in.end(), {gradient, updates.learning_rate});
    const bool is_rounded = var.dtype == DType::bf16;
    if (counts) in.push_back(steps_done);
    if (scale != kNone || (is_rounded && !counts)) in.push_back(scale);
    if (is_rounded && !counts) in.push_back(steps_done);
    Attrs attrs = rule.attrs;
    if (is_rounded) {
      attrs.set(kRoundingKey, static_cast<std::int64_t>(rounding_key(settings.seed, var.name)));
      attrs.set(kRoundingFirst, share_of(elements(var.shape), shares_of).begin);
    }
    if (shares_of.of > 1) attrs.set(kRanks, shares_of.of), attrs.set(kRank, shares_of.number);
    attrs.set("weight_decay", decays[param] ? settings.weight_decay : 0.0);
    if (const auto own = rates.find(var.name); own != rates.end()) attrs.set(kRateScale, own->second);
    append_update(program, 0, rule.op, in, attrs);
  }
  if (steps_done != updates.step) append_update(program, 0, "count_unskipped", {steps_done, scale});
  if (loss_scale.state != kNone)
    append_update(program, 0, "loss_scale_update", {loss_scale.state, scale}, {{"interval", kGrowthInterval}});
  if (updates.step != kNone) append_update(program, 0, "increment", {updates.step});
  verify_after("append_updates", program);
  return updates;
}

}  // namespace lethe
