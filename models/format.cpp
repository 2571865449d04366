#include "models/format.h"

namespace lethe {
namespace {

/// `own` and the keys that every kind of entry has.
std::vector<KeyFact> with_common(std::vector<KeyFact> own) {
  own.insert(own.end(), {{"name", false, "name"}, {"in", false, "in"}, {"comment", false, "text"}});
  return own;
}

}  // namespace

std::vector<std::string> names_of(const std::vector<KeyFact>& keys) {
  std::vector<std::string> names;
  for (const KeyFact& key : keys) names.push_back(key.name);
  return names;
}

void check_object(const JsonNode& node, const std::string& what, const std::vector<KeyFact>& keys) {
  node.check_keys(what, names_of(keys));
  for (const KeyFact& key : keys)
    if (key.required && !node.has(key.name)) node.fail(what, " needs ", quote(key.name));
}

const std::vector<KeyFact>& document_keys() {
  static const std::vector<KeyFact> keys = {
      {"$schema", false, "text"},       {"version", true, "version"}, {"name", false, "text"},
      {"comment", false, "text"},       {"vars", false, "vars"},      {"variants", false, "variants"},
      {"inputs", true, "inputs"},       {"blocks", false, "blocks"},  {"layers", true, "layers"},
      {"outputs", false, "names"},      {"loss", false, "losses"},    {"train", false, "train"},
      {"weights", false, "weights"},    {"config", false, "config"},  {"depth", false, "depth"},
      {"embedding", false, "reference"}};
  return keys;
}

const std::vector<KeyFact>& input_keys() {
  static const std::vector<KeyFact> keys = {
      {"shape", true, "shape"}, {"dtype", false, "dtype"}, {"layout", false, "layout"}};
  return keys;
}

const std::vector<KeyFact>& block_keys() {
  static const std::vector<KeyFact> keys = {
      {"comment", false, "text"}, {"params", false, "params"}, {"layers", true, "layers"}};
  return keys;
}

const std::vector<KeyFact>& loss_keys() {
  static const std::vector<KeyFact> keys = {{"op", true, "loss_type"},         {"in", false, "reference"},
                                            {"target", false, "reference"},    {"weight", false, "num"},
                                            {"label_smoothing", false, "num"}, {"ignore", false, "int"},
                                            {"delta", false, "num"},           {"if", false, "expr"}};
  return keys;
}

std::vector<KeyFact> layer_loss_keys() {
  std::vector<KeyFact> keys = loss_keys();
  keys.push_back({"name", false, "name"});
  return keys;
}

const std::vector<KeyFact>& train_keys() {
  static const std::vector<KeyFact> keys = {
      {"data", false, "text"},       {"augment", false, "text"},    {"batch", false, "int"},
      {"epochs", false, "int"},      {"steps", false, "int"},       {"lr", false, "num"},
      {"optimizer", false, "text"},  {"momentum", false, "num"},    {"beta1", false, "num"},
      {"beta2", false, "num"},       {"eps", false, "num"},         {"weight_decay", false, "num"},
      {"lr_of", false, "text"},      {"layer_decay", false, "num"}, {"decay_all", false, "bool"},
      {"decay", false, "text"},      {"no_decay", false, "text"},   {"freeze", false, "text"},
      {"train_only", false, "text"}, {"schedule", false, "text"},   {"clip_norm", false, "num"},
      {"patience", false, "int"}};
  return keys;
}

const std::vector<KeyFact>& weight_names_keys() {
  static const std::vector<KeyFact> keys = {
      {"comment", false, "text"}, {"prefix", false, "text"}, {"lora", false, "texts"}, {"tensors", true, "tensors"}};
  return keys;
}

const std::vector<KeyFact>& weight_keys() {
  static const std::vector<KeyFact> keys = {{"comment", false, "text"},     {"tensor", true, "tensor"},
                                            {"param", false, "text"},       {"shape", false, "shape"},
                                            {"rows", false, "ints"},        {"transpose", false, "flag"},
                                            {"interleaved", false, "ints"}, {"if", false, "expr"}};
  return keys;
}

const std::vector<KeyFact>& config_family_keys() {
  static const std::vector<KeyFact> keys = {{"comment", false, "text"},     {"like", false, "text"},
                                            {"variant", false, "text"},     {"set", false, "arguments"},
                                            {"keys", false, "config_keys"}, {"pass", false, "texts"}};
  return keys;
}

const std::vector<KeyFact>& config_entry_keys() {
  static const std::vector<KeyFact> keys = {{"comment", false, "text"}, {"var", false, "ident"},
                                            {"let", false, "ident"},    {"most", false, "ident"},
                                            {"if", false, "expr"},      {"default", false, "value"},
                                            {"null", false, "value"},   {"is", false, "any"},
                                            {"check", false, "expr"},   {"values", false, "numbers_of_texts"},
                                            {"size", false, "flag"},    {"least", false, "int"},
                                            {"each", false, "int"}};
  return keys;
}

const std::vector<KeyFact>& while_keys() {
  static const std::vector<KeyFact> keys = {{"state", true, "state"}, {"cond", false, "layers"}, {"max", true, "int"}};
  return keys;
}

const std::vector<KeyFact>& do_keys() {
  static const std::vector<KeyFact> keys = {{"layers", true, "layers"}, {"next", true, "next"}};
  return keys;
}

const std::vector<EntryFact>& entry_facts() {
  static const std::vector<EntryFact> facts = {
      {EntryKind::Op, "op", with_common({{"op", true, "text"}, {"memopt", false, "memopt"}})},
      {EntryKind::Block, "block",
       with_common({{"block", true, "ident"},
                    {"with", false, "arguments"},
                    {"times", false, "int"},
                    {"as", false, "ident"},
                    {"first", false, "arguments"},
                    {"last", false, "arguments"}})},
      {EntryKind::Repeat, "repeat",
       with_common({{"repeat", true, "trips"}, {"layers", true, "layers"}, {"as", false, "ident"}})},
      {EntryKind::Branches, "branches", with_common({{"branches", true, "branches"}, {"join", true, "join"}})},
      {EntryKind::If, "if",
       with_common({{"if", true, "condition"}, {"then", true, "layers"}, {"else", false, "layers"}})},
      {EntryKind::While, "while",
       with_common({{"while", true, "while"},
                    {"do", true, "do"},
                    {"result", false, "name"},
                    {"memopt", false, "loop_memopt"}})}};
  return facts;
}

const std::vector<KeyFact>& op_keys() { return entry_facts().front().keys; }

const std::vector<Join>& joins() {
  static const std::vector<Join> all = {
      {"add", "add"}, {"concat", "concat"}, {"mul", "mul"}, {"max", "max"}, {"none", ""}};
  return all;
}

const std::vector<std::string>& op_memopts() {
  static const std::vector<std::string> names = {"auto", "keep"};
  return names;
}

const std::vector<std::string>& loop_memopts() {
  static const std::vector<std::string> names = {"auto", "keep", "recompute"};
  return names;
}

const std::vector<std::string>& input_dtypes() {
  static const std::vector<std::string> names = {"f32", "f64", "i32", "i64", "u8"};
  return names;
}

}  // namespace lethe
