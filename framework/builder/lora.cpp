#include "framework/builder/lora.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "framework/builder/network_weights.h"
#include "framework/builder/weights_named.h"
#include "framework/did_you_mean.h"
#include "framework/error.h"
#include "framework/language/core_ops.h"
#include "framework/language/op_def.h"
#include "framework/name_pattern.h"

namespace lethe {
namespace {

constexpr const char* kAllLinear = "all-linear";

/// What may have an adapter, or could if `refused` said nothing.
struct Module {
  Adapter adapter = {};                 // all but what the setting says
  std::vector<std::string> names = {};  // by any of which it may be meant
  const char* refused = nullptr;        // why it can have none
  bool in_all = false;                  // all-linear means it
};

/// The first op that reads a weight, itself or as a copy in another dtype.
std::map<VarId, const Op*> first_readers(const Program& program) {
  std::map<VarId, VarId> copies;
  std::map<VarId, const Op*> readers;
  for (const Block& block : program.blocks)
    for (const Op& op : block.ops) {
      if (op.type == kCast)
        copies[op.out[0]] = op.in[0];
      else if (op.in.size() > 1 && op.in[1] != kNone) {
        const auto copy = copies.find(op.in[1]);
        readers.try_emplace(copy == copies.end() ? op.in[1] : copy->second, &op);
      }
    }
  return readers;
}

/// What the first loss reads, without a loss the outputs, and what they are other shapes of. Of a network whose loss
/// has no logits it is nothing, in training as in evaluation, which may have them.
std::set<VarId> outputs_of(const Network& network) {
  std::set<VarId> outputs(network.outputs.begin(), network.outputs.end());
  if (network.sample_loss != kNone) outputs = {network.prediction};
  const std::vector<Op>& ops = network.program.blocks[0].ops;
  for (auto op = ops.rbegin(); op != ops.rend(); ++op)
    if (op_def(op->type).view == ViewOf::Whole && outputs.contains(op->out[0])) outputs.insert(op->in[0]);
  return outputs;
}

/// Why an op's weight can have no adapter, or null.
const char* refusal(const Op* reader) {
  if (!reader || !adapter_kind(reader->type))
    return reader && reader->type == "linear_cross_entropy" ? "the loss computes its values and keeps none"
                                                            : "it is no fc, conv or embedding";
  if (reader->type != "conv2d") return nullptr;
  if (reader->attrs.integer("groups", 1) != 1) return "its convolution has groups";
  return reader->attrs.ints("dilation") == Ints{1, 1} ? nullptr : "its convolution is dilated";
}

/// The module of a whole weight that `reader` reads.
Module module_of(const Var& weight, const Op* reader) {
  Module module{.refused = refusal(reader)};
  module.adapter.weight = weight.name;
  if (module.refused) return module;
  module.adapter.kind = *adapter_kind(reader->type);
  module.adapter.rows = weight.shape[0];
  return module;
}

std::string without_suffix(const std::string& name) { return name.substr(0, name.rfind('.')); }
/// "q_proj" of "model.layers.0.self_attn.q_proj".
std::string last_part(const std::string& name) { return name.substr(name.find_last_of("./") + 1); }

void name_params(Adapter& adapter, const std::string& part) {
  const std::string base = without_suffix(adapter.weight) + (part.empty() ? "" : "." + part);
  adapter.a = base + ".lora_A";
  adapter.b = base + ".lora_B";
}

/// The module of these rows, which is added to those of a weight if it is not there; the first is of all rows.
Module& module_of_rows(std::vector<Module>& modules, std::int64_t first, std::int64_t rows, const std::string& name) {
  const auto is_same = [&](const Module& m) { return m.adapter.first == first && m.adapter.rows == rows; };
  if (const auto found = std::find_if(modules.begin() + 1, modules.end(), is_same); found != modules.end())
    return *found;
  Module part{.adapter = modules.front().adapter, .refused = modules.front().refused};
  part.adapter.module = name;
  part.adapter.first = first;
  part.adapter.rows = rows;
  name_params(part.adapter, last_part(name));
  modules.push_back(std::move(part));
  return modules.back();
}

/// Adds a library's names: to the whole weight's module, or to those of the rows that each tensor has.
void add_names(std::vector<Module>& modules, const ForeignWeight& weight, const std::string& prefix) {
  std::int64_t first = 0;
  for (std::size_t i = 0; i < weight.tensors.size(); ++i) {
    const std::string name = without_suffix(weight.tensors[i]);
    const bool whole = weight.tensors.size() == 1;
    Module& module = whole ? modules.front() : module_of_rows(modules, first, weight.rows[i], name);
    if (whole && module.names.size() == 1) module.adapter.module = name;
    module.names.insert(module.names.end(), {name, prefix_turned(name, prefix)});
    if (!whole) first += weight.rows[i];
  }
}

/// What a library calls a weight that it has under another name, too.
Module again(const ForeignWeight& weight) {
  Module module{.refused = "it is the weight of another layer, or an older name of it"};
  module.adapter.weight = weight.param;
  for (const std::string& tensor : weight.tensors) module.names.push_back(without_suffix(tensor));
  return module;
}

std::vector<Module> modules_of(const Network& network) {
  const Program& program = network.program;
  const std::map<VarId, const Op*> readers = first_readers(program);
  const std::set<VarId> outputs = outputs_of(network);
  std::vector<Module> all;
  for (const ParamInfo& info : network.params) {
    const Var& var = program.vars[info.var];
    if (var.kind != Kind::Param || !var.name.ends_with(".weight")) continue;
    const auto reader = readers.find(info.var);
    std::vector<Module> modules = {module_of(var, reader == readers.end() ? nullptr : reader->second)};
    modules.front().names = {without_suffix(var.name)};
    modules.front().adapter.module = modules.front().names.front();
    name_params(modules.front().adapter, "");
    for (const WeightNames& library : network.weight_names) {
      for (const ForeignWeight& weight : library.weights)
        if (weight.param == var.name) add_names(modules, weight, library.prefix);
      for (const ForeignWeight& weight : library.again)
        if (weight.param == var.name) all.push_back(again(weight));
    }
    const bool in_all =
        reader != readers.end() && reader->second->type == "fc" && !outputs.contains(reader->second->out[0]);
    const bool by_rows = modules.size() > 1 && modules.front().names.size() == 1;  // no library has it as one
    for (std::size_t m = 0; m < modules.size(); ++m) modules[m].in_all = in_all && (m > 0) == by_rows;
    all.insert(all.end(), modules.begin(), modules.end());
  }
  return all;
}

bool is_meant(const std::string& pattern, const Module& module) {
  if (pattern == kAllLinear) return module.in_all;
  return std::ranges::any_of(module.names, [&](const std::string& name) {
    return matches(pattern, name) || matches("*." + pattern, name) || matches("*/" + pattern, name);
  });
}

/// What targets may be called, for suggestions.
std::vector<std::string> known_names(const std::vector<Module>& modules) {
  std::vector<std::string> known = {kAllLinear};
  for (const Module& module : modules)
    for (const std::string& name : module.names)
      if (!module.refused) known.insert(known.end(), {last_part(name), name});
  return known;
}

/// The modules that the target means, by index; fails if there are none.
std::vector<std::size_t> meant(const std::string& pattern, const std::vector<Module>& modules) {
  std::vector<std::size_t> found;
  const Module* refused = nullptr;
  for (std::size_t m = 0; m < modules.size(); ++m)
    if (is_meant(pattern, modules[m])) {
      if (modules[m].refused)
        refused = &modules[m];
      else
        found.push_back(m);
    }
  if (found.empty() && refused)
    fail("`lora_targets`: ", quote(pattern), " can have no adapter: ", quote(refused->adapter.weight), ", ",
         refused->refused);
  check(!found.empty() || pattern != kAllLinear, "`lora_targets`: ", kAllLinear,
        " means no layer here: none is fully connected but those that give the output");
  check(!found.empty(), "`lora_targets`: no layer is called ", quote(pattern),
        did_you_mean(pattern, known_names(modules)));
  return found;
}

void check_apart(const std::vector<Adapter>& adapters) {
  for (std::size_t i = 1; i < adapters.size(); ++i) {
    const Adapter &a = adapters[i - 1], &b = adapters[i];
    check(a.weight != b.weight || a.first + a.rows <= b.first, "`lora_targets`: ", quote(a.module), " and ",
          quote(b.module), " are the same rows of ", quote(a.weight), ", expected one adapter for each");
  }
}

std::vector<LoraTarget> targets_of(const Network& network, const LoraSetting& setting) {
  if (!setting.targets.empty()) return setting.targets;
  std::vector<LoraTarget> targets;
  for (const WeightNames& library : network.weight_names)
    for (const std::string& pattern : library.lora) targets.push_back({.pattern = pattern});
  check(!targets.empty(), "`lora`: ", network.name,
        " says of no layers that they have adapters by default; `lora_targets` has to name them, as all-linear");
  return targets;
}

}  // namespace

std::optional<AdapterKind> adapter_kind(const std::string& op) {
  if (op == "fc") return AdapterKind::Linear;
  if (op == "conv2d") return AdapterKind::Conv;
  if (op == "embedding") return AdapterKind::Embedding;
  return std::nullopt;
}

std::vector<Adapter> adapters_of(const Network& network, const LoraSetting& setting) {
  std::vector<Module> modules = modules_of(network);
  std::map<std::size_t, Adapter> chosen;
  for (const LoraTarget& target : targets_of(network, setting))
    for (const std::size_t m : meant(target.pattern, modules)) {
      Adapter& adapter = chosen[m] = modules[m].adapter;
      adapter.rank = target.rank.value_or(setting.rank);
      adapter.alpha = target.alpha.value_or(setting.alpha);
      const auto rank = static_cast<double>(adapter.rank);
      adapter.scale = adapter.alpha / (setting.rslora ? std::sqrt(rank) : rank);
      adapter.dropout = adapter.kind == AdapterKind::Embedding ? 0 : setting.dropout;
    }
  std::vector<Adapter> adapters;
  for (auto& [m, adapter] : chosen) adapters.push_back(std::move(adapter));
  check_apart(adapters);
  return adapters;
}

bool choose_trained(BuildOptions& options, const Network& network, const FrozenSetting& frozen,
                    const LoraSetting& lora) {
  check(lora.any() || (lora.targets.empty() && lora.train.empty()), "`lora_targets` and `lora_train` need `lora`");
  check(!lora.any() || !frozen.any(), "`freeze` and `train_only` do not go with `lora`, which freezes all but its ",
        "adapters and what `lora_train` names");
  if (lora.any()) {
    options.adapters = adapters_of(network, lora);
    options.frozen = frozen_but(network, weights_named(network, lora.train, "`lora_train`"));
  } else if (frozen.any()) {
    options.frozen = frozen_names(network, frozen);
  }
  options.frozen_dtypes = frozen_dtypes(network, frozen.types, options.frozen);
  return lora.any() || frozen.any();
}

}  // namespace lethe
