#include "kernels/cpu/device.h"

#include <cstdlib>

#include "framework/error.h"
#include "kernels/cpu/workers.h"

namespace lethe {
namespace {

class CpuDevice final : public Device {
 public:
  CpuDevice(int threads, bool winograd, std::shared_ptr<Trials> trials, bool fast_f32)
      : info_{.kind = DeviceKind::Cpu,
              .name = "cpu",
              .threads = threads,
              .winograd = winograd,
              .fast_f32 = fast_f32,
              .trials = std::move(trials)} {}
  const DeviceInfo& info() const override { return info_; }
  void* allocate(std::int64_t bytes) override {
    if (bytes == 0) return nullptr;
    const std::int64_t padded = round_up(bytes, info_.alignment);
    void* memory = std::aligned_alloc(static_cast<std::size_t>(info_.alignment), static_cast<std::size_t>(padded));
    check_as(Exit::Device, memory, "cpu: the machine has no memory for ", bytes, " bytes");
    return memory;
  }
  void compute(const std::function<void()>& work) override {
    const Workers workers(info_.threads);
    work();
  }
  void release(void* memory, std::int64_t) override { std::free(memory); }
  void copy_in(void* to, const void* from, std::int64_t bytes) override { copy(to, from, bytes); }
  void copy_out(void* to, const void* from, std::int64_t bytes) override { copy(to, from, bytes); }

 private:
  DeviceInfo info_;
};

}  // namespace

std::unique_ptr<Device> open_cpu(int threads, bool winograd, std::shared_ptr<Trials> trials, bool fast_f32) {
  return std::make_unique<CpuDevice>(threads > 0 ? threads : processors(), winograd, std::move(trials), fast_f32);
}

}  // namespace lethe
