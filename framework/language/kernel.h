// A kernel has two moments. `prepare` comes before planning: shapes are known, the algorithm is chosen, the exact
// workspace is stated. `run` comes every step, with addresses only: no look-up, no allocation.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "framework/language/device_info.h"
#include "framework/language/program.h"

namespace lethe {

/// What a GPU's blocks count themselves in as they finish: so many zeros, which each kernel leaves as zeros.
inline constexpr std::int64_t kTickets = 1024;

/// Addresses for one run. An absent input is a null pointer.
struct KernelArgs {
  void* const* inputs = nullptr;
  void* const* outputs = nullptr;
  void* workspace = nullptr;
  void* stream = nullptr;
  unsigned* tickets = nullptr;  // of a GPU
  Peers* peers = nullptr;       // null: there are no other ranks

  template <class T>
  const T* in(int slot) const {
    return static_cast<const T*>(inputs[slot]);
  }
  template <class T>
  T* out(int slot) const {
    return static_cast<T*>(outputs[slot]);
  }
};

class Kernel;
/// A kernel and what it is to run on.
struct KernelCall {
  const Kernel* kernel = nullptr;
  KernelArgs args = {};
};

/// Made once per distinct (op, shapes, dtypes, attributes) and shared by equal ops; holds no addresses.
class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual std::int64_t workspace_bytes() const { return 0; }
  /// Bytes that a run reads or writes beyond its inputs and outputs once: in further passes over them, or beside a
  /// library's kernel. Partial sums do not count.
  virtual std::int64_t bytes_again() const { return 0; }
  virtual void run(const KernelArgs& args) const = 0;
  /// Whose code it runs, in that library's words: "oneDNN jit:avx2", "Eigen"; "own" without one.
  virtual std::string implementation() const { return "own"; }
  /// Whether run_group() does the other's work in the same launch as this one's. Asked of ops none of which touches
  /// what another changes.
  virtual bool groups_with(const Kernel&) const { return false; }
  /// Runs kernels that this one groups with, itself the first of them.
  virtual void run_group(std::span<const KernelCall> calls) const {
    for (const KernelCall& call : calls) call.kernel->run(call.args);
  }
};

/// A kernel from a callable `void(const KernelArgs&)`.
template <class F>
std::unique_ptr<Kernel> make_kernel(F run, std::int64_t workspace_bytes = 0, std::int64_t bytes_again = 0) {
  class FromCallable final : public Kernel {
   public:
    FromCallable(F run, std::int64_t workspace, std::int64_t again)
        : run_(std::move(run)), workspace_(workspace), again_(again) {}
    std::int64_t workspace_bytes() const override { return workspace_; }
    std::int64_t bytes_again() const override { return again_; }
    void run(const KernelArgs& args) const override { run_(args); }

   private:
    F run_;
    std::int64_t workspace_, again_;
  };
  return std::make_unique<FromCallable>(std::move(run), workspace_bytes, bytes_again);
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
  PrepareKernel cpu = nullptr, cuda = nullptr;
  bool is_map = false;  // each element of the outputs is made of those at its place in the inputs
};

}  // namespace lethe
