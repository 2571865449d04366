// One entry in a list of layers: what kind it is and whether its keys are right.
#pragma once
#include <string>
#include <vector>

#include "framework/language/layer.h"
#include "models/format.h"
#include "models/json_source.h"

namespace lethe {

/// The kind of an entry; fails unless it is exactly one, and, but for ops, has all that it requires and no unknown key.
EntryKind kind_of(const JsonNode& entry);
/// Fails for a key that neither the layer's record nor every op has.
void check_op_keys(const JsonNode& op_entry, const Layer& layer);
/// Fails if the entry has a "memopt" that is none of `known`.
void check_memopt(const JsonNode& entry, const std::vector<std::string>& known);

/// What an entry names; each fails with a suggestion if there is no such thing.
const Layer& layer_of(const JsonNode& op_entry);
JsonNode block_of(const JsonNode& document, const JsonNode& block_entry);
const Join& join_of(const JsonNode& branches_entry);

/// Checks entries that were perhaps never built: unused blocks and the side of an `if` that was not taken.
void check_layers(const JsonNode& document, const JsonNode& list);

}  // namespace lethe
