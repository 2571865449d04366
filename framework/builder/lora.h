// Which weights of a network have adapters.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "framework/builder/frozen.h"

namespace lethe {

/// Modules that have an adapter, with a rank and an alpha of their own or those of all. `pattern`: the whole name of a
/// module or its end after a dot or slash, * for any characters, as PEFT's target_modules: "q_proj",
/// "layers.0.self_attn.q_proj". A module is a layer as we call it ("layer/0/attention/qkv"), or what a library calls a
/// weight's tensor (Network::weight_names), which may be some rows of the weight; "all-linear": all fc layers but those
/// that give an output of the network.
struct LoraTarget {
  std::string pattern = {};
  std::optional<std::int64_t> rank = {};
  std::optional<double> alpha = {};
  bool operator==(const LoraTarget&) const = default;
};

/// As the user says it; the defaults are PEFT's. `rank` 0: there are no adapters.
struct LoraSetting {
  std::int64_t rank = 0;
  double alpha = 8, dropout = 0;
  bool rslora = false;                   // scale alpha / sqrt(rank)
  std::vector<LoraTarget> targets = {};  // of those that mean a module the last counts; none: WeightNames::lora
  std::string train = {};                // patterns of weights that train beside the adapters (weights_named.h)
  bool any() const { return rank > 0; }
  bool operator==(const LoraSetting&) const = default;
};

/// What an adapter beside the weight of such an op is; none where it can have none.
std::optional<AdapterKind> adapter_kind(const std::string& op);

/// For BuildOptions::adapters, in the order of the weights and their rows, of a network that was built without them.
/// Fails for a target that means nothing, or what can have no adapter, for two that mean the same rows of a weight, and
/// if there are none and the network knows none.
std::vector<Adapter> adapters_of(const Network& network, const LoraSetting& setting);

/// What of a network, built without adapters and with nothing frozen, is to be built otherwise: adapters, beside which
/// all but `train` is frozen, or what is frozen alone. False if it is nothing. Fails as adapters_of(), weights_named()
/// and frozen_names() do, for both settings at once and for targets without a rank.
bool choose_trained(BuildOptions& options, const Network& network, const FrozenSetting& frozen,
                    const LoraSetting& lora);

}  // namespace lethe
