#include "tests/support/rows_apart.h"

#include <algorithm>
#include <cstring>

#include "framework/error.h"
#include "kernels/cpu/workers.h"

namespace lethe::testing {

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
    const auto* from = static_cast<const std::byte*>(values.memory(v).data());
    for_each_row(program.vars[v], static_cast<std::byte*>(inputs.back().data()),
                 [&](std::byte* row, std::size_t bytes) {
                   std::memcpy(row, from, bytes);
                   from += bytes;
                 });
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
    auto *const begin = static_cast<std::byte*>(outputs[slot].data()), *end = begin;  // of the row before
    auto* to = static_cast<std::byte*>(given.data());
    for_each_row(var, begin, [&](std::byte* row, std::size_t bytes) {
      if (std::any_of(end, row, [](std::byte b) { return b != kUnwritten; })) trial.harm = message("a gap of ", slot);
      std::memcpy(to, row, bytes);
      to += bytes;
      end = row + bytes;
    });
  }
  return trial;
}

}  // namespace lethe::testing
