// From values in a network file to settings of layers: literals, expressions, lists.
#pragma once
#include "framework/language/layer.h"
#include "models/expression.h"
#include "models/json_source.h"

namespace lethe {

/// A number, true or false, text, or the value of an "=expression"; fails for lists, objects and null.
Attr value_of(const JsonNode& node, const Bindings& values);
/// The same, and it must be a whole number.
std::int64_t whole_of(const JsonNode& node, const Bindings& values);
/// And back: a value as JSON.
Json json_of(const Attr& value);

/// Whether the network has what an entry of the losses, or of the names of weights, is about: it has no "if", or one
/// whose value is not 0.
bool is_there(const JsonNode& entry, const Bindings& values);

/// The members of `entry` that `layer` has keys for, as Builder::layer takes them. What cannot be what its key takes is
/// handed on as text, for the layer's record to complain of.
Attrs settings_of(const JsonNode& entry, const Layer& layer, const Bindings& values);

}  // namespace lethe
