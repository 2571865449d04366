// Numbers as the bytes that they are in memory.
#pragma once
#include <cstddef>
#include <cstring>
#include <vector>

namespace lethe::onnx {

template <class T>
std::vector<std::byte> bytes_of_values(const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

}  // namespace lethe::onnx
