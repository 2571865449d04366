// A network's weights as they stand in files, and how files of them are written.
#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "framework/builder/network.h"
#include "framework/run/store.h"
#include "train/session/stored_tensor.h"

namespace lethe {

/// Parameters and running statistics under their own names, without those that `but` names.
std::vector<StoredTensor> stored_weights(const Network& network, const std::set<std::string>& but = {});
/// The one of `own` that a library calls so.
StoredTensor stored_as(const ForeignWeight& weight, const std::vector<StoredTensor>& own);

/// Writes them from the store, floats as `floats` if that is given, for which none may be too large. Gives the file's
/// CRC-32; without a file's name reads what all ranks read together, and gives 0.
std::uint32_t save_tensors(const std::string& file, const Store& store, std::vector<StoredTensor> all,
                           const Metadata& metadata, std::optional<DType> floats = {});

/// Weights that are written in blocks, as bitsandbytes has them (bitsandbytes.h): in nf4, nf4-dq or int8.
struct QuantizedWeights {
  DType dtype;
  std::set<std::string> names;
};
/// The same of these, and of all others as they are; all of the file stands in memory before it is written. Fails for
/// one that the file would have transposed.
std::uint32_t save_quantized(const std::string& file, const Store& store, const std::vector<StoredTensor>& all,
                             const Metadata& metadata, const QuantizedWeights& quantized);

}  // namespace lethe
