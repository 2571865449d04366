#include "tests/simulated/submit.h"

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/simulated/gpu.h"
#include "train/session/device.h"

namespace lethe::simulated {

void submit(void* stream, Work work) { submit(stream, std::move(work), nullptr); }

void submit(void* stream, Work work, std::function<bool()> ready) {
  const auto lock = Gpu::alone();
  Stream& to = *static_cast<Stream*>(stream);
  if (to.gpu != &Gpu::the()) to.gpu->fail("work from a thread that has turned to another GPU");
  try {
    to.gpu->submit(to, std::move(work), std::move(ready));
  } catch (Refusal) {  // the next call that waits or ends a recording is refused as well
  }
}

int current_gpu() { return Gpu::current(); }
int gpu_of(void* stream) { return static_cast<Stream*>(stream)->gpu->index(); }

bool is_device_memory(const void* memory, std::size_t bytes) { return Gpu::the().owns(memory, bytes); }

const char* properties() {
  static const std::string described = [] {
    const char* const model = std::getenv("SIMULATED_GPU_MODEL");
    auto description = nlohmann::json::parse(gpu_description(model ? model : "h200"));
    if (std::getenv("SIMULATED_GPU_DRIVER")) description["driverVer"] = Settings::of_environment().driver;
    return description.dump();
  }();
  return described.c_str();
}

}  // namespace lethe::simulated
