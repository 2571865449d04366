#include "train/launches.h"

#include "framework/error.h"
#include "train/recipe.h"
#include "train/report/step_report.h"
#include "train/report/streams.h"

namespace lethe {

int write_count(const Options& given, const std::string& option, const std::string& format) {
  const Options options = decided(given);
  check(options.device.name != "cpu", option, " counts what a GPU launches; name one with --device, such as h200");
  const DeviceInfo gpu = device_info(options.device);
  std::optional<Roof> roof;
  if (option == "--roofline") {
    const std::optional<Peaks> peaks = peaks_of(gpu.name);
    check(peaks.has_value(), option, ": what ", gpu.name, " does at best is not known; it is of ",
          joined(described_gpus()));
    roof = Roof{peaks->flops(options.program.network.dtype, options.device.tf32), peaks->bytes};
  }
  const StepCount count = count_step(options.program, gpu);
  write_result("", count_as(format, message(title_of(options.program), ", ", gpu.name), count, roof));
  return 0;
}

}  // namespace lethe
