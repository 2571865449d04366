#include "models/entry.h"

#include <algorithm>
#include <vector>

#include "framework/builder/builder.h"
#include "framework/did_you_mean.h"
#include "framework/language/op_def.h"

namespace lethe {
namespace {

/// Of an entry without one of `kinds`: which of them its first key that entries do not have may stand for.
std::string kind_meant(const JsonNode& entry, const std::vector<std::string>& kinds) {
  const std::vector<std::string> common = names_of(op_keys());
  for (const auto& [key, value] : entry.members())
    if (std::find(common.begin(), common.end(), key) == common.end()) return did_you_mean(key, kinds);
  return "";
}

}  // namespace

EntryKind kind_of(const JsonNode& entry) {
  entry.members();  // an object
  const EntryFact* found = nullptr;
  std::vector<std::string> kinds;
  for (const EntryFact& fact : entry_facts()) {
    kinds.push_back(fact.what);
    if (!entry.has(fact.what)) continue;
    if (found)
      entry.at(fact.what).fail_at_key(quote(fact.what), " beside ", quote(found->what), ": an entry has one of them");
    found = &fact;
  }
  if (!found)
    entry.fail("found ", entry.shown(), ", expected an entry with one of ", joined(kinds), kind_meant(entry, kinds));
  if (found->kind != EntryKind::Op) check_object(entry, "'" + found->what + "'", found->keys);
  if (found->kind == EntryKind::While) {
    check_object(entry.at("while"), "'while'", while_keys());
    check_object(entry.at("do"), "'do'", do_keys());
  }
  return found->kind;
}

const Layer& layer_of(const JsonNode& op_entry) {
  const JsonNode type = op_entry.at("op");
  try {
    return layer_named(type.text());
  } catch (const SettingError& error) {
    type.fail(error.what());
  }
}

void check_op_keys(const JsonNode& op_entry, const Layer& layer) {
  std::vector<std::string> known;
  for (const Key& key : layer.keys) known.push_back(key.name);
  for (const KeyFact& key : op_keys()) known.push_back(key.name);
  op_entry.check_keys("'" + layer.name + "'", known);
}

void check_memopt(const JsonNode& entry, const std::vector<std::string>& known) {
  if (!entry.has("memopt")) return;
  const JsonNode node = entry.at("memopt");
  if (std::find(known.begin(), known.end(), node.text()) == known.end())
    node.fail("unknown memopt ", quote(node.text()), did_you_mean(node.text(), known), "; known: ", joined(known));
}

JsonNode block_of(const JsonNode& document, const JsonNode& block_entry) {
  const JsonNode name = block_entry.at("block");
  if (document.has("blocks") && document.at("blocks").has(name.text())) return document.at("blocks").at(name.text());
  std::vector<std::string> known;
  if (document.has("blocks"))
    for (const auto& [key, block] : document.at("blocks").members()) known.push_back(key);
  name.fail("unknown block ", quote(name.text()), did_you_mean(name.text(), known),
            "; known: ", known.empty() ? "none" : joined(known));
}

const Join& join_of(const JsonNode& branches_entry) {
  const JsonNode name = branches_entry.at("join");
  std::vector<std::string> known;
  for (const Join& join : joins()) {
    if (join.name == name.text()) return join;
    known.push_back(join.name);
  }
  name.fail("unknown join ", quote(name.text()), did_you_mean(name.text(), known), "; known: ", joined(known));
}

void check_layers(const JsonNode& document, const JsonNode& list) {
  for (const JsonNode& entry : list.items()) {
    switch (kind_of(entry)) {
      case EntryKind::Op:
        check_op_keys(entry, layer_of(entry));
        break;
      case EntryKind::Block:
        block_of(document, entry);
        break;
      case EntryKind::Branches:
        join_of(entry);
        for (const JsonNode& branch : entry.at("branches").items()) check_layers(document, branch);
        break;
      case EntryKind::Repeat:
        check_layers(document, entry.at("layers"));
        break;
      case EntryKind::If:
        check_layers(document, entry.at("then"));
        if (entry.has("else")) check_layers(document, entry.at("else"));
        if (entry.at("if").json().is_array()) check_layers(document, entry.at("if"));
        break;
      case EntryKind::While:
        if (entry.at("while").has("cond")) check_layers(document, entry.at("while").at("cond"));
        check_layers(document, entry.at("do").at("layers"));
        break;
    }
  }
}

}  // namespace lethe
