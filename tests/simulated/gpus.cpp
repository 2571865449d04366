// The simulated GPUs of the process, and which of them a thread has turned to.
#include <thread>

#include "tests/simulated/gpu.h"

namespace lethe::simulated {
namespace {

std::map<int, std::unique_ptr<Gpu>>& gpus() {
  static std::map<int, std::unique_ptr<Gpu>> all;
  return all;
}

thread_local int turned_to = 0;
std::recursive_mutex one_at_a_time;

}  // namespace

Gpu& Gpu::at(int index) {
  const auto lock = alone();
  std::unique_ptr<Gpu>& gpu = gpus()[index];
  if (!gpu) gpu = std::make_unique<Gpu>(Settings::of_environment());
  gpu->index_ = index;
  return *gpu;
}

std::unique_lock<std::recursive_mutex> Gpu::alone() { return std::unique_lock(one_at_a_time); }

void Gpu::leave_to_others() {
  one_at_a_time.unlock();
  std::this_thread::sleep_for(std::chrono::microseconds(50));
  one_at_a_time.lock();
}

int Gpu::current() { return turned_to; }
void Gpu::turn_to(int index) { turned_to = index; }

Gpu& Gpu::owner_of(const void* memory) {
  for (const auto& [index, gpu] : gpus())
    if (gpu->owns(memory, 1) || gpu->is_pinned(memory)) return *gpu;
  return the();
}

}  // namespace lethe::simulated
