// A network's weights as a GGUF file.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "framework/builder/network.h"
#include "framework/run/store.h"
#include "train/data/gguf_file.h"

namespace lethe {

/// Writes them under the names of a library of the network ("gguf_llama") and in its order of rows, with these keys.
/// Matrices are rounded to `matrices`, a float type, if it is given; what has one axis is f32, as llama.cpp takes it.
/// Gives the file's CRC-32. Fails if the network has no such library, and (Exit::Data) for a value too large.
std::uint32_t save_gguf(const std::string& file, const Store& store, const Network& network, const std::string& library,
                        const std::vector<GgufEntry>& keys, std::optional<DType> matrices = {});

}  // namespace lethe
