#include "tests/support/random_training.h"

#include <map>
#include <string>
#include <vector>

#include "framework/autodiff/autodiff.h"
#include "framework/builder/lora.h"
#include "framework/language/block_formats.h"
#include "framework/random.h"

namespace lethe::testing {
namespace {

/// Beside some weights, of all rows or, as where a library has a weight in parts, of some.
std::vector<Adapter> some_adapters(const Network& network, Random& random) {
  const LoraSetting setting{.rank = 1 + random.below(3),
                            .alpha = 3,
                            .dropout = 0.25 * random.below(2),
                            .rslora = random.below(2) == 0,
                            .targets = {{.pattern = "*"}}};
  std::vector<Adapter> chosen;
  for (Adapter adapter : adapters_of(network, setting)) {
    if (random.below(2) == 0) continue;
    if (adapter.kind == AdapterKind::Linear && adapter.rows > 1 && random.below(4) > 0) {
      Adapter upper = adapter;
      upper.rows = 1 + random.below(static_cast<std::uint32_t>(adapter.rows - 1));
      adapter.first = upper.rows;
      adapter.rows -= upper.rows;
      adapter.rank += random.below(2);
      upper.a += "_upper", upper.b += "_upper";
      chosen.push_back(upper);
      if (random.below(3) == 0) continue;
    }
    chosen.push_back(adapter);
  }
  return chosen;
}

/// Of all frozen parameters that can be so.
void freeze_in_few_bits(BuildOptions& frozen, const Network& network, Random& random) {
  constexpr DType kTypes[] = {DType::int8, DType::q8_0, DType::q4_0, DType::q4_1, DType::nf4, DType::nf4_dq};
  const bool in_blocks = wide_of(frozen.dtype) != frozen.dtype || random.below(2) == 0;
  const DType low = random.below(2) == 0 ? DType::bf16 : DType::f16;
  for (const ParamInfo& info : network.params) {
    const Var& var = network.program.vars[info.var];
    if (var.kind != Kind::Param || var.shape.size() < 2 || !frozen.frozen.contains(var.name)) continue;
    DType dtype = in_blocks ? kTypes[random.below(std::size(kTypes))] : low;
    if (!complaint_about_blocks(dtype, var.shape).empty()) dtype = DType::nf4;
    frozen.frozen_dtypes[var.name] = dtype;
  }
}

/// In evaluation the same is chosen.
BuildOptions in_training(BuildOptions options) {
  options.training = true;
  return options;
}

Network with_some_frozen(std::uint64_t seed, const BuildOptions& options,
                         const std::function<Network(const BuildOptions&)>& make) {
  if (seed % 3 != 1) return make(options);
  const Network network = make(in_training(options));
  Random random(seed, 2);
  Program trained = network.program;
  const std::vector<ParamGrad> leading = append_backward(trained, network.loss);
  const VarId spared = leading[random.below(static_cast<std::uint32_t>(leading.size()))].param;
  BuildOptions frozen = options;
  std::map<std::string, bool> layers;
  for (const ParamInfo& info : network.params) {
    const std::string& name = network.program.vars[info.var].name;
    const auto [layer, is_new] = layers.try_emplace(name.substr(0, name.rfind('.')));
    if (is_new) layer->second = random.below(2) == 0;
    const bool exception = network.program.vars[info.var].kind == Kind::Param && random.below(8) == 0;
    if (info.var != spared && layer->second != exception) frozen.frozen.insert(name);
  }
  if (options.dtype != DType::f64 && random.below(2) == 0) freeze_in_few_bits(frozen, network, random);
  if (random.below(2) == 0) frozen.adapters = some_adapters(network, random);
  return make(frozen);
}

}  // namespace

Network trained_at_random(std::uint64_t seed, const BuildOptions& options,
                          const std::function<Network(const BuildOptions&)>& make) {
  Random random(seed, 3);
  if (options.dtype == DType::f64 || random.below(3) > 0) return with_some_frozen(seed, options, make);
  BuildOptions low = options;
  const Network network = make(in_training(options));
  for (const ParamInfo& info : network.params)
    if (random.below(4) == 0) low.keep_f32.insert(network.program.vars[info.var].name);
  low.param_dtype = DType::bf16;
  return with_some_frozen(seed, low, make);
}

OptimizerSettings random_rule(std::uint64_t seed) {
  Random random(seed, 4);
  const std::vector<std::string>& names = optimizer_names();
  OptimizerSettings rule = optimizer_named(names[random.below(static_cast<std::uint32_t>(names.size()))]);
  rule.states_in_8_bits = takes_8_bits(rule.type) && random.below(2) == 0;
  rule.min_8bit_size = random.below(2) == 0 ? 1 : 20;
  return rule;
}

}  // namespace lethe::testing
