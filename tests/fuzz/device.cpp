// Descriptions of GPUs that are not there.
#include "train/session/device.h"

#include "tests/fuzz/fuzz.h"

namespace lethe::fuzz {

Material material() {
  Material all{.words = {"null", "true", "[", "]", "{", "}", "\"\"", "1.5", "-1", "\\u0000", "\\n"}};
  for (const std::string& gpu : described_gpus()) all.seeds.push_back(gpu_description(gpu));
  return all;
}

}  // namespace lethe::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static lethe::fuzz::Directory directory;
  const lethe::DeviceSetting setting{.name = directory.put("gpu.json", lethe::fuzz::text_of(data, size))};
  lethe::fuzz::reads({lethe::Exit::Usage}, [&] { lethe::device_info(setting); });
  return 0;
}
