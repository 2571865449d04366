// Bytes between the memories of GPUs, one of each rank.
#pragma once
#include <chrono>

#include "framework/ranks/transport.h"
#include "kernels/cuda/nccl.h"

namespace lethe {

/// What is exchanged takes its turn in a stream: the host does not wait, and nothing fails then for a rank that does
/// not come.
class NcclTransport final : public Transport {
 public:
  /// Joins all ranks, which call it with the same id, each with a GPU of its own. Fails with Exit::Device if that takes
  /// longer than `patience`.
  NcclTransport(const NcclId& id, Rank rank, int gpu, void* stream, std::chrono::seconds patience);
  ~NcclTransport() override;
  NcclTransport(const NcclTransport&) = delete;
  NcclTransport& operator=(const NcclTransport&) = delete;

  Rank rank() const override { return rank_; }
  void exchange(std::span<const Message> sent, std::span<const Message> received) override;
  /// Fails if something that was begun has failed.
  void check_begun();
  /// Ends what waits for other ranks; nothing can be exchanged any more.
  void give_up();

 private:
  Rank rank_;
  void* stream_;
  ncclComm* comm_ = nullptr;
};

}  // namespace lethe
