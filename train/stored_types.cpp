#include "train/stored_types.h"

#include <algorithm>

#include "framework/builder/frozen.h"
#include "framework/builder/weights_named.h"
#include "framework/error.h"
#include "framework/name_pattern.h"
#include "train/model_folder.h"
#include "train/session/programs.h"
#include "train/session/start.h"
#include "train/session/weights.h"

namespace lethe {
namespace {

constexpr const char* kOption = "frozen-dtype";

bool says_stored(const std::string& types) {
  const auto each = frozen_types(types);
  return std::ranges::any_of(each, [](const FrozenType& type) { return type.type == kStoredType; });
}

/// "NAME=TYPE" for each item of the list that says a type, and "NAME=TYPE?", be it frozen or not, for each weight that
/// one means which says `stored`.
std::string spelled_out(const std::string& types, const Network& network,
                        const std::map<std::string, std::string>& stored) {
  std::string list;
  const auto add = [&](const std::string& name, const std::string& type) {
    list.append(list.empty() ? "" : ",").append(name).append("=").append(type);
  };
  for (const FrozenType& each : frozen_types(types)) {
    if (each.type != kStoredType) {
      add(each.pattern, each.type + (each.may_be_trained ? "?" : ""));
      continue;
    }
    for (const VarId v : weights_named(network, each.pattern, "`frozen_dtype`"))
      if (const auto found = stored.find(network.program.vars[v].name); found != stored.end())
        add(found->first, found->second + '?');
  }
  return list;
}

}  // namespace

OptionValues with_stored_types(OptionValues values) {
  const std::string types = value_in(values, kOption), weights = value_in(values, "weights");
  if (!says_stored(types)) return values;
  if (weights.empty() && !value_in(values, "resume").empty()) {
    values.erase(kOption);
    return values;
  }
  check(!weights.empty(), "--frozen-dtype stored: no --weights say in which types they are");
  NetworkSetting of;
  of.model = value_in(values, "model");
  for (const std::string& item : patterns_in(value_in(values, "set")))
    of.sets[item.substr(0, item.find('='))] = item.substr(item.find('=') + 1);
  const Network network = build_network(of, false);
  values[kOption] = spelled_out(types, network, stored_types(weights_file(weights), network));
  return values;
}

}  // namespace lethe
