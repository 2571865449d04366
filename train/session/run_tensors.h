// What a store holds of a run, as it stands in files. Where weights are averaged (optimizer/averages.h), a file of
// weights has their averages, under the names of the weights; these themselves belong to the run's states, as
// `<weight>@trained`.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "framework/builder/network.h"
#include "framework/run/store.h"
#include "train/session/stored_tensor.h"
#include "train/session/tensor_reader.h"

namespace lethe {

/// Weights (stored_weights) as whoever takes those of the run gets them: averages, where there are some.
std::vector<StoredTensor> shown_weights(const Store& store, const Network& network, const std::set<std::string>& but);

/// Whose state it is: "conv.weight" of "conv.weight@momentum".
std::string param_of(const std::string& state);
/// What the states of a run call a weight whose average is shown.
std::string trained_name(const std::string& weight);
/// The rest of the store; `<param>@momentum` and the like have the layout of their parameter, where they have its
/// shape and are not in blocks, and this where this rank has a share of them.
std::vector<StoredTensor> run_states_of(const Store& store, const Network& network);
/// Of these and of the weights what a file of states should have: weights as far as it has them.
std::vector<StoredTensor> states_in(const TensorReader& file, const Store& store, const Network& network);

/// Sets each average to what its weight is.
void begin_averages(Store& store);

}  // namespace lethe
