// `train device`: what can be trained on and planned for.
#include "kernels/cpu/device.h"

#include <cstdio>

#include "framework/error.h"
#include "kernels/provider.h"
#include "models/json_source.h"
#include "train/option_groups.h"
#include "train/report/memory_report.h"
#include "train/report/streams.h"
#include "train/session/device.h"

namespace lethe {
namespace {

int dump_gpu(const Options& options) {
  write_result(options.output, gpu_description(options.device.name, options.device.memory) + "\n");
  return 0;
}

int list_devices() {
  std::printf("cpu: %d threads, %s\n%sto plan for: %s, or a file that --dump wrote\n", open_cpu(0)->info().threads,
              cpu_provider().c_str(), gpu_lines().c_str(), joined(described_gpus()).c_str());
  return 0;
}

Run declare_device(OptionSet& set, Options& o) {
  const auto dump = std::make_shared<bool>(false);
  o.device.name = "cuda";
  set.in("Output");
  set.add_flag("--dump", *dump, "Writes a GPU's description, for train plan on another machine");
  add_device_name(set, o)->needs("--dump");
  set.in("Output");
  set.add("--out", o.output, "FILE", "Writes it there (default: standard output)")->needs("--dump");
  set.finally([&o, dump] {
    if (*dump) check_device(o.device, false);
  });
  return [dump](const Options& options) { return *dump ? dump_gpu(options) : list_devices(); };
}

const RegisterCommand device_command{
    {.word = "device",
     .help = "Lists what can be trained on and planned for; writes a GPU's description.",
     .examples = {{"train device", "what is there"},
                  {"train device --dump --out gpu.json", "for train plan --device gpu.json on another machine"}},
     .declare = declare_device}};

}  // namespace
}  // namespace lethe
