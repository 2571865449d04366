#include "train/search/kernel_time.h"

#include <limits>

#include "framework/language/op_def.h"
#include "framework/timed.h"

namespace lethe {
namespace {

/// A kernel runs so often, unless one run takes longer than that.
constexpr int kRuns = 4;
constexpr double kLong = 0.05;  // seconds

}  // namespace

double seconds_of_kernel(Device& device, Prepared& prepared, const Program& program, const Op& op) {
  const Kernel& kernel = prepared.kernel(program, op);
  std::vector<Buffer> memory;
  const auto zeros = [&](std::int64_t bytes) {
    const std::vector<std::byte> none(static_cast<std::size_t>(bytes));
    memory.emplace_back(device, bytes);
    device.copy_in(memory.back().data(), none.data(), bytes);
    return memory.back().data();
  };
  std::vector<void*> in, out;
  for (const VarId v : op.in) in.push_back(v == kNone ? nullptr : zeros(bytes_of(program.vars[v])));
  for (std::size_t i = 0; i < op.out.size(); ++i)
    out.push_back(op_def(op.type).updates ? in[i] : zeros(bytes_of(program.vars[op.out[i]])));
  void* const workspace = zeros(kernel.workspace_bytes());
  const KernelArgs args{in.data(), out.data(), workspace, device.stream(), device.tickets()};
  double fastest = std::numeric_limits<double>::infinity();
  for (int run = 0; run < kRuns; ++run) {
    device.synchronize();
    const Clock::time_point begin = Clock::now();
    device.compute([&] { kernel.run(args); });
    device.synchronize();
    const double seconds = 1e-3 * ms_since(begin);
    fastest = std::min(fastest, seconds);
    if (run > 0 && seconds > kLong) break;
  }
  return fastest;
}

}  // namespace lethe
