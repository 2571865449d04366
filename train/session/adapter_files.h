// A folder as Hugging Face's PEFT has it: adapter_config.json beside adapter_model.safetensors, which has low-rank
// adapters and modules that trained beside them, not the base.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "framework/builder/network.h"
#include "framework/run/store.h"
#include "train/session/elsewhere.h"

namespace lethe {

/// Whether the directory is such a folder.
bool is_adapter_folder(const std::string& directory);

/// Reads adapters, and modules that were saved with them, into the store, which has the base; `base`: the files that
/// this came from. Fails (Exit::Data) in one line where the folder has not exactly the tensors of the network's
/// adapters and of its config's modules_to_save, in their shapes; where it was made beside another base, by the SHA-256
/// that our own folders have or a layer of the base that it holds; and as reading weights does.
void load_adapter(const std::string& folder, Store& store, const Network& network,
                  const std::vector<WeightsElsewhere>& base);

/// Writes the network's adapters, and the modules that train beside them, as PEFT does: under the names of a library
/// ("": the first that has names for them all), floats as `dtype` if that is given. `base`: the files that the frozen
/// weights are of. Fails where PEFT has no place for what trains. The folder is made; a failure leaves no config in it.
void save_adapter(const std::string& folder, const Store& store, const Network& network, const std::string& library,
                  std::optional<DType> dtype, const std::vector<WeightsElsewhere>& base);

}  // namespace lethe
