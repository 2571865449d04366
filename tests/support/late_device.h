// A device whose copies beside the steps are as late as they may be.
#pragma once
#include <cstring>
#include <map>
#include <vector>

#include "framework/run/forwarding_device.h"

namespace lethe::testing {

/// A copy aside is done as late as it may be: when it is waited for. Where it goes holds nothing from when it may
/// begin.
class LateDevice final : public ForwardingDevice {
 public:
  using ForwardingDevice::ForwardingDevice;
  void mark() override {
    for (const auto& [to, bytes] : targets_) std::memset(to, 0xFF, static_cast<std::size_t>(bytes));
  }
  void copy_in_aside(void* to, const void* from_host, std::int64_t bytes) override {
    std::memset(to, 0xFF, static_cast<std::size_t>(bytes));
    if (copies_.empty()) targets_.clear();  // training and evaluation have places of their own
    targets_[to] = bytes;
    copies_.push_back({to, from_host, bytes});
  }
  void finish_aside() override {
    for (const Copy& copy : copies_) copy_in(copy.to, copy.from, copy.bytes);
    copies_.clear();
  }

 private:
  struct Copy {
    void* to;
    const void* from;
    std::int64_t bytes;
  };
  std::vector<Copy> copies_;
  std::map<void*, std::int64_t> targets_;
};

}  // namespace lethe::testing
