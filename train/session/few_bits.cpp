#include "train/session/few_bits.h"

#include "framework/builder/weights_named.h"
#include "framework/error.h"

namespace lethe {

std::optional<DType> low_of(const std::optional<DType>& dtype) { return dtype == DType::f32 ? std::nullopt : dtype; }

void check_few_bits(const ProgramSetting& setting) {
  const NetworkSetting& of = setting.network;
  const bool low = low_of(of.param_dtype).has_value();
  check(!of.param_dtype || *of.param_dtype == DType::f32 || *of.param_dtype == DType::bf16, "`param_dtype` is ",
        name_of(of.param_dtype.value_or(DType::f32)), ", expected f32 or bf16");
  check(!low || of.dtype != DType::f64, "`param_dtype` bf16 goes with `dtype` f32, bf16 and f16");
  check(!low || setting.update.ema == 0, "`ema` averages parameters in f32 and goes with `param_dtype` f32");
  const bool coded = setting.update.rule.states_in_8_bits;
  check(of.keep_f32.empty() || low || coded,
        "`keep_f32` is for `param_dtype` bf16 and `state_dtype` 8bit: all is in f32 without them");
  check((!low && !coded) || !setting.memory.guest, "`param_dtype` and `state_dtype` go with none and the levels");
}

std::set<std::string> kept_f32(const Network& network, const std::string& patterns) {
  std::set<std::string> names;
  for (const VarId v : weights_named(network, patterns, "`keep_f32`")) names.insert(network.program.vars[v].name);
  return names;
}

OptimizerSettings rule_in_few_bits(const ProgramSetting& setting, const Network& network) {
  OptimizerSettings rule = setting.update.rule;
  rule.keep_f32 = kept_f32(network, setting.network.keep_f32);
  rule.seed = setting.network.seed;
  return rule;
}

}  // namespace lethe
