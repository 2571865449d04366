// A device for one that watches another: overrides what it watches.
#pragma once
#include "framework/run/device.h"

namespace lethe {

/// `device` must outlive it.
class ForwardingDevice : public Device {
 public:
  explicit ForwardingDevice(Device& device) : device_(device) {}
  const DeviceInfo& info() const override { return device_.info(); }
  void reserve(std::int64_t bytes) override { device_.reserve(bytes); }
  void* allocate(std::int64_t bytes) override { return device_.allocate(bytes); }
  HostMemory host_memory(std::int64_t bytes) override { return device_.host_memory(bytes); }
  void release(void* memory, std::int64_t bytes) override { device_.release(memory, bytes); }
  void copy_in(void* to, const void* from_host, std::int64_t bytes) override { device_.copy_in(to, from_host, bytes); }
  void copy_out(void* to_host, const void* from, std::int64_t bytes) override {
    device_.copy_out(to_host, from, bytes);
  }
  void copy_all_out(std::span<const CopyOut> copies) override { device_.copy_all_out(copies); }
  void copy(void* to, const void* from, std::int64_t bytes) override { device_.copy(to, from, bytes); }
  void mark() override { device_.mark(); }
  void copy_in_aside(void* to, const void* from_host, std::int64_t bytes) override {
    device_.copy_in_aside(to, from_host, bytes);
  }
  void finish_aside() override { device_.finish_aside(); }
  void synchronize() override { device_.synchronize(); }
  void compute(const std::function<void()>& work) override { device_.compute(work); }
  void* stream() override { return device_.stream(); }
  unsigned* tickets() override { return device_.tickets(); }
  Peers* peers() override { return device_.peers(); }
  Peers* value_peers() override { return device_.value_peers(); }
  bool records() const override { return device_.records(); }
  std::function<void()> record(const std::function<void()>& work) override { return device_.record(work); }

 private:
  Device& device_;
};

}  // namespace lethe
