#include "tests/simulated/submit.h"

#include <string>

#include "tests/simulated/gpu.h"
#include "train/device.h"

namespace lethe::simulated {

void submit(void* stream, Work work) {
  try {
    Gpu::the().submit(*static_cast<Stream*>(stream), std::move(work));
  } catch (Refusal) {  // the next call that waits or ends a recording is refused as well
  }
}

bool is_device_memory(const void* memory, std::size_t bytes) { return Gpu::the().owns(memory, bytes); }

const char* properties() {
  static const std::string h200 = gpu_description("h200");
  return h200.c_str();
}

}  // namespace lethe::simulated
