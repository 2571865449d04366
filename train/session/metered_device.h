// A device that counts what is taken from it, and has the peers of the run.
#pragma once
#include <algorithm>
#include <memory>

#include "framework/forwarding_device.h"
#include "framework/peers.h"

namespace lethe {

class MeteredDevice final : public ForwardingDevice {
 public:
  explicit MeteredDevice(std::unique_ptr<Device> device, std::shared_ptr<Peers> peers = {})
      : ForwardingDevice(*device), device_(std::move(device)), peers_(std::move(peers)) {}
  void* allocate(std::int64_t bytes) override {
    void* memory = ForwardingDevice::allocate(bytes);
    taken_ += bytes;
    peak_ = std::max(peak_, taken_);
    return memory;
  }
  void release(void* memory, std::int64_t bytes) override {
    ForwardingDevice::release(memory, bytes);
    taken_ -= bytes;
  }

  Peers* peers() override { return peers_.get(); }

  std::int64_t taken() const { return taken_; }
  std::int64_t peak() const { return peak_; }

 private:
  std::unique_ptr<Device> device_;
  std::shared_ptr<Peers> peers_;
  std::int64_t taken_ = 0, peak_ = 0;
};

}  // namespace lethe
