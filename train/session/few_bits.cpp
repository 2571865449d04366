#include "train/session/few_bits.h"

#include "framework/builder/weights_named.h"
#include "framework/error.h"
#include "train/session/shards.h"

namespace lethe {
namespace {

/// f32 is what parameters are in by themselves.
std::optional<DType> low_of(const std::optional<DType>& dtype) { return dtype == DType::f32 ? std::nullopt : dtype; }

/// The names that the patterns mean.
std::set<std::string> kept_f32(const Network& network, const std::string& patterns) {
  std::set<std::string> names;
  for (const VarId v : weights_named(network, patterns, "`keep_f32`")) names.insert(network.program.vars[v].name);
  return names;
}

void check_accumulate(const ProgramSetting& setting) {
  const Shards& shards = setting.shards;
  if (shards.accumulate == DType::f32) return;
  check(shards.accumulate == DType::bf16, "`accumulate` is ", name_of(shards.accumulate), ", expected f32 or bf16");
  check(shards.rank.of == 1, "`accumulate` bf16 goes with one rank; these are ", shards.rank.of);
  check(shards.sums == DType::f32, "`accumulate` bf16 goes with `sum_dtype` f32; this is ", name_of(shards.sums));
  check(setting.network.dtype != DType::f64, "`accumulate` bf16 goes with `dtype` f32, bf16 and f16; this is f64");
}

void check_grad_dtype(const ProgramSetting& setting) {
  const NetworkSetting& of = setting.network;
  const std::optional<DType> low = low_of(of.grad_dtype);
  if (!low) return;
  const std::string_view name = name_of(*low);
  check(*low == of.dtype && wide_of(*low) != *low, "`grad_dtype` is ", name, ", expected f32 or a `dtype` of 16 bits; ",
        "`dtype` is ", name_of(of.dtype));
  const std::int64_t parts = shards_of(setting).parts;
  check(parts == 1, "`grad_dtype` ", name, " goes with a batch in one part; of ", parts,
        " the gradients are summed, in bf16 with `accumulate` bf16");
  check(!setting.memory.guest, "`grad_dtype` goes with none and the levels");
}

}  // namespace

void check_few_bits(const ProgramSetting& setting) {
  check_accumulate(setting);
  check_grad_dtype(setting);
  const NetworkSetting& of = setting.network;
  const bool low = low_of(of.param_dtype).has_value();
  check(!of.param_dtype || *of.param_dtype == DType::f32 || *of.param_dtype == DType::bf16, "`param_dtype` is ",
        name_of(of.param_dtype.value_or(DType::f32)), ", expected f32 or bf16");
  check(!low || of.dtype != DType::f64, "`param_dtype` bf16 goes with `dtype` f32, bf16 and f16");
  check(!low || setting.update.ema == 0, "`ema` averages parameters in f32 and goes with `param_dtype` f32");
  check(of.dtype == DType::f16 || !setting.training || !setting.update.loss_scale,
        "`loss_scale` is for `dtype` f16; this is ", name_of(of.dtype));
  const bool coded = setting.update.rule.states_in_8_bits;
  check(of.keep_f32.empty() || low || coded,
        "`keep_f32` is for `param_dtype` bf16 and `state_dtype` 8bit: all is in f32 without them");
  check((!low && !coded) || !setting.memory.guest, "`param_dtype` and `state_dtype` go with none and the levels");
}

bool choose_bits(BuildOptions& options, const Network& network, const NetworkSetting& setting) {
  options.param_dtype = low_of(setting.param_dtype);
  if (!options.param_dtype) return false;
  options.keep_f32 = kept_f32(network, setting.keep_f32);
  return true;
}

bool keeps_gradients_narrow(const NetworkSetting& setting) { return low_of(setting.grad_dtype).has_value(); }

OptimizerSettings rule_of(const ProgramSetting& setting, const Network& network) {
  OptimizerSettings rule = setting.update.rule;
  rule.keep_f32 = kept_f32(network, setting.network.keep_f32);
  rule.seed = setting.network.seed;
  return rule;
}

}  // namespace lethe
