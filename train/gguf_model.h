// A model as one GGUF file (train/data/gguf_file.h).
#pragma once
#include <string>
#include <vector>

#include "models/config.h"
#include "train/data/gguf_file.h"

namespace lethe {

/// The network of the zoo that the file's keys are of, by the families of network files whose names begin with
/// "gguf_". Fails (Exit::Data), naming the key, as read_config() does, and for one of several files.
ConfiguredNetwork read_gguf_model(const std::string& file);

/// What a file of that family ("gguf_llama") says of a network's file with these vars: `general.architecture` and the
/// keys of the architecture. Fails as written_config() does.
std::vector<GgufEntry> gguf_keys(const NetworkFile& file, const Sets& sets, const std::string& family);

}  // namespace lethe
