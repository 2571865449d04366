// What brings bytes from one rank to another. It knows nothing of sums (kernels/ranks/sum.h).
#pragma once
#include <cstddef>
#include <span>
#include <string>

#include "framework/ranks/peers.h"

namespace lethe {

/// Bytes for another rank, or from it.
struct Message {
  std::int64_t rank = 0;
  void* data = nullptr;
  std::int64_t bytes = 0;
};

class Transport {
 public:
  virtual ~Transport() = default;
  virtual Rank rank() const = 0;
  /// Sends and receives all of them. Each rank receives what others send it in the order in which they do, with equally
  /// many bytes. Fails with Exit::Device, naming the rank, if one keeps this waiting for too long.
  virtual void exchange(std::span<const Message> sent, std::span<const Message> received) = 0;
};

}  // namespace lethe
