#include "kernels/timing_device.h"

#include <chrono>
#include <cstring>
#include <new>

#include "kernels/by_kind.h"
#include "kernels/cpu/workers.h"

namespace lethe {
namespace {

class CpuTimingDevice final : public TimingDevice {
 public:
  explicit CpuTimingDevice(const DeviceInfo& device) : workers_(device.threads) {}

  std::shared_ptr<void> memory(std::int64_t bytes) override {
    constexpr std::align_val_t kAlignment{64};
    const auto size = static_cast<std::size_t>(bytes);
    const std::shared_ptr<void> taken(::operator new(size, kAlignment),
                                      [](void* memory) { ::operator delete(memory, kAlignment); });
    std::memset(taken.get(), kByte, size);
    return taken;
  }

  double seconds(const Kernel& kernel, const KernelArgs& args) override {
    const auto begin = std::chrono::steady_clock::now();
    kernel.run(args);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

 private:
  Workers workers_;
};

}  // namespace

std::unique_ptr<TimingDevice> timing_device_on(const DeviceInfo& device) {
  return by_kind(
      device.kind, [&] { return timing_gpu(device); },
      [&]() -> std::unique_ptr<TimingDevice> { return std::make_unique<CpuTimingDevice>(device); });
}

}  // namespace lethe
