// Numbers in blocks (framework/language/block_formats.h) in a safetensors file, whose format has no such dtypes: each
// tensor stands there as U8 of one axis, its bytes, and the file's metadata say what they are:
//
//   "lethe.dtypes": {"fc.weight@m": {"dtype": "dynamic8", "shape": [512,784], "block": 256}}
#pragma once
#include <map>
#include <string>
#include <vector>

#include "train/session/tensor_reader.h"

namespace lethe {

using Metadata = std::map<std::string, std::string>;

/// As the file's header has it.
TensorEntry entry_in_header(const TensorEntry& tensor);
/// `metadata`, and what tells a reader of the tensors in blocks, if there are any.
Metadata with_blocks(Metadata metadata, const std::vector<TensorEntry>& tensors);
/// Makes of a header's tensors those that were written, and takes from the metadata what tells of them. Fails with
/// Exit::Data where the two do not fit, or for blocks of another size than this program's.
void find_blocks(Metadata& metadata, std::vector<TensorEntry>& tensors);

}  // namespace lethe
