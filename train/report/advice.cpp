#include "train/report/advice.h"

#include <algorithm>

#include "framework/error.h"
#include "optimizer/rate_scales.h"
#include "train/session/shards.h"

namespace lethe {
namespace {

/// A way to change a setting. `apply` does it, and gives how one types that; "": it is no change of this one.
struct Way {
  const char* what;
  std::string (*apply)(ProgramSetting& setting, const Network& network);
};

std::string in_two_passes(ProgramSetting& setting, const Network&) {
  std::optional<int>& passes = setting.memory.levels.clip_passes;
  const bool waits = setting.update.rule.clip_norm > 0 || setting.network.dtype == DType::f16;
  if (passes == 2 || setting.memory.guest || !waits) return "";
  passes = 2;
  return "--clip-passes 2";
}

std::string with_narrow_gradients(ProgramSetting& setting, const Network&) {
  const DType dtype = setting.network.dtype;
  if (setting.network.grad_dtype == dtype || wide_of(dtype) == dtype || setting.memory.guest) return "";
  if (shards_of(setting).parts > 1) return "";
  setting.network.grad_dtype = dtype;
  return message("--grad-dtype ", name_of(dtype));
}

std::string with_optimizer(ProgramSetting& setting, const std::string& name) {
  UpdateSetting& update = setting.update;
  if (update.name == name) return "";
  const OptimizerSettings before = update.rule;
  update.name = name;
  update.rule = optimizer_named(name);
  update.rule.decay = before.decay;
  update.rule.no_decay = before.no_decay;
  update.rule.clip_norm = before.clip_norm;
  update.rule.states_in_8_bits = before.states_in_8_bits;
  return "--optimizer " + name;
}

std::string with_states_in_8_bits(ProgramSetting& setting, const Network&) {
  OptimizerSettings& rule = setting.update.rule;
  if (rule.states_in_8_bits || rule.type == OptimizerType::Sgd) return "";
  rule.states_in_8_bits = true;
  return "--state-dtype 8bit";
}

std::string with_params_in_bf16(ProgramSetting& setting, const Network&) {
  std::optional<DType>& dtype = setting.network.param_dtype;
  if (dtype == DType::bf16) return "";
  dtype = DType::bf16;
  return "--param-dtype bf16";
}

std::string with_both_in_few_bits(ProgramSetting& setting, const Network& network) {
  const std::string params = with_params_in_bf16(setting, network), states = with_states_in_8_bits(setting, network);
  return params.empty() || states.empty() ? "" : params + " " + states;
}

bool trains_all(const NetworkSetting& setting) { return !setting.frozen.any() && !setting.lora.any(); }

/// Beside the weights that the network names for that, or else all linear layers.
std::string with_adapters(ProgramSetting& setting, const Network& network) {
  if (!trains_all(setting.network)) return "";
  LoraSetting& lora = setting.network.lora;
  lora.rank = 8;
  if (std::ranges::any_of(network.weight_names, [](const WeightNames& names) { return !names.lora.empty(); }))
    return "--lora";
  lora.targets = {{.pattern = "all-linear"}};
  return "--lora --lora-targets all-linear";
}

std::string with_adapters_over_few_bits(ProgramSetting& setting, const Network& network) {
  const std::string adapters = with_adapters(setting, network);
  if (adapters.empty() || !setting.network.frozen.types.empty()) return "";
  setting.network.frozen.types = "nf4-dq";
  return adapters + " --frozen-dtype nf4-dq";
}

/// What `name` is a parameter of, with all others of that: "logits.*".
std::string layer_pattern(const std::string& name) {
  const std::size_t dot = name.rfind('.');
  return dot == std::string::npos ? name : name.substr(0, dot) + ".*";
}

/// The layers after the last block, if the network says what its blocks are, else that of the last parameter.
std::string head_of(const Network& network) {
  const Depths depths = depths_of(network);
  std::vector<std::string> head;
  std::string last;
  for (const ParamInfo& info : network.params) {
    const Var& var = network.program.vars[info.var];
    if (var.kind != Kind::Param) continue;
    last = layer_pattern(var.name);
    const auto depth = depths.of.find(var.name);
    const bool is_last = depths.blocks > 0 && depth != depths.of.end() && depth->second > depths.blocks;
    if (is_last && (head.empty() || head.back() != last)) head.push_back(last);
  }
  if (head.empty()) return last;
  std::string names = head.front();
  for (std::size_t i = 1; i < head.size(); ++i) names += "," + head[i];
  return names;
}

std::string head_alone(ProgramSetting& setting, const Network& network) {
  if (!trains_all(setting.network)) return "";
  setting.network.frozen.train_only = head_of(network);
  return message("--train-only '", setting.network.frozen.train_only, "'");
}

/// The least change first.
const Way kWays[] = {
    {"backward twice, first for the norm of all gradients; same results", in_two_passes},
    {"gradients in 16 bits, as backward makes them", with_narrow_gradients},
    {"states of the update in 8 bits each", with_states_in_8_bits},
    {"parameters in 16 bits, which updates round by chance", with_params_in_bf16},
    {"parameters in 16 bits and states in 8", with_both_in_few_bits},
    {"one number of state a parameter; wants a rate three to ten times smaller",
     [](ProgramSetting& s, const Network&) { return with_optimizer(s, "lion"); }},
    {"a row and a column of state a matrix",
     [](ProgramSetting& s, const Network&) { return with_optimizer(s, "adafactor"); }},
    {"trains adapters of rank 8 beside weights that stay as they are", with_adapters},
    {"trains such adapters beside weights in about four bits each", with_adapters_over_few_bits},
    {"trains the head alone; all else stays as it is", head_alone},
};

/// Of the changed setting.
void plan_change(const ProgramSetting& changed, std::optional<std::int64_t> budget, Prepared& prepared,
                 Advice& advice) {
  const Programs programs = build_programs(changed);
  const auto look = [&](const MemorySetting& memory) {
    const Plans plans = plan_programs(programs, changed.evaluated, memory, prepared);
    advice.bytes = plans.bytes.total();
    advice.overhead = plans.training.recomputed ? plans.training.recomputed->overhead : 0;
  };
  const bool recomputes = budget && changed.memory.levels.level == Level::Recompute;
  look(recomputes ? memory_setting("level=2", changed.memory) : changed.memory);
  if (recomputes && advice.bytes > *budget) look(changed.memory);
}

}  // namespace

Advised advice_for(const ProgramSetting& setting, const Network& network, std::int64_t taken,
                   std::optional<std::int64_t> budget, Prepared& prepared,
                   const std::function<void(const std::string&)>& busy) {
  Advised all;
  if (!setting.training) return all;
  for (const Way& way : kWays) {
    ProgramSetting changed = setting;
    Advice advice{.change = way.apply(changed, network), .what = way.what};
    if (advice.change.empty()) continue;
    if (busy) busy("looks at " + advice.change);
    try {
      plan_change(changed, budget, prepared, advice);
    } catch (const Error& error) {
      if (error.code != Exit::Usage) throw;
      if (std::ranges::find(all.refusals, error.what(), &Refusal::reason) == all.refusals.end())
        all.refusals.push_back({advice.change, error.what()});
      continue;
    }
    if (advice.bytes < taken) all.changes.push_back(std::move(advice));
  }
  return all;
}

const Advice* least_change_that_fits(const std::vector<Advice>& advice, std::int64_t budget) {
  const auto found = std::ranges::find_if(advice, [&](const Advice& a) { return a.bytes <= budget; });
  return found == advice.end() ? nullptr : &*found;
}

}  // namespace lethe
