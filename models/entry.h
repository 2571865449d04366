// The shape of a network file: which keys stand where, and the six kinds of entry in a list of layers.
#pragma once
#include <string>
#include <vector>

#include "framework/layer.h"
#include "models/json_source.h"

namespace lethe {

enum class EntryKind { Op, Block, Repeat, Branches, If, While };

/// Which keys an object of the format has; the schema and the reader both go by it.
struct KeyFact {
  std::string name;
  bool required = false;
  std::string type;  // what it is in the schema: one of its definitions
};

struct EntryFact {
  EntryKind kind;
  std::string what;  // the key that tells the kind
  std::vector<KeyFact> keys;
};

/// One row a kind; an op has its layer's keys besides.
const std::vector<EntryFact>& entry_facts();
std::vector<std::string> names_of(const std::vector<KeyFact>& keys);

/// The kind of an entry; fails unless it is exactly one, has all that it requires and no unknown key.
EntryKind kind_of(const JsonNode& entry);
/// The record of an op entry; fails for an unknown one.
const Layer& layer_of(const JsonNode& entry);

/// Checks entries that were perhaps never built: unused blocks and the side of an `if` that was not taken.
void check_layers(const JsonNode& document, const JsonNode& list);
/// The block that an entry uses; fails with a suggestion.
JsonNode block_named(const JsonNode& document, const JsonNode& name);

/// A way to join branches and the layer that does it; "none" has none.
struct Join {
  std::string name, layer;
};
const std::vector<Join>& joins();
const Join& join_named(const JsonNode& name);

}  // namespace lethe
