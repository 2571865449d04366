// `train device`: what can be trained on and planned for.
#include <cstdio>

#include "framework/error.h"
#include "kernels/cpu_device.h"
#include "kernels/gpu_device.h"
#include "models/json_source.h"
#include "train/atomic_file.h"
#include "train/commands.h"
#include "train/device.h"
#include "train/memory_report.h"

namespace lethe {
namespace {

std::string cuda_line() {
  try {
    const DeviceInfo info = open_gpu(0, {})->info();
    return message(info.name, ": ", mebibytes(info.memory), " free");
  } catch (const Error& error) {
    return message("cuda: ", error.what());
  }
}

}  // namespace

int list_devices(const Options& options) {
  if (options.dump) {
    write_result(options.output, gpu_description(options.device) + "\n");
    return 0;
  }
  std::printf("cpu: %d threads\n%s\nto plan for: %s, or a file that --dump wrote\n", open_cpu(0)->info().threads,
              cuda_line().c_str(), joined(described_gpus()).c_str());
  return 0;
}

}  // namespace lethe
