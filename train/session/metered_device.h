// A device that counts what is taken from it, and has the peers of the run.
#pragma once
#include <algorithm>
#include <chrono>
#include <memory>

#include "framework/ranks/peers.h"
#include "framework/run/forwarding_device.h"
#include "kernels/ranks/gpu_peers.h"

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

  /// Joins the GPUs of several ranks, which all do so at once; nothing on a CPU. Fails as connect_gpus() does.
  void connect(std::chrono::seconds patience) {
    if (peers_ && peers_->rank().of > 1 && info().kind == DeviceKind::Cuda)
      gpu_peers_ = connect_gpus(info(), peers_, patience);
  }
  Peers* peers() override { return peers_.get(); }
  Peers* value_peers() override { return gpu_peers_ ? gpu_peers_.get() : peers(); }

  // A GPU that waits for a rank does not keep the host for ever.
  void copy_out(void* to_host, const void* from, std::int64_t bytes) override {
    wait_with_patience();
    ForwardingDevice::copy_out(to_host, from, bytes);
  }
  void copy_all_out(std::span<const CopyOut> copies) override {
    wait_with_patience();
    ForwardingDevice::copy_all_out(copies);
  }
  void synchronize() override {
    wait_with_patience();
    ForwardingDevice::synchronize();
  }

  std::int64_t taken() const { return taken_; }
  std::int64_t peak() const { return peak_; }

 private:
  void wait_with_patience() {
    if (gpu_peers_) gpu_peers_->wait_for_device();
  }

  std::unique_ptr<Device> device_;
  std::shared_ptr<Peers> peers_;
  std::unique_ptr<Peers> gpu_peers_;  // after both: it uses them to its end
  std::int64_t taken_ = 0, peak_ = 0;
};

}  // namespace lethe
