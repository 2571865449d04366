// The keys by which a GGUF file says what a folder's tokenizer is: gguf_tokenizer() turned around.
#pragma once
#include <string>
#include <vector>

#include "train/data/gguf_file.h"

namespace lethe {

/// Of a folder's tokenizer.json of byte pairs of bytes, or as another GGUF file has them. Fails with Exit::Data for
/// other tokenizers, and for rules that no key says.
std::vector<GgufEntry> gguf_tokenizer_keys(const std::string& directory);

}  // namespace lethe
