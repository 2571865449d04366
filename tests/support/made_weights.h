// Weights that a test and its oracle make each for itself, so that no file of them is kept;
// tests/oracles/made_weights.py has the same formula: element i of tensor NAME is 0.2 * ((crc32(NAME) + (i + 1) *
// 2654435761) mod 2^32 / 2^32 - 0.5) in f64, rounded to f32; of a tensor that scales rows or channels 1 plus that.
#pragma once
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "train/data/checksum.h"
#include "train/session/safetensors.h"

namespace lethe::testing {

/// Values of tensor `name`, spread by 0.1 to both sides of `about`.
inline std::vector<float> made_weights(const std::string& name, std::int64_t count, double about = 0) {
  std::uint32_t word = checksum_of(name);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) {
    word += 2654435761U;
    value = static_cast<float>(about + 0.2 * (word / 4294967296.0 - 0.5));
  }
  return values;
}

/// Writes them as a safetensors file. `made`: {"tensors": {name: shape}, "1+": [names]}, as the oracles write it.
inline void write_made_weights(const std::string& file, const nlohmann::json& made) {
  std::vector<TensorEntry> tensors;
  for (const auto& [name, shape] : made.at("tensors").items())
    tensors.push_back({.name = name, .dtype = DType::f32, .shape = shape.get<Shape>()});
  SafetensorsWriter writer(file, tensors);
  const nlohmann::json& ones = made.at("1+");
  for (const TensorEntry& tensor : tensors) {
    const bool about_one = std::find(ones.begin(), ones.end(), tensor.name) != ones.end();
    const std::vector<float> values = made_weights(tensor.name, elements(tensor.shape), about_one ? 1 : 0);
    const auto* const bytes = reinterpret_cast<const std::byte*>(values.data());
    writer.write({bytes, bytes + values.size() * sizeof(float)});
  }
  writer.finish();
}

}  // namespace lethe::testing
