// What was said of cuDNN's descriptors, and how the graph that they describe is computed.
#pragma once
#include <cudnn.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace lethe::simulated {

struct Described {
  cudnnBackendDescriptorType_t type;
  bool by_handle = false;            // of the GPU: it is said by a handle, and not by a description
  int gpu = 0;                       // that of the handle
  mutable int tried = 0, ready = 0;  // of a graph: plans of it that were finalized, and that could be
  int rank = 0;                      // of a plan: how many of its graph were ready before
  std::map<cudnnBackendAttributeName_t, std::vector<std::byte>> values = {};
  std::map<cudnnBackendAttributeName_t, std::vector<std::shared_ptr<const Described>>> parts = {};

  template <class T>
  std::vector<T> all(cudnnBackendAttributeName_t name) const {
    const auto found = values.find(name);
    if (found == values.end()) return {};
    std::vector<T> read(found->second.size() / sizeof(T));
    std::memcpy(read.data(), found->second.data(), found->second.size());
    return read;
  }
  template <class T>
  T one(cudnnBackendAttributeName_t name) const {
    const std::vector<T> read = all<T>(name);
    if (read.size() != 1) throw std::logic_error("cuDNN: attribute " + std::to_string(name) + " is not one value");
    return read[0];
  }
  const Described& part(cudnnBackendAttributeName_t name) const { return *parts.at(name).at(0); }
};

/// Computes a finalized graph of convolutions and pointwise operations, exactly and rounded once; `addresses` by unique
/// id. Fails if they are not those of the graph's tensors.
void compute_graph(const Described& graph, const std::map<std::int64_t, void*>& addresses);

}  // namespace lethe::simulated
