// Descriptions of GPUs that are not there.
#include "train/session/device.h"

#include "tests/fuzz/fuzz.h"

namespace lethe::fuzz::device_target {
namespace {

Material material() {
  Material all{.words = {"null", "true", "[", "]", "{", "}", "\"\"", "1.5", "-1", "\\u0000", "\\n"}};
  for (const std::string& gpu : described_gpus()) all.seeds.push_back(gpu_description(gpu));
  return all;
}

void read_input(const std::uint8_t* data, std::size_t size) {
  static Directory directory;
  const DeviceSetting setting{.name = directory.put("gpu.json", text_of(data, size))};
  reads({Exit::Usage}, [&] { device_info(setting); });
}

const RegisterTarget target{{"device", material, read_input}};

}  // namespace
}  // namespace lethe::fuzz::device_target
