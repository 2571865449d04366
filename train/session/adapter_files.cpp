#include "train/session/adapter_files.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "framework/error.h"
#include "kernels/cpu/device.h"
#include "train/data/checksum.h"
#include "train/session/adapter_config.h"
#include "train/session/atomic_file.h"
#include "train/session/fed_data.h"
#include "train/session/reading.h"
#include "train/session/stored_weights.h"
#include "train/session/weights.h"

namespace lethe {
namespace {

namespace fs = std::filesystem;

constexpr const char* kAdapterWeights = "adapter_model.safetensors";
constexpr const char* kModel = "base_model.model.";       // before each name
constexpr const char* kBaseLayer = ".base_layer.weight";  // of a weight of the base that stands there, too
constexpr const char* kBaseDigest = "base_sha256";        // metadata of ours
constexpr std::size_t kDigestDigits = 64;                 // of a SHA-256

std::string path_in(const std::string& folder, const char* name) { return (fs::path(folder) / name).string(); }

/// A library's names with or without its prefix before each.
struct Library {
  const WeightNames& names;
  bool turned;
  std::string full(const std::string& name) const {
    return kModel + (turned ? prefix_turned(name, names.prefix) : name);
  }
};

/// What the adapters' parameters, and the weights in `saved`, are called there; none if the library has no name for one
/// of them.
std::optional<std::vector<StoredTensor>> stored_adapter(const Network& network, const Library& library,
                                                        const std::set<std::string>& saved) {
  const std::vector<StoredTensor> own = stored_weights(network);
  const auto own_of = [&](const std::string& name) {
    return *std::ranges::find_if(own, [&](const StoredTensor& stored) { return stored.var.name == name; });
  };
  std::vector<StoredTensor> all;
  for (const Adapter& adapter : network.adapters) {
    const std::optional<std::string> module = module_in(network, library.names, adapter);
    if (!module) return std::nullopt;
    const bool of_embedding = adapter.kind == AdapterKind::Embedding;
    const std::string name = library.full(*module);
    StoredTensor a = own_of(adapter.a), b = own_of(adapter.b);
    a.names = {name + (of_embedding ? ".lora_embedding_A" : ".lora_A.weight")};
    b.names = {name + (of_embedding ? ".lora_embedding_B" : ".lora_B.weight")};
    a.transposed = of_embedding;
    all.insert(all.end(), {std::move(a), std::move(b)});
  }
  std::size_t found = 0;
  for (const ForeignWeight& weight : library.names.weights) {
    if (!saved.contains(weight.param)) continue;
    all.push_back(stored_as(weight, own));
    for (std::string& name : all.back().names) name = library.full(name);
    ++found;
  }
  return found == saved.size() ? std::optional(all) : std::nullopt;
}

std::size_t names_in(const TensorReader& reader, const std::vector<StoredTensor>& all) {
  std::size_t found = 0;
  for (const StoredTensor& stored : all)
    found += static_cast<std::size_t>(
        std::ranges::count_if(stored.names, [&](const std::string& n) { return reader.find(n) != nullptr; }));
  return found;
}

/// Of the ways to name them that of which the file has most.
struct Named {
  std::vector<StoredTensor> all = {};
  std::optional<Library> library = {};
};
Named named_in(const TensorReader& reader, const Network& network, const std::set<std::string>& saved) {
  Named best;
  for (const WeightNames& names : network.weight_names)
    for (const bool turned : {false, true}) {
      if (turned && names.prefix.empty()) continue;
      auto all = stored_adapter(network, {names, turned}, saved);
      if (!all || (best.library && names_in(reader, *all) <= names_in(reader, best.all))) continue;
      best.all = std::move(*all);
      best.library.emplace(Library{names, turned});
    }
  return best;
}

/// The names of the layers of the base that the file has. Fails unless these are as the store has them.
std::vector<std::string> check_base_layers(TensorReader& reader, const Store& store, const Network& network,
                                           const Library& library) {
  std::vector<std::string> names;
  const std::vector<StoredTensor> own = stored_weights(network);
  for (const ForeignWeight& weight : library.names.weights) {
    if (weight.tensors.size() > 1) continue;
    StoredTensor stored = stored_as(weight, own);
    stored.names = {library.full(module_of_tensor(stored.names.front())) + kBaseLayer};
    if (!reader.find(stored.names.front())) continue;
    const std::unique_ptr<Device> device = open_cpu(1);
    Store there(*device);
    there.add({.vars = {stored.var}});
    load_tensors(reader, there, {.all = {stored}, .converts = true, .of_part = true});
    check_as(Exit::Data, there.read(stored.var.name) == store.read_whole(stored.var), reader.file(), ": tensor ",
             quote(stored.names.front()), " has other values than the base, so the adapter is of another");
    names.push_back(stored.names.front());
  }
  return names;
}

/// The SHA-256 of all files of a base that is of one file or an index; "" of any other.
std::string digest_of(const std::vector<WeightsElsewhere>& base) {
  if (base.size() != 1) return "";
  std::vector<std::string> digests = base.front().sha256;
  if (digests.empty())
    for (const std::string& file : files_of_weights(base.front().files.front()))
      digests.push_back(sha256_of_file(file));
  std::string all;
  for (const std::string& digest : digests) all.append(all.empty() ? "" : ",").append(digest);
  return all;
}

/// Fails where the metadata says another base; of that the first digest that is another is shown.
void check_base(const SafetensorsReader& reader, const std::vector<WeightsElsewhere>& base) {
  const auto made_beside = reader.metadata().find(kBaseDigest);
  if (made_beside == reader.metadata().end() || base.size() != 1) return;
  const std::string now = digest_of(base), &before = made_beside->second;
  const std::string alike(before.begin(), std::ranges::mismatch(before, now).in1);
  const std::size_t first = alike.rfind(',') + 1;  // that differs, of the digests of several files
  check_as(Exit::Data, now == before, reader.file(), ": was made beside a base of SHA-256 ",
           shortened(before.substr(first), kDigestDigits), "; ", base.front().files.front(), " has ",
           shortened(now.substr(first), kDigestDigits));
}

/// The weights that train beside the adapters, and the rest of their modules.
std::set<std::string> trained_beside(const Network& network, const WeightNames& names, std::set<std::string>& modules) {
  std::set<std::string> own, params, saved;
  for (const Adapter& adapter : network.adapters) own.insert({adapter.a, adapter.b});
  for (const ParamInfo& info : network.params)
    if (const Var& var = network.program.vars[info.var];
        var.kind == Kind::Param && !own.contains(var.name) && !network.frozen.contains(info.var))
      params.insert(var.name);
  for (const ForeignWeight& weight : names.weights)
    if (params.contains(weight.param))
      for (const std::string& tensor : weight.tensors) {
        check(tensor.ends_with(".weight") || tensor.ends_with(".bias"), "`lora_train`: PEFT has no place for ",
              quote(tensor), ", which is no module's weight or bias");
        modules.insert(module_of_tensor(tensor));
      }
  for (const ForeignWeight& weight : names.weights)
    if (std::ranges::any_of(weight.tensors,
                            [&](const std::string& t) { return modules.contains(module_of_tensor(t)); }))
      saved.insert(weight.param);
  for (const Adapter& adapter : network.adapters)
    if (const auto module = module_in(network, names, adapter); module && modules.contains(*module))
      fail("`lora_train`: ", quote(*module), " has an adapter, and PEFT none beside what else trains of a module");
  return saved;
}

/// The value that most of them have.
template <class Value, class Get>
Value commonest(const std::vector<Adapter>& adapters, const Get& get) {
  std::map<Value, int> counts;
  for (const Adapter& adapter : adapters) ++counts[get(adapter)];
  return std::ranges::max_element(counts, {}, [](const auto& each) { return each.second; })->first;
}

/// The ends of the modules' names if these mean no other module of the library, else the names.
std::vector<std::string> targets_of(const std::set<std::string>& modules, const Library& library) {
  const auto end_of = [](const std::string& module) { return module.substr(module.rfind('.') + 1); };
  std::set<std::string> ends;
  for (const std::string& module : modules) ends.insert(end_of(module));
  bool exact = true;
  for (const std::vector<ForeignWeight>* const weights : {&library.names.weights, &library.names.again})
    for (const ForeignWeight& weight : *weights)
      for (const std::string& tensor : weight.tensors)
        exact =
            exact && (!ends.contains(end_of(module_of_tensor(tensor))) || modules.contains(module_of_tensor(tensor)));
  if (exact) return {ends.begin(), ends.end()};
  std::vector<std::string> names;
  for (const std::string& module : modules) names.push_back(library.full(module).substr(std::string(kModel).size()));
  return names;
}

AdapterConfig config_of(const Network& network, const Library& library, const std::set<std::string>& saved_modules,
                        const std::vector<WeightsElsewhere>& base) {
  const std::vector<Adapter>& adapters = network.adapters;
  const auto plain = [&](const std::string& module) { return library.full(module).substr(std::string(kModel).size()); };
  AdapterConfig config;
  config.rank = commonest<std::int64_t>(adapters, [](const Adapter& a) { return a.rank; });
  config.alpha = commonest<double>(adapters, [](const Adapter& a) { return a.alpha; });
  std::set<std::string> modules;
  for (const Adapter& adapter : adapters) {
    const std::string module = *module_in(network, library.names, adapter);
    modules.insert(module);
    config.dropout = std::max(config.dropout, adapter.dropout);
    config.rslora = config.rslora || adapter.scale != adapter.alpha / static_cast<double>(adapter.rank);
    if (adapter.rank != config.rank) config.ranks.emplace_back(plain(module), adapter.rank);
    if (adapter.alpha != config.alpha) config.alphas.emplace_back(plain(module), adapter.alpha);
    for (const ForeignWeight& weight : library.names.weights)
      config.fan_in_fan_out |= weight.param == adapter.weight && weight.transposed;
  }
  config.targets = targets_of(modules, library);
  for (const std::string& module : saved_modules) config.saved.push_back(plain(module));
  if (takes_sequences(network)) config.task = "CAUSAL_LM";
  if (base.size() == 1)
    if (const fs::path folder = fs::path(base.front().files.front()).parent_path(); fs::exists(folder / "config.json"))
      config.base = folder.string();
  return config;
}

/// The library's names as PEFT's models have them: all of them with the prefix, unless some have it already.
Library library_of(const Network& network, const std::string& wanted) {
  for (const WeightNames& names : network.weight_names) {
    if (!wanted.empty() && names.library != wanted) continue;
    const bool has_prefix = std::ranges::any_of(
        names.weights, [&](const ForeignWeight& weight) { return weight.tensors.front().starts_with(names.prefix); });
    const Library library{names, !has_prefix};
    if (stored_adapter(network, library, {})) return library;
  }
  fail(network.name, ": ", wanted.empty() ? "no library" : wanted,
       " has no names for all that have adapters, by which ", "PEFT would know them");
}

}  // namespace

bool is_adapter_folder(const std::string& directory) { return fs::exists(path_in(directory, kAdapterConfig)); }

void load_adapter(const std::string& folder, Store& store, const Network& network,
                  const std::vector<WeightsElsewhere>& base) {
  const std::string config_file = path_in(folder, kAdapterConfig), file = path_in(folder, kAdapterWeights);
  const AdapterConfig config = read_adapter_config(config_file);
  check_as(Exit::Data, fs::exists(file), folder, ": has no ", kAdapterWeights,
           "; in Python, save_pretrained() of the adapter's model writes it");
  SafetensorsReader reader(file);
  const Named named = named_in(reader, network, saved_weights(config, network, config_file));
  check_as(Exit::Data, named.library.has_value(), file, ": ", network.name, " has no library's names for its adapters");
  Reading reading{.all = named.all, .converts = true};
  check_base(reader, base);
  reading.passed_over = check_base_layers(reader, store, network, *named.library);
  load_tensors(reader, store, reading);
}

void save_adapter(const std::string& folder, const Store& store, const Network& network, const std::string& library,
                  std::optional<DType> dtype, const std::vector<WeightsElsewhere>& base) {
  check(!network.adapters.empty(), network.name, " has no adapters to write; `lora` trains some");
  const Library named = library_of(network, library);
  std::set<std::string> modules;
  const std::set<std::string> saved = trained_beside(network, named.names, modules);
  const AdapterConfig config = config_of(network, named, modules, base);
  fs::create_directories(folder);
  fs::remove(path_in(folder, kAdapterConfig));
  Metadata metadata = {{"format", "pt"}};
  if (const std::string digest = digest_of(base); !digest.empty()) metadata[kBaseDigest] = digest;
  save_tensors(path_in(folder, kAdapterWeights), store, *stored_adapter(network, named, saved), metadata, dtype);
  replace_file(path_in(folder, kAdapterConfig), text_of(config));
}

}  // namespace lethe
