#include "tests/support/counting_device.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "framework/error.h"
#include "kernels/cpu/workers.h"

namespace lethe::testing {
namespace {

constexpr int kPoison = 0xFF;  // NaN in every float dtype

std::size_t size(std::int64_t bytes) { return static_cast<std::size_t>(bytes); }

}  // namespace

CountingDevice::CountingDevice(int threads) : info_{.kind = DeviceKind::Cpu, .name = "counting", .threads = threads} {}

CountingDevice::~CountingDevice() { EXPECT_EQ(live_, 0) << held_.size() << " buffers were never given back"; }

void* CountingDevice::allocate(std::int64_t bytes) {
  ++allocations_;
  if (bytes == 0) return nullptr;
  const std::int64_t padded = round_up(bytes, info_.alignment);
  void* const memory = std::aligned_alloc(size(info_.alignment), size(padded));
  check_as(Exit::Device, memory != nullptr, "counting device: no memory for ", bytes, " bytes");
  std::memset(memory, kPoison, size(padded));
  held_.emplace(memory, bytes);
  live_ += bytes;
  peak_ = std::max(peak_, live_);
  return memory;
}

void CountingDevice::release(void* memory, std::int64_t bytes) {
  const auto found = held_.find(memory);
  ASSERT_NE(found, held_.end()) << "memory that the device did not give";
  EXPECT_EQ(found->second, bytes) << "given back with another size than taken";
  std::memset(memory, kPoison, size(found->second));
  live_ -= found->second;
  held_.erase(found);
  std::free(memory);
}

void CountingDevice::compute(const std::function<void()>& work) {
  const Workers workers(info_.threads);
  work();
}
void CountingDevice::copy_in(void* to, const void* from, std::int64_t bytes) { std::memcpy(to, from, size(bytes)); }
void CountingDevice::copy_out(void* to, const void* from, std::int64_t bytes) { std::memcpy(to, from, size(bytes)); }

}  // namespace lethe::testing
