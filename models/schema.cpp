// The JSON Schema of network files: the definitions below, the kinds of entry, and a rule for each layer record.
#include "framework/builder/builder.h"
#include "framework/language/op_def.h"
#include "models/format.h"
#include "models/network.h"
#include "models/settings.h"

namespace lethe {
namespace {

Json ref(const std::string& definition) { return {{"$ref", "#/definitions/" + definition}}; }
Json either(std::initializer_list<Json> all) { return {{"anyOf", Json(all)}}; }
Json of_type(const char* type) { return {{"type", type}}; }
Json list_of(Json items) { return {{"type", "array"}, {"items", std::move(items)}}; }
Json pair_of_ints() { return {{"type", "array"}, {"items", ref("int")}, {"minItems", 2}, {"maxItems", 2}}; }
Json at_least_one(Json schema, const char* what) {
  schema[what] = 1;
  return schema;
}

/// An object whose members have names of one kind and values of another.
Json map_of(Json values) {
  return {{"type", "object"}, {"propertyNames", ref("ident")}, {"additionalProperties", std::move(values)}};
}

/// An object with exactly these keys.
Json object_of(const std::vector<KeyFact>& keys) {
  Json object = {{"type", "object"}, {"additionalProperties", false}};
  Json properties = Json::object(), required = Json::array();
  for (const KeyFact& key : keys) {
    properties[key.name] = ref(key.type);
    if (key.required) required.push_back(key.name);
  }
  if (!required.empty()) object["required"] = required;
  object["properties"] = properties;
  return object;
}

Json value_schema(const Key& key) {
  switch (key.type) {
    case KeyType::Int:
      return ref("int");
    case KeyType::Number:
      return ref("num");
    case KeyType::Bool:
      return ref("bool");
    case KeyType::Text:
      return ref("text");
    case KeyType::IntPair:
      return ref("int_or_pair");
    case KeyType::IntList:
      return ref("ints");
    case KeyType::Pad:
      return ref("pad");
    case KeyType::Choice:
      return either({{{"enum", key.choices}}, ref("expr")});
    case KeyType::Axis:
      return ref("axis");
    case KeyType::Init:
      return ref("init");
  }
  return {};
}

/// A bound as people write it: without a point if it is whole.
Json number_of(double bound) {
  const auto whole = static_cast<std::int64_t>(bound);
  return static_cast<double>(whole) == bound ? Json(whole) : Json(bound);
}

/// Bounds for the numbers in a value: for the value itself, and for the items if it is a list.
void add_range(Json& property, const Key& key) {
  Json range = Json::object();
  if (key.min) range["minimum"] = number_of(*key.min);
  if (key.max) range["maximum"] = number_of(*key.max);
  if (key.below) range["exclusiveMaximum"] = number_of(*key.below);
  if (key.type != KeyType::IntList) property.update(range);
  const bool lists = key.type == KeyType::IntList || key.type == KeyType::IntPair || key.type == KeyType::Pad;
  if (lists && !range.empty()) property["items"] = range;
}

/// If "op" is one of the layer's names: its keys, those of every such entry, and no others.
Json layer_rule(const Layer& layer, const std::vector<KeyFact>& common) {
  Json properties = Json::object(), required = Json::array();
  for (const KeyFact& key : common) properties[key.name] = true;
  for (const Key& key : layer.keys) {
    Json value = value_schema(key);
    Json& property = properties[key.name];
    property = value.contains("$ref") ? Json{{"allOf", Json::array({value})}} : value;  // beside $ref nothing counts
    add_range(property, key);
    if (!key.help.empty()) property["description"] = key.help;
    if (key.absent)
      property["default"] = key.type == KeyType::Bool ? Json(*key.absent == Attr(1)) : json_of(*key.absent);
    if (!key.absent && !key.optional) required.push_back(key.name);
  }
  Json then = {{"description", layer.help}, {"additionalProperties", false}};
  if (!required.empty()) then["required"] = required;
  then["properties"] = properties;
  return {{"if", {{"properties", {{"op", {{"enum", names_of(layer)}}}}}}}, {"then", then}};
}

Json op_definition() {
  Json properties = Json::object(), names = Json::array(), rules = Json::array();
  for (const KeyFact& key : op_keys()) properties[key.name] = ref(key.type);
  for (const Layer* layer : all_layers()) {
    for (const std::string& name : names_of(*layer)) names.push_back(name);
    rules.push_back(layer_rule(*layer, op_keys()));
  }
  properties["op"] = {{"enum", names}};
  return {{"type", "object"}, {"required", {"op"}}, {"properties", properties}, {"allOf", rules}};
}

/// Only the losses that are layers have keys of their own.
Json loss_definition() {
  Json loss = object_of(layer_loss_keys()), layers = Json::array(), rules = Json::array();
  loss.erase("additionalProperties");
  for (const std::string& name : loss_names()) {
    if (!is_layer_loss(name)) continue;
    layers.push_back(name);
    rules.push_back(layer_rule(layer_named(name), layer_loss_keys()));
  }
  rules.push_back({{"if", {{"properties", {{"op", {{"enum", layers}}}}}}}, {"else", object_of(loss_keys())}});
  loss["allOf"] = rules;
  return loss;
}

/// Exactly one of the keys that tell the kind, and then what that kind has.
Json entry_definition() {
  Json any = Json::array(), rules = Json::array();
  for (const EntryFact& fact : entry_facts()) {
    const Json has = {{"required", {fact.what}}};
    any.push_back(has);
    rules.push_back({{"if", has}, {"then", fact.kind == EntryKind::Op ? ref("op") : object_of(fact.keys)}});
  }
  return {{"type", "object"}, {"oneOf", any}, {"allOf", rules}};
}

void add_values(Json& all) {
  all["text"] = of_type("string");
  all["ident"] = {{"type", "string"}, {"pattern", "^[A-Za-z_][A-Za-z0-9_]*$"}, {"maxLength", kLongestName}};
  all["name"] = {{"type", "string"}, {"pattern", "^[A-Za-z0-9_.-]+$"}, {"maxLength", kLongestName}};
  all["reference"] = {{"type", "string"}, {"pattern", "^(@in|@trip|[A-Za-z0-9_./-]+)$"}};
  all["expr"] = {{"type", "string"}, {"pattern", "^="}};
  all["int"] = either({of_type("integer"), ref("expr")});
  all["num"] = either({of_type("number"), ref("expr")});
  all["bool"] = either({of_type("boolean"), ref("expr")});
  all["ints"] = list_of(ref("int"));
  all["int_or_pair"] = either({ref("int"), pair_of_ints()});
  all["pad"] = either({{{"enum", {"same", "valid"}}}, ref("int_or_pair")});
  all["axis"] =
      either({{{"enum", {"channels", "height", "width"}}}, {{"type", "integer"}, {"minimum", 0}}, ref("expr")});
  all["init"] = either({{{"enum", {"he", "xavier", "lecun", "zeros", "ones"}}},
                        {{"type", "string"}, {"pattern", "^(=|(normal|uniform):)"}},
                        {{"type", "object"},
                         {"minProperties", 1},
                         {"maxProperties", 1},
                         {"additionalProperties", false},
                         {"properties", {{"normal", ref("num")}, {"uniform", ref("num")}}}}});
  all["memopt"] = {{"enum", op_memopts()}};
  all["loop_memopt"] = {{"enum", loop_memopts()}};
}

void add_entries(Json& all) {
  Json names = Json::array();
  for (const Join& join : joins()) names.push_back(join.name);
  all["in"] = either({ref("reference"), at_least_one(list_of(ref("reference")), "minItems")});
  all["names"] = at_least_one(list_of(ref("reference")), "minItems");
  all["layers"] = list_of(ref("entry"));
  all["entry"] = entry_definition();
  all["op"] = op_definition();
  all["arguments"] = map_of({{"type", {"number", "boolean", "string"}}});
  all["trips"] = either({ref("int"), list_of(either({ref("num"), ref("arguments")}))});
  all["branches"] = at_least_one(list_of(ref("layers")), "minItems");
  all["join"] = {{"enum", names}};
}

/// An object whose members are states of a loop.
Json states_of(Json value) {
  return {{"type", "object"},
          {"propertyNames", ref("name")},
          {"minProperties", 1},
          {"additionalProperties", std::move(value)}};
}

void add_control_flow(Json& all) {
  all["condition"] = either({ref("expr"), at_least_one(list_of(ref("entry")), "minItems")});
  all["while"] = object_of(while_keys());
  all["do"] = object_of(do_keys());
  all["state"] = states_of(either({ref("reference"), ref("num")}));
  all["next"] = states_of(ref("reference"));
}

void add_document(Json& all) {
  const Json number = {{"type", {"number", "boolean"}}};
  all["version"] = {{"const", 1}};
  all["vars"] = map_of(either({number, ref("expr")}));
  all["variants"] = {{"type", "object"}, {"additionalProperties", map_of(number)}};
  all["shape"] = list_of(ref("int"));
  all["dtype"] = {{"enum", input_dtypes()}};
  all["layout"] = {{"enum", layout_names()}};
  all["inputs"] = at_least_one(map_of(object_of(input_keys())), "minProperties");
  all["params"] = map_of({{"type", {"number", "boolean", "string", "null"}}});
  all["blocks"] = map_of(object_of(block_keys()));
  all["loss_type"] = {{"enum", loss_names()}};
  all["losses"] = list_of(loss_definition());
  all["train"] = object_of(train_keys());
  all["flag"] = of_type("boolean");
  all["tensor"] = either({ref("text"), at_least_one(list_of(ref("text")), "minItems")});
  all["tensors"] = list_of(object_of(weight_keys()));
  all["weights"] = map_of(object_of(weight_names_keys()));
  all["depth"] = at_least_one(list_of(ref("text")), "minItems");
}

void add_config(Json& all) {
  const auto any_names = [](Json values) {
    return Json{{"type", "object"}, {"additionalProperties", std::move(values)}};
  };
  all["value"] = {{"type", {"number", "boolean", "string"}}};
  all["any"] = {{"type", "array"}};
  all["texts"] = list_of(ref("text"));
  all["numbers_of_texts"] = any_names({{"type", {"number", "boolean"}}});
  all["config_keys"] = any_names(object_of(config_entry_keys()));
  all["config"] = any_names(object_of(config_family_keys()));
}

}  // namespace

std::string network_schema() {
  Json schema = {{"$schema", "http://json-schema.org/draft-07/schema#"}, {"title", "Lethe network file, version 1"}};
  schema.update(object_of(document_keys()));
  Json& definitions = schema["definitions"];
  add_values(definitions);
  add_entries(definitions);
  add_control_flow(definitions);
  add_document(definitions);
  add_config(definitions);
  return schema.dump(1) + '\n';
}

}  // namespace lethe
