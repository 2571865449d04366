// A kernel has two moments. `prepare` comes before planning: shapes are known, the algorithm is chosen, the exact
// workspace is stated. `run` comes every step, with addresses only: no look-up, no allocation.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "framework/program.h"

namespace lethe {

/// The least multiple of `alignment` that is not less than `bytes`.
constexpr std::int64_t round_up(std::int64_t bytes, std::int64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

enum class DeviceKind : std::uint8_t { Cpu, Cuda };

inline constexpr std::int64_t kGpuAlignment = 256;

/// What a kernel may know of a device; it may be that of a machine that is not there.
struct DeviceInfo {
  DeviceKind kind = DeviceKind::Cpu;
  std::string name = "cpu";
  int threads = 1;              // CPU worker threads
  std::int64_t alignment = 64;  // of every buffer, in bytes
  // Of a GPU:
  std::string properties = {};                             // of one that is not there, as JSON; "": it is there
  std::int64_t memory = 0;                                 // bytes to be had; 0: not known
  bool tf32 = false;                                       // products of f32 may round their factors to TF32
  bool deterministic = false;                              // the same bits in every run
  bool eager = false;                                      // steps launch by launch, never recorded
  std::int64_t workspace_limit = std::int64_t{256} << 20;  // of one convolution, in bytes
};

/// Addresses for one run. An absent input is a null pointer.
struct KernelArgs {
  void* const* inputs = nullptr;
  void* const* outputs = nullptr;
  void* workspace = nullptr;
  void* stream = nullptr;

  template <class T>
  const T* in(int slot) const {
    return static_cast<const T*>(inputs[slot]);
  }
  template <class T>
  T* out(int slot) const {
    return static_cast<T*>(outputs[slot]);
  }
};

/// Made once per distinct (op, shapes, dtypes, attributes) and shared by equal ops; holds no addresses.
class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual std::int64_t workspace_bytes() const { return 0; }
  virtual void run(const KernelArgs& args) const = 0;
};

/// A kernel from a callable `void(const KernelArgs&)`.
template <class F>
std::unique_ptr<Kernel> make_kernel(F run, std::int64_t workspace_bytes = 0) {
  class FromCallable final : public Kernel {
   public:
    FromCallable(F run, std::int64_t bytes) : run_(std::move(run)), bytes_(bytes) {}
    std::int64_t workspace_bytes() const override { return bytes_; }
    void run(const KernelArgs& args) const override { run_(args); }

   private:
    F run_;
    std::int64_t bytes_;
  };
  return std::make_unique<FromCallable>(std::move(run), workspace_bytes);
}

/// What is known before planning: everything but addresses.
struct PrepareArgs {
  const Program& program;
  const Op& op;
  const DeviceInfo& device;

  bool has_in(int slot) const { return slot < static_cast<int>(op.in.size()) && op.in[slot] != kNone; }
  const Var& in(int slot) const { return program.vars[op.in[slot]]; }
  const Var& out(int slot) const { return program.vars[op.out[slot]]; }
};

using PrepareKernel = std::unique_ptr<Kernel> (*)(const PrepareArgs&);

struct Kernels {
  PrepareKernel cpu = nullptr;
  PrepareKernel cuda = nullptr;
};

}  // namespace lethe
