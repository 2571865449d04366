// A CPU device that counts what is taken of it and poisons memory at both ends of its life, so that a value read before
// it was written, or after it was given back, shows as NaN.
#pragma once
#include <cstdint>
#include <map>

#include "framework/run/device.h"

namespace lethe::testing {

class CountingDevice final : public Device {
 public:
  explicit CountingDevice(int threads = 1);
  /// Fails the running test if memory is still held.
  ~CountingDevice() override;

  const DeviceInfo& info() const override { return info_; }
  void* allocate(std::int64_t bytes) override;
  void compute(const std::function<void()>& work) override;
  void release(void* memory, std::int64_t bytes) override;
  void copy_in(void* to, const void* from_host, std::int64_t bytes) override;
  void copy_out(void* to_host, const void* from, std::int64_t bytes) override;

  std::int64_t live_bytes() const { return live_; }
  std::int64_t peak_bytes() const { return peak_; }
  int allocations() const { return allocations_; }  // ever made

 private:
  DeviceInfo info_;
  std::map<void*, std::int64_t> held_;
  std::int64_t live_ = 0, peak_ = 0;
  int allocations_ = 0;
};

}  // namespace lethe::testing
