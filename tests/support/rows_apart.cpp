#include "tests/support/rows_apart.h"

#include <algorithm>
#include <cstring>

#include "framework/error.h"
#include "framework/strides.h"
#include "kernels/cpu/workers.h"

namespace lethe::testing {
namespace {

/// Calls f(row in memory with gaps, row in memory without, bytes) for each row.
template <class F>
void for_each_row(const Var& var, const Guarded& apart, const Guarded& beside, const F& f) {
  const std::int64_t size = bytes_of(var.dtype), row = row_of(var.shape) * size;
  auto *at = static_cast<std::byte*>(apart.data()), *next = static_cast<std::byte*>(beside.data());
  for (std::int64_t r = elements(var.shape) / row_of(var.shape); r > 0; --r, at += row_step(var) * size, next += row)
    f(at, next, static_cast<std::size_t>(row));
}

}  // namespace

Trial try_rows_apart(const Interpreter& values, const Op& op, PrepareKernel prepare, const DeviceInfo& device,
                     Gaps gaps) {
  Program program = values.program();
  const auto lay = [&](VarId v, std::int64_t gap) {
    Var& var = program.vars[v];
    var.pitch = gap == 0 ? 0 : row_of(var.shape) + gap;
    return Guarded(span_of(var));
  };
  std::vector<Guarded> inputs, outputs;
  std::vector<void*> in, out;
  for (const VarId v : op.in) {
    inputs.push_back(lay(v, gaps.in));
    for_each_row(program.vars[v], inputs.back(), values.memory(v),
                 [](std::byte* to, const std::byte* from, std::size_t bytes) { std::memcpy(to, from, bytes); });
    in.push_back(inputs.back().data());
  }
  for (const VarId v : op.out) out.push_back(outputs.emplace_back(lay(v, gaps.out)).data());
  const std::unique_ptr<Kernel> kernel = prepare({program, op, device});
  check(kernel->workspace_bytes() == 0, op.type, ": takes rows apart and a workspace");
  const Workers workers(values.threads());
  kernel->run({in.data(), out.data(), nullptr, nullptr});

  Trial trial;
  for (const Guarded& held : inputs)
    if (!held.intact()) trial.harm = "memory beside an input";
  for (std::size_t slot = 0; slot < outputs.size(); ++slot) {
    const Var& var = program.vars[op.out[slot]];
    Guarded& given = trial.outputs.emplace_back(bytes_of(var));
    if (!outputs[slot].intact()) trial.harm = message("memory beside output ", slot);
    const auto* end = static_cast<const std::byte*>(outputs[slot].data());  // of the row before
    for_each_row(var, outputs[slot], given, [&](const std::byte* from, std::byte* to, std::size_t bytes) {
      if (std::any_of(end, from, [](std::byte b) { return b != kUnwritten; })) trial.harm = message("a gap of ", slot);
      std::memcpy(to, from, bytes);
      end = from + bytes;
    });
  }
  return trial;
}

}  // namespace lethe::testing
