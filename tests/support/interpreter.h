// Runs a program the plain way: each var in guarded memory of its own, views copied, one op after the other, loops and
// branches as they are read. Knows neither plan nor executor, so it is what they are compared with.
#pragma once
#include <map>
#include <memory>
#include <vector>

#include "framework/language/kernel.h"
#include "framework/language/op_def.h"
#include "tests/support/guarded.h"

namespace lethe::testing {

class Interpreter {
 public:
  /// Every var holds kUnwritten. The program must outlive it.
  explicit Interpreter(const Program& program, DeviceInfo device = {});

  const Program& program() const { return program_; }
  int threads() const { return device_.threads; }
  Guarded& memory(VarId var) { return memory_[static_cast<std::size_t>(var)]; }
  const Guarded& memory(VarId var) const { return memory_[static_cast<std::size_t>(var)]; }
  double number(VarId var, std::int64_t i = 0) const;
  void set(VarId var, std::int64_t i, double value);
  /// Uniform in [low, high), rounded to f32, so that every float dtype holds the same; whole numbers in integer dtypes.
  void fill_uniform(VarId var, double low, double high, std::uint64_t stream);

  void run() { run_block(0); }
  /// An op of block 0, with all in its blocks.
  void run_op(std::size_t op) { run_op(program_.blocks[0].ops[op]); }
  /// Of an op of block 0; null for one that runs none.
  const Kernel* kernel(std::size_t op) { return kernel(program_.blocks[0].ops[op]); }

 private:
  void run_block(BlockId block);
  void run_op(const Op& op);
  void run_loop(const Op& op);
  void run_branch(const Op& op);
  void hand_on(const std::vector<VarId>& from, const Op& op);
  const Kernel* kernel(const Op& op);

  const Program& program_;
  DeviceInfo device_;
  std::vector<Guarded> memory_;                           // by VarId
  std::map<const Op*, std::unique_ptr<Kernel>> kernels_;  // made when first used
};

/// One call of an op's kernel on copies of what an interpreter holds for its inputs.
struct Trial {
  std::vector<Guarded> outputs;
  std::string harm;  // what the kernel wrote that is not its own: "" or "input 1", "after output 0"
};
/// `fill` is what outputs and workspace hold before; each pair in `aliased` gives that output the memory of that input.
Trial try_op(const Interpreter& values, const Op& op, const Kernel& kernel, std::byte fill = kUnwritten,
             const std::vector<InPlace>& aliased = {});

}  // namespace lethe::testing
