#include "train/session/weights.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>
#include <utility>

#include "framework/builder/frozen.h"
#include "framework/builder/network_weights.h"
#include "framework/builder/weights_named.h"
#include "framework/did_you_mean.h"
#include "framework/error.h"
#include "framework/ranks/peers.h"
#include "train/session/inner_matrices.h"
#include "train/session/library_weights.h"
#include "train/session/run_tensors.h"
#include "train/session/share_files.h"
#include "train/session/stored_weights.h"

namespace lethe {
namespace {

/// What a file of ours says that it holds.
Metadata content(const char* what) { return {{"format", "pt"}, {"content", what}}; }

/// The weights under the names of a library; else as `rules` say.
Reading reading_as(const WeightNames& names, const std::vector<StoredTensor>& own, const Reading& rules = {}) {
  Reading reading = rules;
  reading.all.clear();
  reading.prefix = names.prefix;
  reading.passed_over = names.passed_over;
  for (const ForeignWeight& weight : names.weights) reading.all.push_back(stored_as(weight, own));
  for (const ForeignWeight& weight : names.again) reading.again.push_back(stored_as(weight, own));
  return reading;
}

/// How many of a var's names are in the file.
std::ptrdiff_t names_there(const TensorReader& reader, const Reading& reading, const StoredTensor& stored) {
  return std::ranges::count_if(stored.names,
                               [&](const std::string& name) { return reading.find(reader, name) != nullptr; });
}

std::ptrdiff_t names_there(const TensorReader& reader, const Reading& reading) {
  std::ptrdiff_t found = 0;
  for (const StoredTensor& stored : reading.all) found += names_there(reader, reading, stored);
  return found;
}

/// Reads by its second name what the file has by that one alone.
Reading by_names_there(const TensorReader& reader, Reading reading) {
  for (std::vector<StoredTensor> again = std::exchange(reading.again, {}); StoredTensor & second : again) {
    StoredTensor& first =
        *std::ranges::find_if(reading.all, [&](const StoredTensor& s) { return s.var.name == second.var.name; });
    const bool alone =
        names_there(reader, reading, first) == 0 && names_there(reader, reading, second) == std::ssize(second.names);
    if (alone)
      first = std::move(second);
    else
      reading.again.push_back(std::move(second));
  }
  return reading;
}

/// By the names of the library that the file says to be of.
Reading reading_by_library(const TensorReader& reader, const Network& network, const Reading& own) {
  const auto names = std::ranges::find(network.weight_names, reader.library(), &WeightNames::library);
  check_as(Exit::Data, names != network.weight_names.end(), reader.file(), ": has weights as ", reader.library(),
           " names and orders them, which ", network.name, " does not know");
  return by_names_there(reader, reading_as(*names, own.all, own));
}

/// Reads by the names that are in the file: those of `own`, the network's, unless there are more of a library's.
Reading reading_of(const TensorReader& reader, const Network& network, const Reading& own) {
  if (!reader.library().empty()) return reading_by_library(reader, network, own);
  Reading best = own;
  for (const WeightNames& names : network.weight_names) {
    Reading other = by_names_there(reader, reading_as(names, own.all, own));
    if (names_there(reader, other) > names_there(reader, best)) best = std::move(other);
  }
  return best;
}

/// Shares of checkpoints are in the layout of memory.
std::vector<StoredTensor> as_in_memory(std::vector<StoredTensor> all) {
  for (StoredTensor& stored : all) stored.layout = {};
  return all;
}

bool is_share_index(const std::string& file) { return std::filesystem::path(file).filename() == kShareIndex; }

std::unique_ptr<TensorReader> open_tensors(const std::string& file, SharesOf which) {
  if (is_share_index(file)) return read_shares(file, which);
  return open_weights(file);
}

/// The network's weights whose names are wanted, by `rules`.
template <class Wanted>
Loaded read_into(Store& store, TensorReader& reader, const Network& network, Reading rules, const Wanted& wanted) {
  rules.all = stored_weights(network);
  rules.passed_over = network.left_out;
  const bool in_shares = is_share_index(reader.file());
  if (in_shares) rules.all = as_in_memory(std::move(rules.all));
  Reading reading = in_shares ? rules : reading_of(reader, network, rules);
  const auto unwanted = [&](const StoredTensor& stored) { return !wanted(stored.var.name); };
  std::erase_if(reading.all, unwanted);
  std::erase_if(reading.again, unwanted);
  return load_tensors(reader, store, reading);
}

/// Without those of `others`.
Loaded read_all(Store& store, TensorReader& reader, const Network& network, const Reading& rules,
                const std::vector<WeightsElsewhere>& elsewhere, std::set<std::string> others = {}) {
  others.merge(names_of(elsewhere));
  for (const WeightsElsewhere& each : elsewhere) check_as_read(each, reader.file(), network);
  Loaded all = read_into(store, reader, network, rules, [&](const std::string& w) { return !others.contains(w); });
  for (const WeightsElsewhere& each : elsewhere) {
    const std::unique_ptr<TensorReader> file = open_tensors(each.files.front(), SharesOf::Weights);
    const Reading rest{.converts = true,
                       .fresh = rules.fresh,
                       .ignored = tensors_named(each.ignore, *file, network),
                       .of_part = true,
                       .rounded = each.weights};
    const auto is_there = [&](const std::string& weight) { return each.weights.contains(weight); };
    Loaded more = read_into(store, *file, network, rest, is_there);
    std::ranges::move(more.lines, std::back_inserter(all.lines));
    all.anew.merge(more.anew);
  }
  return all;
}

/// All of them under the names of a library, or if that is "" under their own.
std::vector<StoredTensor> stored_as_in(const std::string& library, const Network& network) {
  const std::vector<StoredTensor> own = stored_weights(network);
  if (library.empty()) return own;
  check(network.adapters.empty(), network.name, ": ", quote(library), " has no names for the parameters of adapters");
  std::vector<std::string> known;
  for (const WeightNames& names : network.weight_names) {
    if (names.library == library) return reading_as(names, own).all;
    known.push_back(names.library);
  }
  fail(network.name, ": its \"weights\" name none of ", quote(library), did_you_mean(library, known),
       "; known: ", known.empty() ? "none" : joined(known));
}

}  // namespace

std::set<std::string> fresh_weights(const std::string& patterns, const Network& network) {
  std::set<std::string> names;
  for (const VarId var : weights_named(network, patterns, "`fresh`")) names.insert(network.program.vars[var].name);
  return names;
}

std::string not_finite(const Store& store, const Network& network) {
  const std::vector<StoredTensor> weights = stored_weights(network);
  const auto bad = std::ranges::find_if_not(weights, [&](const StoredTensor& weight) {
    return !no_number_in(store.read(weight.var.name), weight.var.dtype, Infinite::Refused);
  });
  Peers* const peers = store.device().peers();
  std::vector<std::int64_t> first(static_cast<std::size_t>(peers ? peers->rank().of : 1), bad - weights.begin());
  if (peers) peers->gather(first.data(), sizeof first[0]);
  const auto least = static_cast<std::size_t>(*std::ranges::min_element(first));
  return least == weights.size() ? "" : weights[least].var.name;
}

std::uint32_t save_weights(const std::string& file, const Store& store, const Network& network,
                           const std::string& library, std::optional<DType> dtype) {
  return save_tensors(file, store, stored_as_in(library, network), content("weights"), dtype);
}

std::uint32_t save_weights_quantized(const std::string& file, const Store& store, const Network& network,
                                     const std::string& library, DType dtype) {
  return save_quantized(file, store, stored_as_in(library, network), content("weights"),
                        {dtype, inner_matrices(network)});
}

std::uint32_t save_weights_but(const std::set<std::string>& but, const std::string& file, const Store& store,
                               const Network& network) {
  return save_tensors(file, store, shown_weights(store, network, but), content("weights"));
}

void load_weights(const std::string& file, Store& store, const Network& network) {
  load_weights(file, store, network, std::vector<WeightsElsewhere>{});
}

Loaded load_weights(const std::string& file, Store& store, const Network& network,
                    const std::vector<WeightsElsewhere>& elsewhere) {
  const std::unique_ptr<TensorReader> reader = open_tensors(file, SharesOf::Weights);
  return read_all(store, *reader, network, {.converts = true}, elsewhere);
}

Loaded load_weights(const std::string& file, Store& store, const Network& network, const WeightsSetting& setting,
                    const std::vector<WeightsElsewhere>& elsewhere) {
  return load_weights(*open_tensors(file, SharesOf::Weights), store, network, setting, elsewhere);
}

Loaded load_weights(TensorReader& tensors, Store& store, const Network& network, const WeightsSetting& setting,
                    const std::vector<WeightsElsewhere>& elsewhere) {
  std::set<std::string> adapters = adapter_params(network);
  if (std::ranges::any_of(adapters, [&](const std::string& name) { return tensors.find(name) != nullptr; }))
    adapters.clear();
  return read_all(store, tensors, network,
                  {.converts = true,
                   .fresh = fresh_weights(setting.fresh, network),
                   .ignored = tensors_named(setting.ignore, tensors, network),
                   .advises = true},
                  elsewhere, std::move(adapters));
}

std::map<std::string, std::string> stored_types(const std::string& file, const Network& network) {
  const std::unique_ptr<TensorReader> reader = open_tensors(file, SharesOf::Weights);
  const Reading reading = reading_of(*reader, network, {.all = stored_weights(network)});
  std::map<std::string, std::string> types;
  for (const StoredTensor& stored : reading.all) {
    std::set<DType> there;
    for (const std::string& name : stored.names)
      if (const TensorEntry* const tensor = reading.find(*reader, name); tensor && !tensor->is_foreign())
        there.insert(tensor->dtype);
    if (stored.var.kind != Kind::Param || stored.var.shape.size() < 2 || there.size() != 1) continue;
    const DType dtype = *there.begin();
    if (dtype == DType::f64 || (!is_float(dtype) && !is_in_blocks(dtype))) continue;
    check_as(Exit::Data, is_float(dtype) || are_its_blocks(*reader, reading, stored, dtype), file, ": '",
             stored.var.name, "' is several tensors in ", name_of(dtype), ", whose blocks are none of a whole; ",
             "`frozen_dtype` '", stored.var.name, "=", name_of(dtype), ",stored' makes blocks of what they mean");
    types.emplace(stored.var.name, name_of(dtype));
  }
  return types;
}

std::vector<std::string> files_of_weights(const std::string& file) {
  return open_tensors(file, SharesOf::Weights)->files();
}

std::uint32_t save_optimizer(const std::string& file, const Store& store, const Network& network) {
  return save_tensors(file, store, run_states_of(store, network), content("optimizer"));
}

void load_optimizer(const std::string& file, Store& store, const Network& network,
                    const std::vector<std::string>& frozen) {
  const std::set<std::string> before(frozen.begin(), frozen.end());
  const std::unique_ptr<TensorReader> reader = open_tensors(file, SharesOf::States);
  std::vector<StoredTensor> states = states_in(*reader, store, network);
  std::erase_if(states, [&](const StoredTensor& state) { return before.contains(param_of(state.var.name)); });
  if (is_share_index(file)) states = as_in_memory(std::move(states));
  Reading reading{.all = std::move(states), .infinite = Infinite::Allowed};
  for (const std::string& now : frozen_params(network))
    for (const TensorEntry& tensor : reader->tensors())
      if (!before.contains(now) && tensor.name != trained_name(now) && param_of(tensor.name) == now)
        reading.passed_over.push_back(tensor.name);
  load_tensors(*reader, store, reading);
}

void save_shares_but(const std::set<std::string>& but, const std::string& directory, std::int64_t step,
                     const Store& store, const Network& network) {
  save_shares(directory, step, shown_weights(store, network, but), run_states_of(store, network), store);
}

}  // namespace lethe
