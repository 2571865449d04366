// `train bench --count` and `train plan --roofline`: what a step launches and moves on a GPU, and the least that takes.
#include "framework/error.h"
#include "train/commands.h"
#include "train/recipe.h"
#include "train/report/count_report.h"
#include "train/report/streams.h"
#include "train/settings_of_options.h"

namespace lethe {
namespace {

void write_count(const Options& given, const char* option, bool with_roof) {
  const Options options = decided(given);
  check(options.device.name != "cpu", option, " counts what a GPU launches; name one with --device, such as h200");
  const DeviceInfo gpu = device_info(options.device);
  std::optional<Roof> roof;
  if (with_roof) {
    const std::optional<Peaks> peaks = peaks_of(gpu.name);
    check(peaks.has_value(), option, ": what ", gpu.name, " does at best is not known; it is of ",
          joined(described_gpus()));
    roof = Roof{peaks->flops(options.dtype, options.device.tf32), peaks->bytes};
  }
  const StepCount count = count_step(program_setting(options), gpu);
  const std::string form = options.json ? "json" : options.format;
  write_result("", count_as(form, message(title_of(program_setting(options)), ", ", gpu.name), count, roof));
}

}  // namespace

int count_launches(const Options& options) {
  write_count(options, "--count", false);
  return 0;
}

int roofline(const Options& options) {
  write_count(options, "--roofline", true);
  return 0;
}

}  // namespace lethe
