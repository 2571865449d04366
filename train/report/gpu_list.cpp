#include "train/report/gpu_list.h"

#include "framework/error.h"
#include "kernels/cuda/device.h"
#include "train/report/memory_report.h"
#include "train/report/option_names.h"

namespace lethe {

std::string gpu_lines() {
  std::string text;
  try {
    for (int index = 0; index < gpu_count(); ++index) {
      const DeviceInfo info = open_gpu(index, {})->info();
      text.append(info.name).append(": ").append(mebibytes(info.memory)).append(" free\n");
    }
    return text;
  } catch (const Error& error) {
    return text + with_options(error.what()) + "\n";
  }
}

}  // namespace lethe
