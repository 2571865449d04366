#include "models/entry.h"

#include <algorithm>

#include "framework/builder.h"
#include "framework/op_def.h"

namespace lethe {
namespace {

/// `own` and the keys that every kind has.
std::vector<KeyFact> with_common(std::vector<KeyFact> own) {
  own.insert(own.end(),
             {{.name = "name", .type = "name"}, {.name = "in", .type = "in"}, {.name = "comment", .type = "text"}});
  return own;
}

const EntryFact& fact_of(const JsonNode& entry) {
  const EntryFact* found = nullptr;
  std::vector<std::string> kinds;
  for (const EntryFact& fact : entry_facts()) {
    kinds.push_back(fact.what);
    if (!entry.has(fact.what)) continue;
    if (found)
      entry.at(fact.what).fail_at_key("'", fact.what, "' beside '", found->what, "': an entry has one of them");
    found = &fact;
  }
  if (!found) entry.fail("a layer needs one of ", joined(kinds), "; found ", entry.shown());
  return *found;
}

}  // namespace

const std::vector<EntryFact>& entry_facts() {
  static const std::vector<EntryFact> facts = {
      {EntryKind::Op, "op", with_common({{"op", true, "op"}, {"memopt", false, "memopt"}})},
      {EntryKind::Block, "block",
       with_common({{"block", true, "ident"},
                    {"with", false, "arguments"},
                    {"times", false, "int"},
                    {"first", false, "arguments"},
                    {"last", false, "arguments"}})},
      {EntryKind::Repeat, "repeat",
       with_common({{"repeat", true, "trips"}, {"layers", true, "layers"}, {"as", false, "ident"}})},
      {EntryKind::Branches, "branches", with_common({{"branches", true, "branches"}, {"join", true, "join"}})},
      {EntryKind::If, "if",
       with_common({{"if", true, "condition"}, {"then", true, "layers"}, {"else", false, "layers"}})},
      {EntryKind::While, "while",
       with_common({{"while", true, "loop"}, {"do", true, "body"}, {"result", false, "ident"}})},
  };
  return facts;
}

std::vector<std::string> names_of(const std::vector<KeyFact>& keys) {
  std::vector<std::string> names;
  for (const KeyFact& key : keys) names.push_back(key.name);
  return names;
}

EntryKind kind_of(const JsonNode& entry) {
  entry.members();  // an object
  const EntryFact& fact = fact_of(entry);
  if (fact.kind == EntryKind::Op) return fact.kind;  // its layer's record knows the other keys
  entry.check_keys("a '" + fact.what + "' entry", names_of(fact.keys));
  for (const KeyFact& key : fact.keys)
    if (key.required && !entry.has(key.name)) entry.fail("'", fact.what, "' needs '", key.name, "'");
  return fact.kind;
}

const Layer& layer_of(const JsonNode& entry) {
  const JsonNode type = entry.at("op");
  const Layer* layer = nullptr;
  try {
    layer = &layer_named(type.text());
  } catch (const SettingError& error) {
    type.fail(error.what());
  }
  std::vector<std::string> known;
  for (const Key& key : layer->keys) known.push_back(key.name);
  for (const KeyFact& key : entry_facts().front().keys) known.push_back(key.name);
  entry.check_keys("'" + layer->name + "'", known);
  return *layer;
}

void check_layers(const JsonNode& document, const JsonNode& list) {
  for (const JsonNode& entry : list.items()) {
    switch (kind_of(entry)) {
      case EntryKind::Op:
        layer_of(entry);
        break;
      case EntryKind::Block:
        block_named(document, entry.at("block"));
        break;
      case EntryKind::Branches:
        join_named(entry.at("join"));
        for (const JsonNode& branch : entry.at("branches").items()) check_layers(document, branch);
        break;
      case EntryKind::Repeat:
        check_layers(document, entry.at("layers"));
        break;
      case EntryKind::If:
        check_layers(document, entry.at("then"));
        if (entry.has("else")) check_layers(document, entry.at("else"));
        break;
      case EntryKind::While:
        break;
    }
  }
}

JsonNode block_named(const JsonNode& document, const JsonNode& name) {
  std::vector<std::string> known;
  if (document.has("blocks"))
    for (const auto& [key, block] : document.at("blocks").members()) {
      if (key == name.text()) return block;
      known.push_back(key);
    }
  name.fail("unknown block '", name.text(), "'", did_you_mean(name.text(), known),
            "; known: ", known.empty() ? "none" : joined(known));
}

const std::vector<Join>& joins() {
  static const std::vector<Join> all = {
      {"add", "add"}, {"concat", "concat"}, {"mul", "mul"}, {"max", "max"}, {"none", ""}};
  return all;
}

const Join& join_named(const JsonNode& name) {
  std::vector<std::string> known;
  for (const Join& join : joins()) {
    if (join.name == name.text()) return join;
    known.push_back(join.name);
  }
  name.fail("unknown join '", name.text(), "'", did_you_mean(name.text(), known), "; known: ", joined(known));
}

}  // namespace lethe
