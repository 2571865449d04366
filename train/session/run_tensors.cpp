#include "train/session/run_tensors.h"

#include <algorithm>
#include <map>

#include "framework/ranks/peers.h"
#include "optimizer/averages.h"
#include "optimizer/optimizer.h"
#include "train/session/stored_weights.h"

namespace lethe {
namespace {

bool is_average(const std::string& name) { return name == average_of(param_of(name)); }

}  // namespace

std::vector<StoredTensor> shown_weights(const Store& store, const Network& network, const std::set<std::string>& but) {
  std::vector<StoredTensor> weights = stored_weights(network, but);
  for (StoredTensor& weight : weights)
    if (store.has(average_of(weight.var.name))) weight.var.name = average_of(weight.var.name);
  return weights;
}

std::string param_of(const std::string& state) { return state.substr(0, state.rfind('@')); }
std::string trained_name(const std::string& weight) { return weight + "@trained"; }

std::vector<StoredTensor> run_states_of(const Store& store, const Network& network) {
  std::map<std::string, StoredTensor> weights;
  for (const StoredTensor& weight : stored_weights(network)) weights[weight.var.name] = weight;
  const Peers* const peers = store.device().peers();
  std::vector<StoredTensor> states;
  for (const std::string& name : store.names()) {
    if (is_average(name) || (weights.count(name) && !store.has(average_of(name)))) continue;
    StoredTensor state = {.var = store.var(name), .names = {weights.count(name) ? trained_name(name) : name}};
    if (const auto param = weights.find(param_of(name)); param != weights.end()) {
      const Shape& whole = param->second.var.shape;
      if (peers && may_be_a_share(name) && state.var.shape == Shape{size_of_share(elements(whole), peers->rank().of)})
        state.var.shape = whole;
      if (state.var.shape == whole && !is_in_blocks(state.var.dtype)) state.layout = param->second.layout;
    }
    states.push_back(state);
  }
  return states;
}

std::vector<StoredTensor> states_in(const TensorReader& file, const Store& store, const Network& network) {
  std::vector<StoredTensor> states = run_states_of(store, network);
  std::erase_if(states, [](const StoredTensor& state) { return state.names.front() == trained_name(state.var.name); });
  for (StoredTensor& weight : stored_weights(network)) {
    weight.names = {trained_name(weight.var.name)};
    if (file.find(weight.names.front())) states.push_back(std::move(weight));
  }
  return states;
}

void begin_averages(Store& store) {
  for (const std::string& name : store.names()) {
    if (!is_average(name)) continue;
    const std::vector<std::byte> weight = store.read(param_of(name));
    store.write(name, weight.data(), std::ssize(weight));
  }
}

}  // namespace lethe
