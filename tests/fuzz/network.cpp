// Network files: read, expanded and built for training, with their backward and update ops, and for evaluation.
#include "models/network.h"

#include "framework/language/op_def.h"
#include "framework/language/verify.h"
#include "models/format.h"
#include "optimizer/optimizer.h"
#include "tests/fuzz/fuzz.h"

namespace lethe::fuzz::network_target {
namespace {

void build(const std::string& file) {
  train_defaults(file);
  Network network = load_network(file, {.batch = 2});
  if (network.loss != kNone) {
    const std::vector<ParamGrad> gradients = append_backward(network.program, network.loss);
    append_updates(network.program, gradients, network.params, optimizer_named("momentum"));
  }
  verify(network.program);
  load_network(file, {.batch = 1, .training = false});
}

/// Whether a file may repeat something a hundred times and more, which takes too long to be tried often.
bool repeats_much(std::string_view text) {
  if (text.find("repeat") == text.npos && text.find("times") == text.npos) return false;
  std::size_t digits = 0;
  for (const char c : text)
    if ((digits = c >= '0' && c <= '9' ? digits + 1 : 0) > 2) return true;
  return false;
}

void add_keys(std::vector<std::string>& words, const std::vector<KeyFact>& keys) {
  for (const std::string& name : names_of(keys)) words.push_back('"' + name + "\":");
}

Material material() {
  Material all{.seeds = files_in_source("tests/models/bad", ".json")};
  for (const std::string& network : files_in_source("models", ".json"))
    if (network.size() < 4096) all.seeds.push_back(network);
  all.words = {
      "{\"op\":\"", "\"}", "[]", "{}", "true", "null", "\"=", "==", "&&", "%", "/*", "*/", "//", "@in", "@trip"};
  for (const auto* keys : {&document_keys(), &input_keys(), &block_keys(), &loss_keys(), &train_keys(), &while_keys(),
                           &do_keys(), &op_keys()})
    add_keys(all.words, *keys);
  for (const EntryFact& entry : entry_facts()) add_keys(all.words, entry.keys);
  for (const Layer* layer : all_layers()) {
    all.words.push_back("{\"op\":\"" + layer->name + "\"},");
    for (const Key& key : layer->keys) all.words.push_back('"' + key.name + "\":");
  }
  return all;
}

void read_input(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = text_of(data, size);
  if (repeats_much(text)) return;
  static Directory directory;
  const std::string file = directory.put("net.json", text);
  reads({Exit::Usage}, [&] { build(file); });
}

const RegisterTarget target{{"network", material, read_input}};

}  // namespace
}  // namespace lethe::fuzz::network_target
