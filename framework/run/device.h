// A device owns memory and says what it is. `main` opens one and hands it down; tests hand in one that poisons and
// counts.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "framework/host_memory.h"
#include "framework/language/kernel.h"

namespace lethe {

/// Memory of the host, given back with its last owner.
using HostMemory = std::shared_ptr<std::byte>;

struct CopyOut {
  void* to_host = nullptr;
  const void* from = nullptr;
  std::int64_t bytes = 0;
};

class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceInfo& info() const = 0;
  /// Said before a run takes anything: what it will hold to its end, each piece aligned. A device may take that at
  /// once; what the run takes beyond comes and goes within steps.
  virtual void reserve(std::int64_t bytes) { static_cast<void>(bytes); }
  /// Aligned memory of exactly `bytes` (0 gives null); fails with Exit::Device.
  virtual void* allocate(std::int64_t bytes) = 0;
  virtual void release(void* memory, std::int64_t bytes) = 0;
  /// Memory that copies take the least time from and to: copy_in may go on reading it until the next synchronize or
  /// copy_out, copy_in_aside until finish_aside. Fails with Exit::Device.
  virtual HostMemory host_memory(std::int64_t bytes) {
    return taking(info().name, bytes, [bytes]() -> HostMemory {
      return {new std::byte[static_cast<std::size_t>(bytes)](), std::default_delete<std::byte[]>()};
    });
  }
  virtual void copy_in(void* to, const void* from_host, std::int64_t bytes) = 0;
  /// Waits for the stream's work and for the copy: the values are there on return.
  virtual void copy_out(void* to_host, const void* from, std::int64_t bytes) = 0;
  /// The same of several, with one wait for those that go into host_memory.
  virtual void copy_all_out(std::span<const CopyOut> copies) {
    for (const CopyOut& c : copies) copy_out(c.to_host, c.from, c.bytes);
  }
  /// Within the device.
  virtual void copy(void* to, const void* from, std::int64_t bytes) {
    if (bytes > 0) std::memcpy(to, from, static_cast<std::size_t>(bytes));
  }
  virtual void mark() {}  // remembers how far the stream has come
  /// Copies beside the stream, from when that has come to the mark; done after finish_aside().
  virtual void copy_in_aside(void* to, const void* from_host, std::int64_t bytes) { copy_in(to, from_host, bytes); }
  virtual void finish_aside() {}
  virtual void synchronize() {}
  /// Does `work`, which computes on the device or prepares to, with the calling thread as the device wants it: its
  /// worker threads, its floating-point mode, its GPU. After it the thread is as it was.
  virtual void compute(const std::function<void()>& work) { work(); }
  virtual void* stream() { return nullptr; }
  virtual unsigned* tickets() { return nullptr; }   // as KernelArgs has them, of what runs on the stream
  virtual Peers* peers() { return nullptr; }        // of several ranks, for what lies in the host's memory
  virtual Peers* value_peers() { return peers(); }  // for what lies in the device's: those of kernels
  /// Whether `record` is worth it.
  virtual bool records() const { return false; }
  /// Does at one call what `work` does, which launches kernels and neither waits nor copies. Null if that cannot be.
  virtual std::function<void()> record(const std::function<void()>& work) { return work; }
};

/// Memory of a device that gives itself back.
class Buffer {
 public:
  Buffer() = default;
  Buffer(Device& device, std::int64_t bytes) : device_(&device), data_(device.allocate(bytes)), bytes_(bytes) {}
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Buffer() {
    if (data_) device_->release(data_, bytes_);
  }
  void* data() const { return data_; }
  std::int64_t bytes() const { return bytes_; }

 private:
  void swap(Buffer& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
  }
  Device* device_ = nullptr;
  void* data_ = nullptr;
  std::int64_t bytes_ = 0;
};

}  // namespace lethe
