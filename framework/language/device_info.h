// What is known of a device without opening it.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace lethe {

/// The least multiple of `alignment` that is not less than `bytes`.
constexpr std::int64_t round_up(std::int64_t bytes, std::int64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

// Only kernels look into these.
class Trials;        // kernels/trials.h
class GpuLibraries;  // kernels/cuda/libraries.h
class Peers;         // framework/ranks/peers.h

enum class DeviceKind : std::uint8_t { Cpu, Cuda };

inline constexpr std::int64_t kGpuAlignment = 256;

/// What a kernel may know of a device; it may be that of a machine that is not there.
struct DeviceInfo {
  DeviceKind kind = DeviceKind::Cpu;
  std::string name = "cpu";
  int threads = 1;                      // CPU worker threads
  bool winograd = true;                 // a CPU's convolutions may be Winograd's, which round more
  bool fast_f32 = false;                // a CPU's convolutions of f32 may be three of bf16, which round more
  std::shared_ptr<Trials> trials = {};  // by which convolutions choose their way on what is opened; null: by rule
  std::int64_t alignment = 64;          // of every buffer, in bytes
  // Of a GPU:
  std::string properties = {};                       // of one that is not there, as JSON; "": it is there
  std::shared_ptr<GpuLibraries> libraries = {};      // its handles, once it is opened
  std::int64_t memory = 0;                           // bytes to be had; 0: not known
  bool tf32 = false;                                 // products of f32 may round their factors to TF32
  bool fast_conv = false;                            // convolutions may round more: Winograd's, FFT
  bool deterministic = false;                        // the same bits in every run
  bool eager = false;                                // steps launch by launch, never recorded
  std::optional<std::int64_t> workspace_limit = {};  // of one convolution, in bytes; none: by dtype
};

}  // namespace lethe
