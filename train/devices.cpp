// `train device`: what can be trained on and planned for.
#include <cstdio>

#include "framework/error.h"
#include "kernels/cpu/device.h"
#include "kernels/cuda/device.h"
#include "kernels/provider.h"
#include "models/json_source.h"
#include "train/commands.h"
#include "train/report/memory_report.h"
#include "train/report/streams.h"
#include "train/session/device.h"

namespace lethe {
namespace {

/// A line a GPU, or why there is none.
std::string gpu_lines() {
  std::string text;
  try {
    for (int index = 0; index < gpu_count(); ++index) {
      const DeviceInfo info = open_gpu(index, {})->info();
      text.append(info.name).append(": ").append(mebibytes(info.memory)).append(" free\n");
    }
    return text;
  } catch (const Error& error) {
    return text + error.what() + "\n";
  }
}

}  // namespace

int list_devices(const Options& options) {
  if (options.dump) {
    write_result(options.output, gpu_description(options.device.name, options.device.memory) + "\n");
    return 0;
  }
  std::printf("cpu: %d threads, %s\n%sto plan for: %s, or a file that --dump wrote\n", open_cpu(0)->info().threads,
              cpu_provider().c_str(), gpu_lines().c_str(), joined(described_gpus()).c_str());
  return 0;
}

}  // namespace lethe
