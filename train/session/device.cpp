#include "train/session/device.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "framework/did_you_mean.h"
#include "framework/error.h"
#include "framework/language/op_def.h"
#include "kernels/cpu/bf16_units.h"
#include "kernels/cpu/device.h"
#include "kernels/cpu/instruction_sets.h"
#include "kernels/cuda/device.h"
#include "kernels/provider.h"
#include "models/json_source.h"

namespace lethe {
namespace {

constexpr double kTera = 1e12;

/// Facts that NVIDIA states of a GPU. cuDNN's choices follow the compute capability; the rest is there because it asks.
struct Gpu {
  const char *name, *full_name;
  int capability;  // 90 is 9.0
  int processors, clock_khz, memory_khz;
  int shared_memory;           // bytes a block may have
  int blocks, threads;         // a processor
  std::int64_t cache, memory;  // bytes
  Peaks stated;                // dense; with tensor cores where they compute a dtype
};

constexpr std::int64_t kMi = 1 << 20;
/// The h100 is the SXM5 one, the rtx3060 that of 12 GB.
constexpr Gpu kGpus[] = {
    Gpu{"a100", "NVIDIA A100-SXM4-80GB", 80, 108, 1410000, 1593000, 166912, 32, 2048, 40 * kMi, 81251 * kMi,
        Peaks{19.5 * kTera, 19.5 * kTera, 156 * kTera, 312 * kTera, 2.039 * kTera}},
    Gpu{"h100", "NVIDIA H100 80GB HBM3", 90, 132, 1980000, 2619000, 232448, 32, 2048, 50 * kMi, 81090 * kMi,
        Peaks{67 * kTera, 67 * kTera, 494 * kTera, 989 * kTera, 3.35 * kTera}},
    Gpu{"h200", "NVIDIA H200", 90, 132, 1980000, 3201000, 232448, 32, 2048, 60 * kMi, 143771 * kMi,
        Peaks{67 * kTera, 67 * kTera, 494 * kTera, 989 * kTera, 4.8 * kTera}},
    Gpu{"l40s", "NVIDIA L40S", 89, 142, 2520000, 9001000, 101376, 24, 1536, 96 * kMi, 45465 * kMi,
        Peaks{1.43 * kTera, 91.6 * kTera, 183 * kTera, 362 * kTera, 0.864 * kTera}},
    Gpu{"rtx3060", "NVIDIA GeForce RTX 3060", 86, 28, 1777000, 7501000, 101376, 16, 1536, 3 * kMi, 12042 * kMi,
        Peaks{0.199 * kTera, 12.7 * kTera, 12.7 * kTera, 25.5 * kTera, 0.36 * kTera}},
    Gpu{"rtx3090", "NVIDIA GeForce RTX 3090", 86, 82, 1695000, 9751000, 101376, 16, 1536, 6 * kMi, 24268 * kMi,
        Peaks{0.556 * kTera, 35.6 * kTera, 35.6 * kTera, 71 * kTera, 0.936 * kTera}},
    Gpu{"rtx4090", "NVIDIA GeForce RTX 4090", 89, 128, 2520000, 10501000, 101376, 24, 1536, 72 * kMi, 24217 * kMi,
        Peaks{1.29 * kTera, 82.6 * kTera, 82.6 * kTera, 165.2 * kTera, 1.008 * kTera}},
    Gpu{"rtx5090", "NVIDIA GeForce RTX 5090", 120, 170, 2407000, 14001000, 101376, 24, 1536, 96 * kMi, 32120 * kMi,
        Peaks{1.64 * kTera, 104.8 * kTera, 104.8 * kTera, 209.5 * kTera, 1.792 * kTera}},
};

/// Describes a GPU in cuDNN's words, which are documented nowhere but in its log.
std::string description_of(const Gpu& gpu) {
  return message(R"({"maxGridSize":[2147483647,65535,65535],"maxBlockSize":[1024,1024,64],"regsPerBlock":65536,)",
                 R"("multiProcessorCount":)", gpu.processors, R"(,"warpSize":32,"maxSharedMemoryPerBlock":49152,)",
                 R"("maxSharedMemoryPerBlockOptin":)", gpu.shared_memory, R"(,"reservedSharedMemoryPerBlock":1024,)",
                 R"("maxRegistersPerSM":65536,"maxCtasPerSM":)", gpu.blocks, R"(,"maxThreadsPerBlock":1024,)",
                 R"("maxThreadsPerSM":)", gpu.threads, R"(,"pciDeviceId":0,"isTccDriver":0,"supportCoopLaunch":1,)",
                 R"("smClockRateKHz":)", gpu.clock_khz, R"(,"memClockRateKHz":)", gpu.memory_khz, R"(,"l2CacheSize":)",
                 gpu.cache, R"(,"deviceName":")", gpu.full_name, R"(","deviceVer":)", gpu.capability * 10,
                 R"(,"driverVer":13000,"cudaDeviceId":0,"totalGlobalMem":)", gpu.memory, '}');
}

/// Fails unless it has all that a description has.
std::string read_description(const std::string& file) {
  check(std::ifstream(file).good(), "`device`: no file ", file);
  return with_context("`device`", [&] {
    const JsonSource source(file);
    const nlohmann::json example = nlohmann::json::parse(description_of(kGpus[0]));
    for (const auto& [key, value] : example.items()) {
      const JsonNode node = source.root().at(key);
      const Json& given = node.json();
      const bool whole =
          given.is_number_integer() && (!given.is_number_unsigned() || given.get<std::uint64_t>() <= INT64_MAX);
      if (value.is_number_integer() ? !whole : given.type() != value.type())
        node.fail("'", key, "' is ", node.shown(), ", expected something like ", value.dump());
    }
    return nlohmann::json(source.root().json()).dump();
  });
}

/// The parts of --device.
struct Choice {
  enum { Cpu, Gpu, Description } what;
  int index = 0;  // of a GPU that is there
};

Choice choice_of(const std::string& device) {
  if (device == "cpu") return {Choice::Cpu};
  if (device == "cuda") return {Choice::Gpu};
  if (device.rfind("cuda:", 0) != 0) return {Choice::Description};
  const std::string digits = device.substr(5);
  check(!digits.empty() && digits.size() < 4 && digits.find_first_not_of("0123456789") == std::string::npos,
        "`device`: ", quote(device), " names no GPU; expected cuda:0, cuda:1...");
  return {Choice::Gpu, std::stoi(digits)};
}

const Gpu* find_gpu(const std::string& name) {
  const auto* const found =
      std::find_if(std::begin(kGpus), std::end(kGpus), [&](const Gpu& g) { return g.name == name; });
  return found == std::end(kGpus) ? nullptr : found;
}

bool is_file(const std::string& device) {
  return device.size() > 5 && device.compare(device.size() - 5, 5, ".json") == 0;
}

DeviceInfo settings_of(const DeviceSetting& setting) {
  DeviceInfo info{.kind = DeviceKind::Cuda, .alignment = kGpuAlignment};
  info.tf32 = setting.tf32;
  info.fast_conv = setting.fast_conv;
  info.deterministic = setting.deterministic;
  info.eager = setting.eager;
  info.workspace_limit = setting.workspace_limit;
  return info;
}

}  // namespace

std::vector<std::string> described_gpus() {
  std::vector<std::string> names;
  for (const Gpu& gpu : kGpus) names.emplace_back(gpu.name);
  return names;
}

double Peaks::flops(DType dtype, bool rounds_to_tf32) const {
  if (dtype == DType::f64) return f64;
  if (dtype == DType::f32) return rounds_to_tf32 ? tf32 : f32;
  return low;
}

std::optional<Peaks> peaks_of(const std::string& gpu) {
  constexpr double kOfCopy = 0.9;  // of the stated bandwidth
  for (const Gpu& known : kGpus)
    if (gpu == known.full_name) {
      Peaks peaks = known.stated;
      peaks.bytes *= kOfCopy;
      return peaks;
    }
  return std::nullopt;
}

void check_device(const DeviceSetting& setting, bool runs) {
  const std::string& device = setting.name;
  const auto what = choice_of(device).what;
  if (what == Choice::Description && !is_described(device)) {
    std::vector<std::string> known = {"cpu", "cuda"};
    for (const std::string& name : described_gpus()) known.push_back(name);
    std::string small = device;  // letters, as the names are
    std::ranges::transform(small, small.begin(), [](unsigned char c) { return std::tolower(c); });
    fail("`device`: unknown device ", quote(device), did_you_mean(small, known), "; known: ", joined(known),
         ", cuda:N, or a file that ends in .json");
  }
  check(what == Choice::Description || !setting.memory, "`device`: memory=SIZE is of a GPU by description, not of ",
        device);
  check(what != Choice::Description || !runs, "`device`: ", device,
        " is a description, to plan for; training runs on cpu or cuda");
  check(what != Choice::Cpu || !setting.tf32, "`tf32` is for GPUs; `device` is cpu");
  check(what != Choice::Cpu || !setting.fast_conv, "`fast_conv` is for GPUs; `device` is cpu");
  check(what != Choice::Cpu || !setting.eager, "`eager` is for GPUs; `device` is cpu");
  check(what != Choice::Cpu || !setting.workspace_limit, "`workspace_limit` is for GPUs; `device` is cpu");
  check(what == Choice::Cpu || !setting.no_winograd, "`no_winograd` is for the CPU; `device` is ", device);
  check(what == Choice::Cpu || !setting.fast_f32, "`fast_f32` is for the CPU; `device` is ", device);
  check_as(Exit::Device, what == Choice::Cpu || has_cuda(), "`device`: ", device,
           " is not in this build, which has no CUDA; it trains on the cpu");
}

std::unique_ptr<Device> open_device(const DeviceSetting& setting) {
  check_device(setting, true);
  const Choice choice = choice_of(setting.name);
  if (choice.what == Choice::Cpu)
    return open_cpu(setting.threads, !setting.no_winograd, setting.trials, setting.fast_f32 && has_amx());
  DeviceInfo info = settings_of(setting);
  info.trials = setting.trials;
  return with_context("`device`", [&] { return open_gpu(choice.index, info); });
}

bool is_gpu(const DeviceSetting& setting) { return choice_of(setting.name).what != Choice::Cpu; }

bool is_described(const std::string& device) { return find_gpu(device) || is_file(device); }

std::string gpu_description(const std::string& device, const std::optional<std::int64_t>& memory) {
  const Choice choice = choice_of(device);
  check(choice.what != Choice::Cpu, "`device`: the cpu has no description; name a GPU");
  if (choice.what == Choice::Gpu) return with_context("`device`", [&] { return gpu_properties(choice.index); });
  const Gpu* const gpu = find_gpu(device);
  const std::string text = gpu ? description_of(*gpu) : read_description(device);
  if (!memory) return text;
  nlohmann::json description = nlohmann::json::parse(text);
  description["totalGlobalMem"] = *memory;
  return description.dump();
}

std::string what_computes(const DeviceSetting& setting) {
  if (!is_gpu(setting)) return instruction_sets();
  const nlohmann::json gpu = nlohmann::json::parse(gpu_description(setting.name));
  return message(gpu["deviceName"].get<std::string>(), " with cuDNN ", cudnn_version());
}

DeviceInfo device_info(const DeviceSetting& setting) {
  if (choice_of(setting.name).what != Choice::Description) return open_device(setting)->info();
  const std::string text = gpu_description(setting.name, setting.memory);
  const nlohmann::json description = nlohmann::json::parse(text);
  DeviceInfo info = settings_of(setting);
  info.name = description["deviceName"].get<std::string>();
  info.properties = text;
  info.memory = description["totalGlobalMem"].get<std::int64_t>();
  return info;
}

}  // namespace lethe
